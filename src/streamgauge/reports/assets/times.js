"use strict";
// Times of rows on an x axis, for the report and the dashboard: dates in UTC, or seconds if they start near 0.
const rowTimes = (() => {
  const [FIRST_DATE, LAST_DATE, DAY] = [1e8, 253402300800, 86400];
  const makeFormat = (options) => new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", hourCycle: "h23", ...options });
  const number = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });
  const year = makeFormat({ year: "numeric" });
  const month = makeFormat({ month: "short" });
  const day = makeFormat({ day: "numeric", month: "short" });
  const date = makeFormat({ day: "numeric", month: "short", year: "numeric" });
  const minute = makeFormat({ hour: "2-digit", minute: "2-digit" });
  const second = makeFormat({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const instant = makeFormat({ minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 });

  // Times can be an axis if all are known and they increase.
  const increase = (times) => Boolean(times) && times.length > 1 && times.at(-1) > times[0]
    && times.every((time, i) => time !== null && !Number.isNaN(time) && (i === 0 || time >= times[i - 1]));
  const showDates = (first, last) => Math.max(Math.abs(first), Math.abs(last)) >= FIRST_DATE && last < LAST_DATE;

  // The text of a tick by the distance of ticks, and what its second line states where it changes.
  const chooseFormats = (step) => {
    if (step >= 365 * DAY) return [year, null];
    if (step >= 28 * DAY) return [month, year];
    if (step >= DAY) return [day, year];
    return [step >= 60 ? minute : step >= 1 ? second : instant, date];
  };

  function formatTicks(ticks, step) {
    const [format, context] = chooseFormats(step);
    let known = null;
    return ticks.map((time) => {
      const moment = new Date(1000 * time);
      const around = context?.format(moment) ?? null;
      const text = around === known ? format.format(moment) : `${format.format(moment)}\n${around}`;
      known = around;
      return text;
    });
  }

  // Returns what formats one time in full, such as 2024-03-01 12:30:00 UTC: milliseconds only if all lie within an hour.
  function makeTimeFormat(first, last) {
    if (!showDates(first, last)) return (time) => `${number.format(time)} s`;
    const end = last - first < 3600 ? /(\.000)?Z$/ : /\.\d+Z$/;
    return (time) => `${new Date(1000 * time).toISOString().replace("T", " ").replace(end, "")} UTC`;
  }

  const toDate = (time) => uPlot.tzDate(new Date(1000 * time), "UTC");

  return { increase, showDates, formatTicks, makeTimeFormat, toDate };
})();
