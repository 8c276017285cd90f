"use strict";
(() => {
  const { dashes, colours, charts, drifts, alarms } = JSON.parse(document.getElementById("data").textContent);
  const figures = [...document.querySelectorAll("figure")];
  const hidden = new Set();
  const plots = [];

  const styled = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colourOf = (learner) => styled(`--curve-${learner % colours}`);
  // Rates are shown in percent, all else in its own unit.
  const shownIn = (chart) => (value) => (chart.rate ? (100 * value).toFixed(2) : String(+value.toPrecision(4)));
  const shortCount = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 });
  const longCount = new Intl.NumberFormat("en");

  // A reading with a gap on both sides has no line to show it: it gets a dot.
  const lonePoints = (plot, series) => {
    const values = plot.data[series];
    return values.flatMap((value, i) =>
      value !== null && (values[i - 1] ?? null) === null && (values[i + 1] ?? null) === null ? [i] : []);
  };

  // Each learner has a run of series: the mean, then its lowest and its highest fold where there are folds.
  const columnsOf = (line) => (line.low ? [line.mean, line.low, line.high] : [line.mean]);

  function seriesOf(line) {
    const edge = { width: 0, stroke: "transparent", points: { show: false } };
    const mean = {
      width: 2,
      stroke: () => colourOf(line.learner),
      dash: dashes[line.learner % dashes.length],
      points: { show: true, size: 5, filter: lonePoints, fill: () => colourOf(line.learner) },
    };
    return columnsOf(line).map((_, i) => (i === 0 ? mean : edge));
  }

  function axis(extra) {
    return {
      stroke: () => styled("--quiet"),
      font: "12px system-ui, sans-serif",
      grid: { stroke: () => styled("--grid"), width: 1 },
      ticks: { show: false },
      ...extra,
    };
  }

  const axes = (chart) => [
    axis({ values: (_, rows) => rows.map((row) => shortCount.format(row)), space: 64, size: 32 }),
    axis({ values: (_, ticks) => ticks.map((tick) => +((chart.rate ? 100 : 1) * tick).toFixed(6)), size: 48, space: 36 }),
  ];

  // The true drifts of the stream: a line where each begins, a shade as long as it lasts.
  function markDrifts(plot) {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.fillStyle = styled("--quiet");
    drifts.forEach(([start, stop]) => {
      const from = plot.valToPos(start, "x", true);
      const wide = plot.valToPos(stop, "x", true) - from;
      ctx.globalAlpha = 0.14;
      ctx.fillRect(from, bbox.top, wide, bbox.height);
      ctx.globalAlpha = 0.6;
      ctx.fillRect(from, bbox.top, devicePixelRatio, bbox.height);
    });
    ctx.restore();
  }

  // The alarms of detectors: a triangle at the foot of the chart in the colour of the learner, pale for a warning.
  function markAlarms(plot) {
    const { ctx, bbox } = plot;
    const size = 5 * devicePixelRatio;
    const foot = bbox.top + bbox.height;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    alarms.filter(([, learner]) => !hidden.has(learner)).forEach(([row, learner, kind]) => {
      const at = plot.valToPos(row, "x", true);
      ctx.globalAlpha = kind === 2 ? 1 : 0.35;
      ctx.fillStyle = colourOf(learner);
      ctx.beginPath();
      ctx.moveTo(at, foot - 2 * size);
      ctx.lineTo(at - size, foot);
      ctx.lineTo(at + size, foot);
      ctx.fill();
    });
    ctx.restore();
  }

  function makeReadout(chart, figure) {
    const where = figure.querySelector(".where");
    const text = shownIn(chart);
    return (plot) => {
      const pointed = plot.cursor.idx;
      const at = pointed ?? chart.rows.length - 1;
      where.textContent = `at ${pointed == null ? "the last row, " : "row "}${longCount.format(chart.rows[at])}`;
      chart.lines.forEach((line) => {
        const value = figure.querySelector(`[data-learner="${line.learner}"] .value`);
        const mean = document.createElement("b");
        mean.textContent = line.mean[at] === null ? "–" : text(line.mean[at]);
        const range = line.low && line.low[at] !== null ? ` (${text(line.low[at])} to ${text(line.high[at])})` : "";
        value.replaceChildren(mean, range);
      });
    };
  }

  function draw(chart, figure) {
    const place = figure.querySelector(".plot");
    const series = [{}];
    const bands = [];
    const firstSeries = new Map();
    chart.lines.forEach((line) => {
      const first = series.length;
      firstSeries.set(line.learner, first);
      series.push(...seriesOf(line));
      if (line.low) bands.push({ series: [first + 2, first + 1], fill: () => colourOf(line.learner) + "26" });
    });
    const readout = makeReadout(chart, figure);
    const options = {
      width: place.clientWidth,
      height: place.clientHeight,
      scales: { x: { time: false } },
      legend: { show: false },
      cursor: { y: false, points: { size: 7 }, sync: { key: "rows" } },
      axes: axes(chart),
      series,
      bands,
      hooks: { setCursor: [readout], ready: [readout], drawClear: [markDrifts], draw: [markAlarms] },
    };
    const plot = new uPlot(options, [chart.rows, ...chart.lines.flatMap(columnsOf)], place);
    plot.root.setAttribute("role", "img");
    plot.root.setAttribute("aria-label", `Curves of ${chart.measure} over ${chart.forgetting}`);
    new ResizeObserver(() => fit(plot, place)).observe(place);
    plots.push({ plot, place, firstSeries, lines: chart.lines });
  }

  function fit(plot, place) {
    if (place.clientWidth > 0 && place.clientWidth !== plot.width) {
      plot.setSize({ width: place.clientWidth, height: place.clientHeight });
    }
  }

  function toggle(learner) {
    if (!hidden.delete(learner)) hidden.add(learner);
    const show = !hidden.has(learner);
    plots.forEach(({ plot, firstSeries, lines }) => {
      const line = lines.find((candidate) => candidate.learner === learner);
      if (line) columnsOf(line).forEach((_, i) => plot.setSeries(firstSeries.get(learner) + i, { show }));
    });
    document.querySelectorAll(`[data-learner="${learner}"]`).forEach((button) => {
      button.setAttribute("aria-pressed", show);
    });
  }

  function printing(on) {
    document.documentElement.classList.toggle("printing", on);
    // Two charts share the width of a sheet of paper; a canvas cannot reflow by itself.
    plots.forEach(({ plot, place }) => {
      plot.setSize(on ? { width: 320, height: 220 } : { width: place.clientWidth, height: place.clientHeight });
    });
  }

  charts.forEach((chart, i) => draw(chart, figures[i]));
  document.querySelectorAll("[data-learner]").forEach((button) => {
    button.addEventListener("click", () => toggle(Number(button.dataset.learner)));
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plots.forEach(({ plot }) => plot.redraw()));
  addEventListener("beforeprint", () => printing(true));
  addEventListener("afterprint", () => printing(false));
})();
