// The points that the page holds: of every run and panel the whole curve, thinned, and more of the rows in view.
export const panelKey = (panel) => `${panel.kind}\0${panel.name}\0${panel.under}`;

const nearest = (rows, row) => {
  let low = 0, high = rows.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle] < row) low = middle + 1;
    else high = middle;
  }
  return low;
};

export class Store {
  static POINTS = 1_600; // of a curve; more than a chart has columns
  static MOST = 4_800; // after so many it is asked for again, thinned

  constructor() {
    this.runs = new Map();
  }

  keep(ids) {
    for (const id of this.runs.keys()) if (!ids.includes(id)) this.runs.delete(id);
  }

  of(id) {
    if (!this.runs.has(id)) this.runs.set(id, new Map());
    return this.runs.get(id);
  }

  put(id, panel, found) {
    this.of(id).set(panelKey(panel), { ...found, finer: null });
  }

  putFiner(id, panel, view, found) {
    const kept = this.of(id).get(panelKey(panel));
    if (kept) kept.finer = { ...found, view };
  }

  // What is drawn: the finer points of the rows in view, once they are there.
  shown(id, panel, view) {
    const kept = this.runs.get(id)?.get(panelKey(panel));
    return view && kept?.finer ? kept.finer : kept;
  }

  place(id) {
    const known = [...this.of(id).values()];
    if (!known.length) return [0, 0];
    return [known[0].generation, Math.min(...known.map((data) => data.n_records))];
  }

  // Adds points that are new; says whether there are too many now.
  append(id, panels, told) {
    panels.forEach((panel, i) => {
      const kept = this.of(id).get(panelKey(panel));
      if (!kept || !told.panels[i]) return;
      this.add(kept, told, told.panels[i].curves, panel.kind === "pair");
      if (kept.finer && kept.finer.rows.length < Store.MOST && told.rows[0] <= kept.finer.view.to) this.add(kept.finer, told, told.panels[i].curves, panel.kind === "pair");
      kept.n_records = told.n_records;
    });
    return [...this.of(id).values()].some((data) => data.rows.length > Store.MOST);
  }

  add(data, told, curves, carry) {
    const last = data.rows.at(-1) ?? -1;
    const from = told.rows.findIndex((row) => row > last);
    if (from < 0) return;
    for (let i = from; i < told.rows.length; i += 1) {
      data.rows.push(told.rows[i]);
      data.curves.forEach((columns, k) => columns.forEach((column, band) => {
        const value = curves[k][band][i];
        column.push(value === null && carry ? column.at(-1) ?? null : value);
      }));
    }
  }

  ends(id) {
    const data = [...(this.runs.get(id)?.values() ?? [])].find((one) => one.rows.length);
    return data ? [data.rows[0], data.rows.at(-1)] : [0, 0];
  }

  firstRow(id) {
    return this.ends(id)[0];
  }

  lastRow(id) {
    return this.ends(id)[1];
  }

  valueAt(id, panel, k, row, view) {
    const data = row === null ? this.runs.get(id)?.get(panelKey(panel)) : this.shown(id, panel, view);
    if (!data?.rows.length || !data.curves[k]) return null;
    return data.curves[k][0][row === null ? data.rows.length - 1 : nearest(data.rows, row)] ?? null;
  }
}
