// The points of the page: for every run and panel the whole curve, downsampled, and more points of the rows in view.
export const panelKey = (panel) => `${panel.kind}\0${panel.name}\0${panel.under}\0${panel.measure ?? ""}`;

// Returns the index of the first place that is not before another, or of the last.
const findNearest = (places, place) => {
  let low = 0, high = places.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle] < place) low = middle + 1;
    else high = middle;
  }
  return low;
};

// The places of points on an x axis: their rows, or the times of these.
export const getPlaces = (data, x) => (x === "time" ? data.times : data.rows);

export class Store {
  static POINTS = 1_600; // per curve; more than a chart has columns
  static MAX_POINTS = 4_800; // with more, the curve is requested again, downsampled

  constructor() {
    this.runs = new Map();
  }

  retain(ids) {
    for (const id of this.runs.keys()) if (!ids.includes(id)) this.runs.delete(id);
  }

  getPanels(id) {
    if (!this.runs.has(id)) this.runs.set(id, new Map());
    return this.runs.get(id);
  }

  put(id, panel, data) {
    this.getPanels(id).set(panelKey(panel), { ...data, finer: null, increases: rowTimes.increase(data.times) });
  }

  putFiner(id, panel, view, data) {
    const whole = this.getPanels(id).get(panelKey(panel));
    if (whole) whole.finer = { ...data, view };
  }

  // Returns what is drawn: the finer points of the rows in view, once they are loaded.
  getShown(id, panel, view) {
    const whole = this.runs.get(id)?.get(panelKey(panel));
    return view && whole?.finer ? whole.finer : whole;
  }

  // Returns the generation and the number of records that the page has.
  getPosition(id) {
    const known = [...this.getPanels(id).values()];
    if (!known.length) return [0, 0];
    return [known[0].generation, Math.min(...known.map((data) => data.n_records))];
  }

  // Adds new points; returns whether there are too many now.
  append(id, panels, news) {
    panels.forEach((panel, i) => {
      const whole = this.getPanels(id).get(panelKey(panel));
      if (!whole || !news.panels[i]) return;
      this.add(whole, news, news.panels[i].curves, panel.kind === "pair");
      whole.increases = rowTimes.increase(whole.times);
      const first = (whole.finer?.view.x === "time" ? news.times : news.rows)?.[0];
      if (whole.finer && whole.finer.rows.length < Store.MAX_POINTS && first <= whole.finer.view.to) this.add(whole.finer, news, news.panels[i].curves, panel.kind === "pair");
      whole.n_records = news.n_records;
    });
    return [...this.getPanels(id).values()].some((data) => data.rows.length > Store.MAX_POINTS);
  }

  add(data, news, curves, carry) {
    const last = data.rows.at(-1) ?? -1;
    const from = news.rows.findIndex((row) => row > last);
    if (from < 0) return;
    for (let i = from; i < news.rows.length; i += 1) {
      data.rows.push(news.rows[i]);
      data.times?.push(news.times?.[i] ?? null);
      data.curves.forEach((columns, k) => columns.forEach((column, band) => {
        const value = curves[k][band][i];
        column.push(value === null && carry ? column.at(-1) ?? null : value);
      }));
    }
  }

  // Returns the points of one curve of a run: rows and times are the same for all of them.
  getPoints(id) {
    return [...(this.runs.get(id)?.values() ?? [])].find((curves) => curves.rows.length);
  }

  // Returns the first and the last place of a run.
  getEnds(id, x) {
    const data = this.getPoints(id);
    return data ? [getPlaces(data, x)[0], getPlaces(data, x).at(-1)] : [0, 0];
  }

  // Whether the rows of a run carry times that can be an axis.
  hasTimes(id) {
    return Boolean(this.getPoints(id)?.increases);
  }

  // Returns the place of a row; times between two points are interpolated.
  findPlace(id, row, x) {
    const data = this.getPoints(id);
    if (x !== "time" || !data) return row;
    const { rows, times } = data;
    const after = findNearest(rows, row);
    if (after === 0 || rows[after] <= row) return times[after];
    const share = (row - rows[after - 1]) / (rows[after] - rows[after - 1]);
    return times[after - 1] + share * (times[after] - times[after - 1]);
  }

  // Returns the row of the point at a place.
  findRow(id, place, x) {
    const data = this.getPoints(id);
    return data ? data.rows[findNearest(getPlaces(data, x), place)] : null;
  }

  getValue(id, panel, k, place, view, x) {
    const data = place === null ? this.runs.get(id)?.get(panelKey(panel)) : this.getShown(id, panel, view);
    if (!data?.rows.length || !data.curves[k]) return null;
    return data.curves[k][0][place === null ? data.rows.length - 1 : findNearest(getPlaces(data, x), place)] ?? null;
  }
}
