// Exports: all points of the rows in view as CSV, the charts with their legend as PNG.
import { buildQuery } from "./api.js";
import { download, make } from "./dom.js";
import { DASHES, getColour, getStyle } from "./keys.js";

export function exportTable(state, view, panels) {
  const parts = [
    ...state.selected.map((id) => ["id", id]), ...panels.map((panel) => ["panel", JSON.stringify(panel)]),
    ...[...state.hidden].map((key) => ["hidden", key.split("\0")[1]]), ["from", view?.from], ["to", view?.to], ["x", view?.x],
  ];
  make("a", { href: `/api/table.csv?${buildQuery(parts)}`, download: "streamgauge.csv" }).click();
}

export function exportPicture(charts, lines) {
  const drawn = charts.filter((chart) => chart.plot);
  const shown = lines.filter((line) => line.shown);
  if (!drawn.length) return;
  const scale = devicePixelRatio, pad = 16 * scale, title = 26 * scale, row = 20 * scale;
  const width = Math.max(...drawn.map((chart) => chart.plot.ctx.canvas.width)) + 2 * pad;
  const height = drawn.reduce((sum, chart) => sum + chart.plot.ctx.canvas.height + title + pad, pad) + row * shown.length + pad;
  const canvas = make("canvas", { width, height });
  const ctx = canvas.getContext("2d");
  ctx.fillStyle = getStyle("--paper");
  ctx.fillRect(0, 0, width, height);
  ctx.textBaseline = "middle";
  let top = pad;
  for (const chart of drawn) {
    ctx.fillStyle = getStyle("--ink");
    ctx.font = `600 ${13 * scale}px system-ui, sans-serif`;
    ctx.fillText(`${chart.hooks.title} ${chart.hooks.under ?? ""}`, pad, top + title / 2);
    ctx.drawImage(chart.plot.ctx.canvas, pad, top + title);
    top += chart.plot.ctx.canvas.height + title + pad;
  }
  ctx.font = `${12 * scale}px system-ui, sans-serif`;
  for (const line of shown) {
    ctx.strokeStyle = getColour(line.index);
    ctx.lineWidth = 3 * scale;
    ctx.setLineDash(DASHES[line.index % DASHES.length].map((length) => length * scale));
    ctx.beginPath();
    ctx.moveTo(pad, top + row / 2);
    ctx.lineTo(pad + 30 * scale, top + row / 2);
    ctx.stroke();
    ctx.fillStyle = getStyle("--ink");
    ctx.fillText(line.run ? `${line.learner} (${line.run})` : line.learner, pad + 40 * scale, top + row / 2);
    top += row;
  }
  canvas.toBlob((blob) => download(blob, "streamgauge.png"), "image/png");
}
