// Numbers for people, in the same form as the commands print them.  Times are picoseconds.

const UNITS = [
  ["ps", 1],
  ["ns", 1e3],
  ["us", 1e6],
  ["ms", 1e9],
  ["s", 1e12],
];

function unitFor(ps) {
  const size = Math.abs(ps);
  return UNITS.find(([, scale]) => size < scale * 999.95) ?? UNITS[4];
}

/** "211.6 ms", "2.32 ms", "830 ps", "0 s". */
export function time(ps) {
  if (ps === null || ps === undefined) return "-";
  if (ps === 0) return "0 s";
  const [unit, scale] = unitFor(ps);
  const value = ps / scale;
  return `${value.toFixed(unit === "ps" ? 0 : Math.abs(value) < 10 ? 2 : 1)} ${unit}`;
}

function grouped(digits) {
  return digits.replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));
}

/** A place on the axis, with digits enough to tell places apart that lie `step` from each other. */
export function place(ps, step) {
  const [unit, scale] = unitFor(Math.max(Math.abs(ps), step));
  const decimals = Math.max(0, Math.min(12, Math.ceil(Math.log10(scale / Math.max(step, 1)) - 1e-9)));
  if (unit === "s" && decimals > 3) return `${grouped((ps / 1e9).toFixed(decimals - 3))} ms`;
  return `${grouped((ps / scale).toFixed(decimals))} ${unit}`;
}

export function count(n) {
  return n === null || n === undefined ? "-" : grouped(String(n));
}

export function things(n, thing) {
  return `${count(n)} ${thing}${n === 1 ? "" : "s"}`;
}

export function share(part) {
  const percent = part * 100;
  if (!Number.isFinite(percent)) return "-";
  if (percent === 0) return "0 %";
  if (percent < 0.1) return "<0.1 %";
  if (percent < 9.95) return `${percent.toFixed(1)} %`;
  if (percent < 99.5 || percent >= 100) return `${percent.toFixed(0)} %`;
  return percent < 99.95 ? `${percent.toFixed(1)} %` : ">99.9 %";
}

export function rate(value) {
  if (!Number.isFinite(value)) return "-";
  return value > 0 && value < 0.05 ? "<0.1" : grouped(String(Math.round(value * 10) / 10));
}

export function bytes(n) {
  if (n < 1000) return `${n} bytes`;
  const names = ["kB", "MB", "GB", "TB"];
  let unit = -1;
  do {
    n /= 1000;
    unit++;
  } while (n >= 999.5 && unit < 3);
  return `${n.toFixed(n < 99.95 ? 1 : 0)} ${names[unit]}`;
}
