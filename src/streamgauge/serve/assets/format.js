// Numbers for people: rates in percent, everything else in its own unit.
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 });
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const clock = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
export const MISSING = "–";

export const count = (number) => whole.format(number);
export const short = (number) => compact.format(number);
export const runName = (run) => run.title || (run.id === "." ? "this folder" : run.id);
export const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

export function value(number, unit) {
  if (number === null || number === undefined || Number.isNaN(number)) return MISSING;
  if (unit === "rate") return (100 * number).toFixed(2);
  if (unit === "bytes") return bytes(number);
  if (unit === "seconds") return `${+number.toPrecision(3)} s`;
  return Math.abs(number) >= 1000 ? whole.format(number) : String(+number.toPrecision(4));
}

export function bytes(number) {
  const steps = ["B", "kB", "MB", "GB", "TB"];
  const step = Math.min(steps.length - 1, Math.max(0, Math.floor(Math.log(Math.max(1, number)) / Math.log(1000))));
  return `${+(number / 1000 ** step).toPrecision(3)} ${steps[step]}`;
}

export function duration(seconds) {
  if (!Number.isFinite(seconds)) return MISSING;
  if (seconds < 0.1) return "< 0.1 s";
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

// A difference with its sign; that of two rates is in percentage points.
export const difference = (number, unit = "rate") => {
  if (number === null || number === undefined) return MISSING;
  return `${number > 0 ? "+" : ""}${unit === "rate" ? (100 * number).toFixed(2) : +number.toPrecision(4)}`;
};
export const differenceUnit = (unit) => (unit === "rate" ? "pp" : unit ?? "");
export const lead = (number, unit) => `${value(number, unit)} ${differenceUnit(unit)}`.trimEnd();
export const margin = (number, unit) => `${+(unit === "rate" ? 100 * number : number).toPrecision(6)} ${differenceUnit(unit)}`.trimEnd();
export const amount = (number, unit) => {
  const text = value(number, unit);
  return text === MISSING ? text : unit === "rate" ? `${text}%` : `${text} ${unit ?? ""}`.trimEnd();
};

export const time = (seconds) => (seconds ? clock.format(new Date(1000 * seconds)) : "");
