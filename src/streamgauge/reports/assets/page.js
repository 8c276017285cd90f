"use strict";
(() => {
  const { dashes, colours, charts, runs, confusion } = JSON.parse(document.getElementById("data").textContent);
  const figures = [...document.querySelectorAll("figure.chart")];
  const hidden = new Set();
  const plots = [];
  let overTime = true; // charts of runs whose rows carry times are drawn over these

  const readStyle = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const getColour = (key) => readStyle(`--curve-${key % colours}`);
  // Rates are shown in percent, other values in their own unit.
  const compactFormat = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 });
  const countFormat = new Intl.NumberFormat("en");
  const formatNumber = (value) => (Math.abs(value) >= 1000 ? countFormat.format(Math.round(value)) : String(+value.toPrecision(4)));
  const formatterOf = (chart) => (value) => (chart.rate ? (100 * value).toFixed(2) : formatNumber(value));
  const tickFormatterOf = (chart) => (tick) => (chart.rate ? +(100 * tick).toFixed(6)
    : Math.abs(tick) >= 1000 ? compactFormat.format(tick) : +tick.toPrecision(6));
  const nameOf = (chart, line) => `${chart.group} ${line.key}`;
  const isTimed = (chart) => overTime && Boolean(chart.times);
  const isDated = (chart) => rowTimes.showDates(chart.times[0], chart.times.at(-1));

  // A reading with a gap on both sides has no line segment, so it gets a dot.
  const findIsolatedPoints = (plot, series) => {
    const values = plot.data[series];
    return values.flatMap((value, i) =>
      value !== null && (values[i - 1] ?? null) === null && (values[i + 1] ?? null) === null ? [i] : []);
  };

  // Each line has consecutive series: its mean, then the lower and the upper edge of its band, if any.
  const columnsOf = (line) => (line.low ? [line.mean, line.low, line.high] : [line.mean]);

  function buildSeries(line, show) {
    const edge = { width: 0, stroke: "transparent", points: { show: false }, show };
    const mean = {
      width: 2,
      show,
      stroke: () => getColour(line.key),
      dash: dashes[line.key % dashes.length],
      points: { show: true, size: 5, filter: findIsolatedPoints, fill: () => getColour(line.key) },
    };
    return columnsOf(line).map((_, i) => (i === 0 ? mean : edge));
  }

  function buildAxis(extra) {
    return {
      stroke: () => readStyle("--quiet"),
      font: "12px system-ui, sans-serif",
      grid: { stroke: () => readStyle("--grid"), width: 1 },
      ticks: { show: false },
      ...extra,
    };
  }

  function buildXAxis(chart) {
    const shorten = (_, ticks) => ticks.map((tick) => compactFormat.format(tick));
    if (!isTimed(chart)) return buildAxis({ values: shorten, space: 64, size: 32 });
    const named = { labelSize: 18, labelGap: 0, labelFont: "12px system-ui, sans-serif" };
    if (!isDated(chart)) return buildAxis({ ...named, values: shorten, space: 64, size: 26, label: "time (s)" });
    const format = (_, ticks, __, ___, step) => rowTimes.formatTicks(ticks, step);
    return buildAxis({ ...named, values: format, space: 72, size: 42, label: "time (UTC)" });
  }

  const buildAxes = (chart) => [
    buildXAxis(chart),
    buildAxis({ values: (_, ticks) => ticks.map(tickFormatterOf(chart)), size: 52, space: 36 }),
  ];

  function paintInside(plot, paint) {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    paint(ctx, bbox);
    ctx.restore();
  }

  // Rows whose labels the learners never see: hatched, paler if some of them have labels.
  function paintUnlabelled(plot, spans) {
    paintInside(plot, (ctx, bbox) => {
      ctx.strokeStyle = readStyle("--quiet");
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

  // The true drifts of the stream: a line at the start of each, a shade over its width.
  function paintDrifts(plot, drifts) {
    paintInside(plot, (ctx, bbox) => {
      ctx.fillStyle = readStyle("--quiet");
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

  // The alarms of detectors: a triangle at the bottom, in the colour of the learner, pale for a warning.
  function paintAlarms(plot, alarms) {
    const size = 5 * devicePixelRatio;
    paintInside(plot, (ctx, bbox) => {
      const bottom = bbox.top + bbox.height;
      alarms.filter(([, learner]) => !hidden.has(`learners ${learner}`)).forEach(([row, learner, kind]) => {
        const x = plot.valToPos(row, "x", true);
        ctx.globalAlpha = kind === 2 ? 1 : 0.35;
        ctx.fillStyle = getColour(learner);
        ctx.beginPath();
        ctx.moveTo(x, bottom - 2 * size);
        ctx.lineTo(x - size, bottom);
        ctx.lineTo(x + size, bottom);
        ctx.fill();
      });
    });
  }

  // Differences that do not matter.
  function paintMargin(plot, margin) {
    if (!margin) return;
    paintInside(plot, (ctx, bbox) => {
      const [top, bottom] = [plot.valToPos(margin, "y", true), plot.valToPos(-margin, "y", true)];
      ctx.globalAlpha = 0.16;
      ctx.fillStyle = readStyle("--quiet");
      ctx.fillRect(bbox.left, top, bbox.width, bottom - top);
    });
  }

  function paintZero(plot) {
    paintInside(plot, (ctx, bbox) => {
      ctx.strokeStyle = readStyle("--ink");
      ctx.lineWidth = devicePixelRatio;
      ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
      const y = plot.valToPos(0, "y", true);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
    });
  }

  function makeReadout(chart, figure) {
    const position = figure.querySelector(".where");
    const format = formatterOf(chart);
    const formatTime = chart.times && rowTimes.makeTimeFormat(chart.times[0], chart.times.at(-1));
    return (plot) => {
      const hovered = plot.cursor.idx;
      const index = hovered ?? chart.rows.length - 1;
      const time = formatTime ? `, ${formatTime(chart.times[index])}` : "";
      position.textContent = `at ${hovered == null ? "the last row, " : "row "}${countFormat.format(chart.rows[index])}${time}`;
      chart.lines.forEach((line) => {
        const value = figure.querySelector(`[data-key="${nameOf(chart, line)}"] .value`);
        const mean = document.createElement("b");
        mean.textContent = line.mean[index] === null ? "–" : format(line.mean[index]);
        const range = line.low && line.low[index] !== null ? ` (${format(line.low[index])} to ${format(line.high[index])})` : "";
        value.replaceChildren(mean, range);
      });
    };
  }

  // The margin keeps a single value off the frame.
  function buildScale(chart) {
    if (!chart.zero) return {};
    return { range: (_, low, high) => {
      const [from, to] = [Math.min(low ?? 0, 0), Math.max(high ?? 0, 0)];
      const margin = 0.08 * (to - from || 1);
      return [from - margin, to + margin];
    } };
  }

  function draw(chart, figure) {
    const container = figure.querySelector(".plot");
    const series = [{}];
    const bands = [];
    const firstSeries = new Map();
    chart.lines.forEach((line) => {
      const first = series.length;
      firstSeries.set(nameOf(chart, line), first);
      series.push(...buildSeries(line, !hidden.has(nameOf(chart, line))));
      if (line.low) bands.push({ series: [first + 2, first + 1], fill: () => getColour(line.key) + "26" });
    });
    const readout = makeReadout(chart, figure);
    const timed = isTimed(chart);
    const marks = timed ? runs[chart.run].timed : runs[chart.run];
    const options = {
      tzDate: rowTimes.toDate,
      width: Math.max(container.clientWidth, 200),
      height: Math.max(container.clientHeight, 160),
      scales: { x: { time: timed && isDated(chart) }, y: buildScale(chart) },
      legend: { show: false },
      cursor: { y: false, points: { size: 7 }, sync: { key: `rows ${chart.run}` } },
      axes: buildAxes(chart),
      series,
      bands,
      hooks: {
        setCursor: [readout],
        ready: [readout],
        drawClear: [(plot) => {
          paintUnlabelled(plot, marks.hidden);
          paintDrifts(plot, marks.drifts);
          paintMargin(plot, chart.margin);
        }],
        draw: [(plot) => { if (chart.group === "learners") paintAlarms(plot, marks.alarms); if (chart.zero) paintZero(plot); }],
      },
    };
    const plot = new uPlot(options, [timed ? chart.times : chart.rows, ...chart.lines.flatMap(columnsOf)], container);
    plot.root.setAttribute("role", "img");
    plot.root.setAttribute("aria-label", `Curves of ${chart.label}`);
    const observer = new ResizeObserver(() => fit(plot, container));
    observer.observe(container);
    plots.push({ plot, container, firstSeries, chart, observer });
  }

  function fit(plot, container) {
    if (container.clientWidth > 0 && container.clientWidth !== plot.width) {
      plot.setSize({ width: container.clientWidth, height: container.clientHeight });
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

  // Shows the confusion matrices at another row of the run.
  function showMoment(slider) {
    const moment = Number(slider.value);
    slider.nextElementSibling.textContent = `after ${countFormat.format(confusion.rows[moment])} rows`;
    document.querySelectorAll("table.confusion").forEach((table) => {
      const shares = confusion.shares[moment][Number(table.dataset.learner)];
      [...table.tBodies[0].rows].forEach((row, i) => [...row.querySelectorAll("td")].forEach((cell, j) => {
        const share = shares[i][j];
        cell.textContent = share < 0 ? "" : (share / 10).toFixed(1);
        cell.className = share < 0 ? "" : `shade-${Math.round(share / 100)}`;
      }));
    });
  }

  function setPrinting(on) {
    document.documentElement.classList.toggle("printing", on);
    // Two charts share the width of a page; a canvas does not reflow by itself.
    plots.forEach(({ plot, container }) => {
      plot.setSize(on ? { width: 320, height: 165 } : { width: container.clientWidth, height: container.clientHeight });
    });
  }

  // Draws all charts again, over rows or over time.
  function setAxis(name) {
    overTime = name === "time";
    plots.splice(0).forEach(({ plot, observer }) => { observer.disconnect(); plot.destroy(); });
    charts.forEach((chart, i) => draw(chart, figures[i]));
    document.querySelectorAll("[data-x]").forEach((button) => button.setAttribute("aria-pressed", button.dataset.x === name));
  }

  // Opens the part of the page that the address names, such as a run that was chosen in a table.
  function openNamed() {
    const part = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!part?.matches("details")) return;
    part.open = true;
    part.scrollIntoView();
  }

  setAxis("time");
  openNamed();
  addEventListener("hashchange", openNamed);
  document.querySelectorAll('a[href^="#"]').forEach((link) => {
    link.addEventListener("click", () => { if (link.hash === location.hash) openNamed(); });
  });
  document.querySelectorAll("[data-key]").forEach((button) => {
    button.addEventListener("click", () => toggle(button.dataset.key));
  });
  document.querySelectorAll("[data-x]").forEach((button) => {
    button.addEventListener("click", () => setAxis(button.dataset.x));
  });
  document.querySelectorAll(".moment input").forEach((slider) => {
    slider.addEventListener("input", () => showMoment(slider));
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plots.forEach(({ plot }) => plot.redraw()));
  addEventListener("beforeprint", () => setPrinting(true));
  addEventListener("afterprint", () => setPrinting(false));
})();
