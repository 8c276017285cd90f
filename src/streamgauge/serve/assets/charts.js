// A chart of one panel: the curves of every learner of every chosen run, over the rows of the stream.
import { make } from "./dom.js";
import * as format from "./format.js";
import { colourOf, DASHES, styled } from "./keys.js";

// The points with a gap on either side, which no line shows; an undefined one is a row of another run.
const alone = (plot, series) => {
  const values = plot.data[series];
  const found = [];
  let before = null, here = null, at = -1;
  for (let i = 0; i <= values.length; i += 1) {
    const next = i < values.length ? values[i] : null;
    if (next === undefined) continue;
    if (here !== null && before === null && next === null) found.push(at);
    before = here;
    here = next;
    at = i;
  }
  return found;
};

export class Chart {
  // hooks: onView(view or null), onCursor(row or null), view(), marks(), title, unit
  constructor(panel, hooks) {
    Object.assign(this, { panel, hooks, plot: null, shape: "" });
    this.place = make("div", { class: "plot" });
    this.figure = make(
      "figure",
      {},
      make("figcaption", {}, make("b", {}, hooks.title), hooks.under ? ` ${hooks.under}` : ""),
      this.place,
    );
    this.place.tabIndex = 0;
    this.place.setAttribute("role", "group");
    this.place.setAttribute("aria-label", `Curves of ${hooks.title}. Arrow keys move along, plus and minus zoom, 0 shows all.`);
    this.place.addEventListener("keydown", (event) => this.onKey(event));
    this.place.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    this.sizes = new ResizeObserver(() => this.fit());
    this.sizes.observe(this.place);
  }

  // lines: [{ key, place, rows, columns: [mean, low?, high?], shown, bands }]; all lines of a run share their rows.
  draw(lines) {
    const tables = new Map();
    lines.forEach((line) => {
      if (!tables.has(line.rows)) tables.set(line.rows, [line.rows]);
      tables.get(line.rows).push(...line.columns);
    });
    const list = [...tables.values()];
    const data = list.length === 1 ? list[0] : uPlot.join(list);
    const shape = JSON.stringify(lines.map((line) => [line.key, line.place, line.columns.length]));
    if (!this.plot || shape !== this.shape) this.build(lines, data, shape);
    else {
      lines.forEach((line, k) => {
        const first = this.firsts[k];
        line.columns.forEach((_, band) => {
          if (this.plot.series[first + band].show !== line.shown) this.plot.setSeries(first + band, { show: line.shown });
        });
      });
      this.plot.setData(data, true);
    }
    this.rows = data[0];
  }

  build(lines, data, shape) {
    this.plot?.destroy();
    this.shape = shape;
    this.firsts = [];
    const series = [{}];
    const bands = [];
    for (const line of lines) {
      const first = series.length;
      this.firsts.push(first);
      const colour = () => colourOf(line.place);
      series.push({
        width: 2, stroke: colour, show: line.shown, dash: DASHES[line.place % DASHES.length], spanGaps: false,
        points: { show: true, size: 5, filter: alone, fill: colour },
      });
      if (line.columns.length === 3) {
        const edge = { width: 0, stroke: "transparent", points: { show: false }, show: line.shown };
        series.push(edge, { ...edge });
        bands.push({ series: [first + 2, first + 1], fill: () => `${colour()}24` });
      }
    }
    const options = {
      ...this.size(), series, bands, legend: { show: false },
      scales: { x: { time: false, range: (_, low, high) => this.range(low, high) } },
      cursor: {
        y: false, points: { size: 7 }, sync: { key: "rows" }, drag: { x: true, y: false, setScale: false },
        bind: { dblclick: () => () => { this.hooks.onView(null); return null; } },
      },
      axes: this.axes(),
      hooks: {
        setSelect: [(plot) => this.onSelect(plot)],
        setCursor: [(plot) => this.hooks.onCursor(plot.cursor.idx == null ? null : plot.data[0][plot.cursor.idx])],
        drawClear: [(plot) => this.markDrifts(plot)],
        draw: [(plot) => this.markAlarms(plot)],
      },
    };
    this.plot = new uPlot(options, data, this.place);
  }

