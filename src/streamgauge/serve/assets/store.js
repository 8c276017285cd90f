// The points of the page: for every run and panel the whole curve, downsampled, and more points of the rows in view.
export const panelKey = (panel) => `${panel.kind}\0${panel.name}\0${panel.under}`;

const findNearest = (rows, row) => {
  let low = 0, high = rows.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle] < row) low = middle + 1;
    else high = middle;
  }
  return low;
};

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
    this.getPanels(id).set(panelKey(panel), { ...data, finer: null });
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
      if (whole.finer && whole.finer.rows.length < Store.MAX_POINTS && news.rows[0] <= whole.finer.view.to) this.add(whole.finer, news, news.panels[i].curves, panel.kind === "pair");
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
      data.curves.forEach((columns, k) => columns.forEach((column, band) => {
        const value = curves[k][band][i];
        column.push(value === null && carry ? column.at(-1) ?? null : value);
      }));
    }
  }

  getEnds(id) {
    const data = [...(this.runs.get(id)?.values() ?? [])].find((curves) => curves.rows.length);
    return data ? [data.rows[0], data.rows.at(-1)] : [0, 0];
  }

  getFirstRow(id) {
    return this.getEnds(id)[0];
  }

  getLastRow(id) {
    return this.getEnds(id)[1];
  }

  getValue(id, panel, k, row, view) {
    const data = row === null ? this.runs.get(id)?.get(panelKey(panel)) : this.getShown(id, panel, view);
    if (!data?.rows.length || !data.curves[k]) return null;
    return data.curves[k][0][row === null ? data.rows.length - 1 : findNearest(data.rows, row)] ?? null;
  }
}
