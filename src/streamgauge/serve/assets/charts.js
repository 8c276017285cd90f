// A chart of one panel: the curves of every learner of every selected run, over the rows of the stream or their times.
import { make } from "./dom.js";
import * as format from "./format.js";
import { DASHES, getColour, getStyle } from "./keys.js";

// Finds points with a gap on either side, which no line shows; undefined values belong to rows of other runs.
const findIsolated = (plot, series) => {
  const values = plot.data[series];
  const isolated = [];
  let before = null, here = null, position = -1;
  for (let i = 0; i <= values.length; i += 1) {
    const next = i < values.length ? values[i] : null;
    if (next === undefined) continue;
    if (here !== null && before === null && next === null) isolated.push(position);
    before = here;
    here = next;
    position = i;
  }
  return isolated;
};

export class Chart {
  // hooks: onView(view or null), onMove(shift, factor), onCursor(place or null), getView(), listMarks(), title, under, unit
  constructor(panel, hooks) {
    Object.assign(this, { panel, hooks, plot: null, shape: "" });
    this.container = make("div", { class: "plot" });
    this.figure = make(
      "figure",
      {},
      make("figcaption", {}, make("b", {}, hooks.title), hooks.under ? ` ${hooks.under}` : ""),
      this.container,
    );
    this.container.tabIndex = 0;
    this.container.setAttribute("role", "group");
    this.container.setAttribute("aria-label", `Curves of ${hooks.title}. Arrow keys move, plus and minus zoom, 0 shows all rows.`);
    this.container.addEventListener("keydown", (event) => this.onKey(event));
    this.container.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    this.observer = new ResizeObserver(() => this.fit());
    this.observer.observe(this.container);
  }

  // lines: [{ key, index, places, columns: [mean, low?, high?], shown }]; all lines of a run share their places on the
  // x axis, which are rows, dates or seconds.
  draw(lines, axis) {
    const tables = new Map();
    lines.forEach((line) => {
      if (!tables.has(line.places)) tables.set(line.places, [line.places]);
      tables.get(line.places).push(...line.columns);
    });
    const list = [...tables.values()];
    const data = list.length === 1 ? list[0] : uPlot.join(list);
    const shape = JSON.stringify([axis, lines.map((line) => [line.key, line.index, line.columns.length])]);
    if (!this.plot || shape !== this.shape) this.build(lines, data, shape, axis);
    else {
      lines.forEach((line, k) => {
        const first = this.firsts[k];
        line.columns.forEach((_, band) => {
          if (this.plot.series[first + band].show !== line.shown) this.plot.setSeries(first + band, { show: line.shown });
        });
      });
      this.plot.setData(data, true);
    }
  }

  build(lines, data, shape, axis) {
    this.plot?.destroy();
    this.shape = shape;
    this.firsts = [];
    const series = [{}];
    const bands = [];
    for (const line of lines) {
      const first = series.length;
      this.firsts.push(first);
      const colour = () => getColour(line.index);
      series.push({
        width: 2, stroke: colour, show: line.shown, dash: DASHES[line.index % DASHES.length], spanGaps: false,
        points: { show: true, size: 5, filter: findIsolated, fill: colour },
      });
      if (line.columns.length === 3) {
        const edge = { width: 0, stroke: "transparent", points: { show: false }, show: line.shown };
        series.push(edge, { ...edge });
        bands.push({ series: [first + 2, first + 1], fill: () => `${colour()}24` });
      }
    }
    const options = {
      ...this.measure(), series, bands, legend: { show: false }, tzDate: rowTimes.toDate,
      scales: { x: { time: axis === "dates", range: (_, low, high) => this.findRange(low, high) } },
      cursor: {
        y: false, points: { size: 7 }, sync: { key: "rows" }, drag: { x: true, y: false, setScale: false },
        bind: { dblclick: () => () => { this.hooks.onView(null); return null; } },
      },
      axes: this.makeAxes(axis),
      hooks: {
        setSelect: [(plot) => this.onSelect(plot)],
        setCursor: [(plot) => this.hooks.onCursor(plot.cursor.idx == null ? null : plot.data[0][plot.cursor.idx])],
        drawClear: [(plot) => this.drawDrifts(plot)],
        draw: [(plot) => this.drawAlarms(plot)],
      },
    };
    this.plot = new uPlot(options, data, this.container);
  }