  axes() {
    const axis = { stroke: () => styled("--quiet"), font: "12px system-ui, sans-serif", ticks: { show: false },
      grid: { stroke: () => styled("--grid"), width: 1 } };
    const rate = this.hooks.unit === "rate";
    const tick = (value) => (rate ? +(100 * value).toFixed(6) : this.hooks.unit === "bytes" ? format.bytes(value) : format.short(value));
    return [
      { ...axis, values: (_, rows) => rows.map(format.short), space: 64, size: 30 },
      { ...axis, values: (_, ticks) => ticks.map(tick), size: 54, space: 34 },
    ];
  }

  range(low, high) {
    const view = this.hooks.view();
    if (view) return [view.from, view.to];
    if (low === null || low === undefined) return [0, 1];
    return low === high ? [low - 1, high + 1] : [low, high];
  }

  size() {
    return { width: Math.max(80, this.place.clientWidth), height: Math.max(80, this.place.clientHeight) };
  }

  fit() {
    if (this.plot && this.place.clientWidth > 0 && this.place.clientWidth !== this.plot.width) this.plot.setSize(this.size());
  }

  redraw() {
    this.plot?.redraw(false, true);
  }

  destroy() {
    this.sizes.disconnect();
    this.plot?.destroy();
    this.plot = null;
  }

  shownRange() {
    const { min, max } = this.plot.scales.x;
    return { from: min, to: max };
  }

  onSelect(plot) {
    if (plot.select.width < 8) return;
    const from = plot.posToVal(plot.select.left, "x");
    const to = plot.posToVal(plot.select.left + plot.select.width, "x");
    plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.hooks.onView({ from: Math.max(0, Math.floor(from)), to: Math.ceil(to) });
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
    const by = Math.sign(event.deltaY || event.deltaX);
    if (event.ctrlKey) this.hooks.onMove(0, by > 0 ? 1.4 : 0.7);
    else this.hooks.onMove(0.15 * by, 1);
  }

  clipped(plot, paint) {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    paint(ctx, bbox);
    ctx.restore();
  }

  // The true drifts of the stream: a line where each begins, a shade as long as it lasts; zero for a difference.
  markDrifts(plot) {
    this.clipped(plot, (ctx, bbox) => {
      ctx.fillStyle = styled("--quiet");
      this.hooks.marks().drifts.forEach(({ start, stop }) => {
        const from = plot.valToPos(start, "x", true);
        ctx.globalAlpha = 0.14;
        ctx.fillRect(from, bbox.top, plot.valToPos(stop, "x", true) - from, bbox.height);
        ctx.globalAlpha = 0.6;
        ctx.fillRect(from, bbox.top, devicePixelRatio, bbox.height);
      });
      if (this.panel.kind !== "pair" || plot.scales.y.min === null) return;
      ctx.globalAlpha = 0.8;
      ctx.fillRect(bbox.left, plot.valToPos(0, "y", true), bbox.width, devicePixelRatio);
    });
  }

  // The alarms of detectors: a triangle at the foot in the colour of the learner, pale for a warning.
  markAlarms(plot) {
    this.clipped(plot, (ctx, bbox) => {
      const size = 4 * devicePixelRatio;
      const foot = bbox.top + bbox.height;
      this.hooks.marks().alarms.forEach(({ row, place, kind }) => {
        const at = plot.valToPos(row, "x", true);
        ctx.globalAlpha = kind === "drift" ? 0.85 : 0.25;
        ctx.fillStyle = colourOf(place);
        ctx.beginPath();
        ctx.moveTo(at, foot - 2 * size);
        ctx.lineTo(at - size, foot);
        ctx.lineTo(at + size, foot);
        ctx.fill();
      });
    });
  }
}
