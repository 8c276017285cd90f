"use strict";
(() => {
  const { dashes, colours, charts, runs, confusion } = JSON.parse(document.getElementById("data").textContent);
  const figures = [...document.querySelectorAll("figure.chart")];
  const hidden = new Set();
  const plots = [];

  const styled = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colourOf = (key) => styled(`--curve-${key % colours}`);
  // Rates are shown in percent, all else in its own unit.
  const shortCount = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 });
  const longCount = new Intl.NumberFormat("en");
  const plainNumber = (value) => (Math.abs(value) >= 1000 ? longCount.format(Math.round(value)) : String(+value.toPrecision(4)));
  const shownIn = (chart) => (value) => (chart.rate ? (100 * value).toFixed(2) : plainNumber(value));
  const tickOf = (chart) => (tick) => (chart.rate ? +(100 * tick).toFixed(6)
    : Math.abs(tick) >= 1000 ? shortCount.format(tick) : +tick.toPrecision(6));
  const nameOf = (chart, line) => `${chart.group} ${line.key}`;

  // A reading with a gap on both sides has no line to show it: it gets a dot.
  const lonePoints = (plot, series) => {
    const values = plot.data[series];
    return values.flatMap((value, i) =>
      value !== null && (values[i - 1] ?? null) === null && (values[i + 1] ?? null) === null ? [i] : []);
  };

  // Each line has a run of series: itself, then the lower and the upper edge of its band where it has one.
  const columnsOf = (line) => (line.low ? [line.mean, line.low, line.high] : [line.mean]);

  function seriesOf(line) {
    const edge = { width: 0, stroke: "transparent", points: { show: false } };
    const mean = {
      width: 2,
      stroke: () => colourOf(line.key),
      dash: dashes[line.key % dashes.length],
      points: { show: true, size: 5, filter: lonePoints, fill: () => colourOf(line.key) },
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
    axis({ values: (_, ticks) => ticks.map(tickOf(chart)), size: 52, space: 36 }),
  ];

  function inside(plot, paint) {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    paint(ctx, bbox);
    ctx.restore();
  }

  // Rows whose labels the learners never see: hatched, paler where that holds for some of them only.
  function markHidden(plot, spans) {
    inside(plot, (ctx, bbox) => {
      ctx.strokeStyle = styled("--quiet");
      ctx.lineWidth = devicePixelRatio;
      const gap = 8 * devicePixelRatio;
      spans.forEach(([start, stop, whole]) => {
        const from = plot.valToPos(start, "x", true);
        const to = plot.valToPos(stop, "x", true);
        ctx.save();
        ctx.beginPath();
        ctx.rect(from, bbox.top, to - from, bbox.height);
        ctx.clip();
        ctx.globalAlpha = whole ? 0.28 : 0.12;
        ctx.beginPath();
        for (let x = from - bbox.height; x < to; x += gap) {
          ctx.moveTo(x, bbox.top + bbox.height);
          ctx.lineTo(x + bbox.height, bbox.top);
        }
        ctx.stroke();
        ctx.restore();
      });
    });
  }

  // The true drifts of the stream: a line where each begins, a shade as long as it lasts.
  function markDrifts(plot, drifts) {
    inside(plot, (ctx, bbox) => {
      ctx.fillStyle = styled("--quiet");
      drifts.forEach(([start, stop]) => {
        const from = plot.valToPos(start, "x", true);
        const wide = plot.valToPos(stop, "x", true) - from;
        ctx.globalAlpha = 0.14;
        ctx.fillRect(from, bbox.top, wide, bbox.height);
        ctx.globalAlpha = 0.6;
        ctx.fillRect(from, bbox.top, devicePixelRatio, bbox.height);
      });
    });
  }

  // The alarms of detectors: a triangle at the foot of the chart in the colour of the learner, pale for a warning.
  function markAlarms(plot, alarms) {
    const size = 5 * devicePixelRatio;
    inside(plot, (ctx, bbox) => {
      const foot = bbox.top + bbox.height;
      alarms.filter(([, learner]) => !hidden.has(`learners ${learner}`)).forEach(([row, learner, kind]) => {
        const at = plot.valToPos(row, "x", true);
        ctx.globalAlpha = kind === 2 ? 1 : 0.35;
        ctx.fillStyle = colourOf(learner);
        ctx.beginPath();
        ctx.moveTo(at, foot - 2 * size);
        ctx.lineTo(at - size, foot);
        ctx.lineTo(at + size, foot);
        ctx.fill();
      });
    });
  }

  function markZero(plot) {
    inside(plot, (ctx, bbox) => {
      ctx.strokeStyle = styled("--ink");
      ctx.lineWidth = devicePixelRatio;
      ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
      const at = plot.valToPos(0, "y", true);
      ctx.beginPath();
      ctx.moveTo(bbox.left, at);
      ctx.lineTo(bbox.left + bbox.width, at);
      ctx.stroke();
    });
  }

  function makeReadout(chart, figure) {
    const where = figure.querySelector(".where");
    const text = shownIn(chart);
    return (plot) => {
      const pointed = plot.cursor.idx;
      const at = pointed ?? chart.rows.length - 1;
      where.textContent = `at ${pointed == null ? "the last row, " : "row "}${longCount.format(chart.rows[at])}`;
      chart.lines.forEach((line) => {
        const value = figure.querySelector(`[data-key="${nameOf(chart, line)}"] .value`);
        const mean = document.createElement("b");
        mean.textContent = line.mean[at] === null ? "–" : text(line.mean[at]);
        const range = line.low && line.low[at] !== null ? ` (${text(line.low[at])} to ${text(line.high[at])})` : "";
        value.replaceChildren(mean, range);
      });
    };
  }

  // A scale that leaves no room for a single value would draw it on the frame.
  function yScale(chart) {
    if (!chart.zero) return {};
    return { range: (_, low, high) => {
      const [from, to] = [Math.min(low ?? 0, 0), Math.max(high ?? 0, 0)];
      const margin = 0.08 * (to - from || 1);
      return [from - margin, to + margin];
    } };
  }

  function draw(chart, figure) {
    const place = figure.querySelector(".plot");
    const series = [{}];
    const bands = [];
    const firstSeries = new Map();
    chart.lines.forEach((line) => {
      const first = series.length;
      firstSeries.set(nameOf(chart, line), first);
      series.push(...seriesOf(line));
      if (line.low) bands.push({ series: [first + 2, first + 1], fill: () => colourOf(line.key) + "26" });
    });
    const readout = makeReadout(chart, figure);
    const marks = runs[chart.run];
    const options = {
      width: Math.max(place.clientWidth, 200),
      height: Math.max(place.clientHeight, 160),
      scales: { x: { time: false }, y: yScale(chart) },
      legend: { show: false },
      cursor: { y: false, points: { size: 7 }, sync: { key: `rows ${chart.run}` } },
      axes: axes(chart),
      series,
      bands,
      hooks: {
        setCursor: [readout],
        ready: [readout],
        drawClear: [(plot) => markHidden(plot, marks.hidden), (plot) => markDrifts(plot, marks.drifts)],
        draw: [(plot) => { if (chart.group === "learners") markAlarms(plot, marks.alarms); if (chart.zero) markZero(plot); }],
      },
    };
    const plot = new uPlot(options, [chart.rows, ...chart.lines.flatMap(columnsOf)], place);
    plot.root.setAttribute("role", "img");
    plot.root.setAttribute("aria-label", `Curves of ${chart.label}`);
    new ResizeObserver(() => fit(plot, place)).observe(place);
    plots.push({ plot, place, firstSeries, chart });
  }

  function fit(plot, place) {
    if (place.clientWidth > 0 && place.clientWidth !== plot.width) {
      plot.setSize({ width: place.clientWidth, height: place.clientHeight });
    }
  }

  function toggle(name) {
    if (!hidden.delete(name)) hidden.add(name);
    const show = !hidden.has(name);
    plots.forEach(({ plot, firstSeries, chart }) => {
      const line = chart.lines.find((candidate) => nameOf(chart, candidate) === name);
      if (line) columnsOf(line).forEach((_, i) => plot.setSeries(firstSeries.get(name) + i, { show }));
    });
    document.querySelectorAll(`[data-key="${name}"]`).forEach((button) => {
      button.setAttribute("aria-pressed", show);
    });
  }

  // The confusion matrices at another moment of the run.
  function showMoment(slider) {
    const moment = Number(slider.value);
    slider.nextElementSibling.textContent = `after ${longCount.format(confusion.rows[moment])} rows`;
    document.querySelectorAll("table.confusion").forEach((table) => {
      const shares = confusion.shares[moment][Number(table.dataset.learner)];
      [...table.tBodies[0].rows].forEach((row, i) => [...row.querySelectorAll("td")].forEach((cell, j) => {
        const share = shares[i][j];
        cell.textContent = share < 0 ? "" : (share / 10).toFixed(1);
        cell.className = share < 0 ? "" : `shade-${Math.round(share / 100)}`;
      }));
    });
  }

  function printing(on) {
    document.documentElement.classList.toggle("printing", on);
    if (on) document.querySelectorAll("details").forEach((part) => { part.open = true; });
    // Two charts share the width of a sheet of paper; a canvas cannot reflow by itself.
    plots.forEach(({ plot, place }) => {
      plot.setSize(on ? { width: 320, height: 220 } : { width: place.clientWidth, height: place.clientHeight });
    });
  }

  charts.forEach((chart, i) => draw(chart, figures[i]));
  document.querySelectorAll("[data-key]").forEach((button) => {
    button.addEventListener("click", () => toggle(button.dataset.key));
  });
  document.querySelectorAll(".moment input").forEach((slider) => {
    slider.addEventListener("input", () => showMoment(slider));
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plots.forEach(({ plot }) => plot.redraw()));
  addEventListener("beforeprint", () => printing(true));
  addEventListener("afterprint", () => printing(false));
})();
