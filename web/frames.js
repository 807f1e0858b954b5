// The binary answers of the server (docs/view-protocol.md), as columns over the bytes that came: nothing is copied.

const WINDOW = 0x57505856,
  MINIMAP = 0x4d505856,
  HEAD_WINDOW = 40,
  HEAD_MINIMAP = 32;
export const NO_NAME = 0xffffffff;

export const STYLE = {
  kind: (s) => s & 255,
  hash: (s) => (s >> 8) & 255,
  left: 1 << 16,
  right: 1 << 17,
  merged: 1 << 18,
  match: 1 << 19,
  trigger: (s) => (s >> 20) & 3,
  where: (s) => (s >> 22) & 3,
};

function check(view, magic) {
  if (view.byteLength < HEAD_MINIMAP || view.getUint32(0, true) !== magic || view.getUint32(4, true) !== 1) {
    throw new Error("The server's answer has another form than this page reads. Reload the page.");
  }
}

/** Hands out columns one after the other, each at a multiple of 8 bytes. */
function columns(buffer, at) {
  return (Type, length) => {
    const column = new Type(buffer, at, length);
    at += Math.ceil((length * Type.BYTES_PER_ELEMENT) / 8) * 8;
    return column;
  };
}

/** What one screen shows.  rows: Map from "track.depth" to [first, count] of its items. */
export function decodeWindow(buffer) {
  const view = new DataView(buffer);
  check(view, WINDOW);
  const [rowCount, n, names, bytes] = [8, 12, 16, 20].map((at) => view.getUint32(at, true));
  const next = columns(buffer, HEAD_WINDOW);
  const rowTable = next(Uint32Array, 4 * rowCount);
  const rows = new Map();
  for (let i = 0; i < rowCount; i++) {
    rows.set(`${rowTable[4 * i]}.${rowTable[4 * i + 1]}`, [rowTable[4 * i + 2], rowTable[4 * i + 3]]);
  }
  const frame = {
    from: view.getFloat64(24, true),
    cell: view.getFloat64(32, true),
    rows,
    size: n,
    x: next(Float32Array, n),
    w: next(Float32Array, n),
    busy: next(Float32Array, n),
    count: next(Uint32Array, n),
    item: next(Uint32Array, n),
    name: next(Uint32Array, n),
    style: next(Uint32Array, n),
  };
  const offsets = next(Uint32Array, names + 1),
    text = next(Uint8Array, bytes),
    decoder = new TextDecoder();
  frame.names = Array.from({ length: names }, (_, i) => decoder.decode(text.subarray(offsets[i], offsets[i + 1])));
  return frame;
}

/** causes[c][pixel] and busy[pixel], shares from 0 to 1. */
export function decodeMinimap(buffer) {
  const view = new DataView(buffer);
  check(view, MINIMAP);
  const count = view.getUint32(8, true),
    width = view.getUint32(12, true);
  const all = new Float32Array(buffer, HEAD_MINIMAP, count * width);
  return {
    from: view.getFloat64(16, true),
    cell: view.getFloat64(24, true),
    width,
    busy: new Float32Array(buffer, HEAD_MINIMAP + 4 * count * width, width),
    causes: Array.from({ length: count }, (_, c) => all.subarray(c * width, (c + 1) * width)),
  };
}

/** The item of a row of a frame that lies at a pixel of the frame, or the nearest within `slack`; -1 if there is none. */
export function itemAt(frame, track, depth, x, slack) {
  const row = frame.rows.get(`${track}.${depth}`);
  if (!row) return -1;
  let low = row[0],
    high = row[0] + row[1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (frame.x[middle] <= x) low = middle + 1;
    else high = middle;
  }
  let best = -1,
    nearest = slack;
  for (let i = Math.max(row[0], low - 2); i < Math.min(low + 2, row[0] + row[1]); i++) {
    const distance = x < frame.x[i] ? frame.x[i] - x : Math.max(0, x - frame.x[i] - frame.w[i]);
    if (distance < nearest || (distance === 0 && nearest === 0)) [best, nearest] = [i, distance];
  }
  return best;
}