  makeAxes(kind) {
    const axis = { stroke: () => getStyle("--quiet"), font: "12px system-ui, sans-serif", ticks: { show: false },
      grid: { stroke: () => getStyle("--grid"), width: 1 } };
    const rate = this.hooks.unit === "rate";
    const tick = (value) => (rate ? +(100 * value).toFixed(6) : this.hooks.unit === "bytes" ? format.bytes(value) : format.short(value));
    const shorten = (_, ticks) => ticks.map(format.short);
    const named = { ...axis, labelSize: 18, labelGap: 0, labelFont: axis.font };
    const x = {
      rows: { ...axis, values: shorten, space: 64, size: 30 },
      seconds: { ...named, values: shorten, space: 64, size: 26, label: "time (s)" },
      dates: { ...named, values: (_, ticks, __, ___, step) => rowTimes.formatTicks(ticks, step), space: 72, size: 42, label: "time (UTC)" },
    };
    return [
      x[kind],
      { ...axis, values: (_, ticks) => ticks.map(tick), size: 54, space: 34 },
    ];
  }

  findRange(low, high) {
    const view = this.hooks.getView();
    if (view) return [view.from, view.to];
    if (low === null || low === undefined) return [0, 1];
    return low === high ? [low - 1, high + 1] : [low, high];
  }

  measure() {
    return { width: Math.max(80, this.container.clientWidth), height: Math.max(80, this.container.clientHeight) };
  }

  fit() {
    if (this.plot && this.container.clientWidth > 0 && this.container.clientWidth !== this.plot.width) this.plot.setSize(this.measure());
  }

  redraw() {
    this.plot?.redraw(false, true);
  }

  destroy() {
    this.observer.disconnect();
    this.plot?.destroy();
    this.plot = null;
  }

  onSelect(plot) {
    if (plot.select.width < 8) return;
    const from = plot.posToVal(plot.select.left, "x");
    const to = plot.posToVal(plot.select.left + plot.select.width, "x");
    plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.hooks.onView({ from, to });
  }

  onKey(event) {
    const moves = { ArrowLeft: [-0.2, 1], ArrowRight: [0.2, 1], "+": [0, 0.5], "=": [0, 0.5], "-": [0, 2] };
    if (event.key === "0" || event.key === "Home") this.hooks.onView(null);
    else if (moves[event.key] && this.plot) this.hooks.onMove(...moves[event.key]);
    else return;
    event.preventDefault();
  }

  onWheel(event) {
    if (!(event.ctrlKey || event.shiftKey) || !this.plot) return; // a plain wheel scrolls the page
    event.preventDefault();
    const direction = Math.sign(event.deltaY || event.deltaX);
    if (event.ctrlKey) this.hooks.onMove(0, direction > 0 ? 1.4 : 0.7);
    else this.hooks.onMove(0.15 * direction, 1);
  }

  paintClipped(plot, paint) {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    paint(ctx, bbox);
    ctx.restore();
  }

  // The true drifts of the stream: a line at the start and a shade over the length of each; for a difference also the
  // margin and the zero line.
  drawDrifts(plot) {
    this.paintClipped(plot, (ctx, bbox) => {
      ctx.fillStyle = getStyle("--quiet");
      this.hooks.listMarks().drifts.forEach(({ start, stop }) => {
        const from = plot.valToPos(start, "x", true);
        ctx.globalAlpha = 0.14;
        ctx.fillRect(from, bbox.top, plot.valToPos(stop, "x", true) - from, bbox.height);
        ctx.globalAlpha = 0.6;
        ctx.fillRect(from, bbox.top, devicePixelRatio, bbox.height);
      });
      if (this.panel.kind !== "pair" || plot.scales.y.min === null) return;
      const top = plot.valToPos(this.hooks.margin, "y", true);
      ctx.globalAlpha = 0.14;
      ctx.fillRect(bbox.left, top, bbox.width, plot.valToPos(-this.hooks.margin, "y", true) - top);
      ctx.globalAlpha = 0.8;
      ctx.fillRect(bbox.left, plot.valToPos(0, "y", true), bbox.width, devicePixelRatio);
    });
  }

  // The alarms of detectors: a triangle at the bottom in the colour of the learner, pale for a warning.
  drawAlarms(plot) {
    this.paintClipped(plot, (ctx, bbox) => {
      const size = 4 * devicePixelRatio;
      const bottom = bbox.top + bbox.height;
      this.hooks.listMarks().alarms.forEach(({ place, index, kind }) => {
        const x = plot.valToPos(place, "x", true);
        ctx.globalAlpha = kind === "drift" ? 0.85 : 0.25;
        ctx.fillStyle = getColour(index);
        ctx.beginPath();
        ctx.moveTo(x, bottom - 2 * size);
        ctx.lineTo(x - size, bottom);
        ctx.lineTo(x + size, bottom);
        ctx.fill();
      });
    });
  }
}
