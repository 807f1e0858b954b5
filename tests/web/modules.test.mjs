// The modules of the page that need no browser, with values from paper.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as api from "../../web/api.js";
import { toCsv, toText } from "../../web/csv.js";
import * as format from "../../web/format.js";
import { decodeMinimap, decodeWindow, itemAt, NO_NAME, STYLE } from "../../web/frames.js";
import { read, write } from "../../web/url.js";
import * as viewport from "../../web/viewport.js";

const LIMITS = { from: 0, to: 1000000 };

test("times have the unit and the digits of the commands", () => {
  const pairs = [[0, "0 s"], [830, "830 ps"], [999_960, "1.00 us"], [2_320_000_000, "2.32 ms"], [211_588_936_000, "211.6 ms"], [1e12, "1.00 s"], [-1_500_000, "-1.50 us"]];
  for (const [ps, text] of pairs) assert.equal(format.time(ps), text);
  assert.equal(format.time(null), "-");
});

test("shares are never 0 % of something nor 100 % of less than all", () => {
  const pairs = [[0, "0 %"], [0.0004, "<0.1 %"], [0.0706, "7.1 %"], [0.9328, "93 %"], [0.9999, ">99.9 %"], [1, "100 %"], [NaN, "-"]];
  for (const [part, text] of pairs) assert.equal(format.share(part), text);
});

test("places tell apart what lies a step from each other", () => {
  assert.equal(format.place(9_720_412_000_000, 1_000_000), "9,720.412 ms");
  assert.equal(format.place(50_000_000_000, 10_000_000_000), "50 ms");
  assert.equal(format.place(1_234_567, 1000), "1.235 us");
  assert.equal(format.count(1234567), "1,234,567");
  assert.equal(format.things(1, "gap"), "1 gap");
});

test("a zoom keeps the time below the pointer", () => {
  const view = viewport.fit(0, 100000, 1000); // 100 ps a pixel
  assert.deepEqual(view, { from: 0, cell: 100, width: 1000 });
  const near = viewport.zoom(view, 0.5, 500, LIMITS);
  assert.deepEqual(near, { from: 25000, cell: 50, width: 1000 }); // 50000 stays at pixel 500
  assert.deepEqual(viewport.zoom(near, 2, 500, LIMITS), view);
});

test("a zoom of single picoseconds still moves, and ends", () => {
  let view = { from: 0, cell: 3, width: 100 };
  view = viewport.zoom(view, 0.9, 0, LIMITS);
  assert.equal(view.cell, 2);
  for (let i = 0; i < 5; i++) view = viewport.zoom(view, 0.9, 0, LIMITS);
  assert.equal(view.cell, 1);
  for (let i = 0; i < 100; i++) view = viewport.zoom(view, 1.4, 50, LIMITS);
  assert.equal(view.cell, 10200); // 102 % of all in 100 pixels
});

test("panning keeps to the cells, and some of what there is on the screen", () => {
  const view = viewport.fit(200000, 300000, 1000);
  assert.equal(viewport.pan(view, 7, LIMITS).from, 200700);
  assert.equal(viewport.pan(view, -1e9, LIMITS).from, -10000);
  assert.equal(viewport.end(viewport.pan(view, 1e9, LIMITS)), 1010000);
});

test("what is asked for covers the screens beside this one", () => {
  const view = viewport.fit(200000, 300000, 1000), wide = viewport.margins(view);
  assert.deepEqual(wide, { from: 100000, cell: 100, width: 3000 });
  assert.ok(viewport.covers(wide, 3000, viewport.pan(view, 999, LIMITS)));
  assert.ok(!viewport.covers(wide, 3000, viewport.pan(view, 1001, LIMITS)));
  assert.equal(viewport.margins({ from: 0, cell: 1, width: 5000 }).width, 8192);
});

test("marks of the axis are 1, 2 or 5 times a power of ten apart", () => {
  const { step, marks } = viewport.ticks({ from: 150, cell: 10, width: 100 }, 30);
  assert.equal(step, 500);
  assert.deepEqual(marks, [500, 1000]);
});

test("an address is read as it was written, and nonsense is nothing", () => {
  const view = { tab: "gaps", from: -5, to: 1000, selection: { track: 4, item: 17 }, query: "a&b=c #", regex: true };
  assert.deepEqual(read(write(view), ["answer", "gaps"]), view);
  const span = { tab: "answer", from: null, to: null, selection: { from: 3, to: 9 }, query: "", regex: false };
  assert.deepEqual(read(write(span), ["answer"]), span);
  assert.deepEqual(read("#tab=x&t=9-1&s=-1.2&m=4-4", ["answer"]), { ...span, selection: null });
});

test("CSV quotes what has to be quoted", () => {
  const columns = [{ key: "name", title: "name", value: (row) => row[0], show: (row) => row[0] }, { key: "ps", title: "time", value: (row) => row[1], show: (row) => `${row[1]} ps` }];
  const rows = [['a,"b"', 5], [null, null], ["x\ny\tz", 7]];
  assert.equal(toCsv(columns, rows), 'name,ps\r\n"a,""b""",5\r\n,\r\n"x\ny\tz",7\r\n');
  assert.equal(toText(columns, [["x\ny\tz", 7]]), "name\ttime\nx y z\t7 ps");
});

/** An answer of the server, written by hand after docs/view-protocol.md: 1 row, 2 items, 1 name of 3 bytes. */
function windowBytes() {
  const bytes = new Uint8Array(40 + 16 + 7 * 8 + 8 + 8), view = new DataView(bytes.buffer);
  [0x57505856, 1, 1, 2, 1, 3].forEach((value, k) => view.setUint32(4 * k, value, true));
  view.setFloat64(24, 1000, true);
  view.setFloat64(32, 10, true);
  [4, 2, 0, 2].forEach((value, k) => view.setUint32(40 + 4 * k, value, true));
  const column = (k, put, values) => values.forEach((value, i) => view[put](56 + 8 * k + 4 * i, value, true));
  column(0, "setFloat32", [5, 20]);
  column(1, "setFloat32", [10, 0.5]);
  column(2, "setFloat32", [10, 0.25]);
  column(3, "setUint32", [1, 34]);
  column(4, "setUint32", [7, 9]);
  column(5, "setUint32", [0, NO_NAME]);
  column(6, "setUint32", [8 | (200 << 8) | STYLE.right, STYLE.merged | (3 << 20) | (2 << 22)]);
  [0, 3].forEach((value, k) => view.setUint32(112 + 4 * k, value, true));
  bytes.set(new TextEncoder().encode("dot"), 120);
  return bytes.buffer;
}

test("a window of the server is decoded", () => {
  const frame = decodeWindow(windowBytes());
  assert.deepEqual([frame.from, frame.cell, frame.size, frame.names], [1000, 10, 2, ["dot"]]);
  assert.deepEqual([...frame.rows], [["4.2", [0, 2]]]);
  assert.deepEqual([[...frame.x], [...frame.w], [...frame.count], [...frame.item]], [[5, 20], [10, 0.5], [1, 34], [7, 9]]);
  assert.deepEqual([STYLE.kind(frame.style[0]), STYLE.hash(frame.style[0]), STYLE.trigger(frame.style[1]), STYLE.where(frame.style[1])], [8, 200, 3, 2]);
});

test("an item is found at its pixels and near them", () => {
  const frame = decodeWindow(windowBytes());
  assert.deepEqual([6, 14, 4, 17, 19, 22, 40].map((x) => itemAt(frame, 4, 2, x, 3)), [0, 0, 0, 0, 1, 1, -1]);
  assert.equal(itemAt(frame, 4, 1, 6, 3), -1);
});

test("a minimap is decoded, also of an odd width", () => {
  const bytes = new ArrayBuffer(32 + 4 * 9), view = new DataView(bytes);
  [0x4d505856, 1, 2, 3].forEach((value, k) => view.setUint32(4 * k, value, true));
  for (let k = 0; k < 9; k++) view.setFloat32(32 + 4 * k, k, true);
  const map = decodeMinimap(bytes);
  assert.deepEqual([map.causes.map((cause) => [...cause]), [...map.busy]], [[[0, 1, 2], [3, 4, 5]], [6, 7, 8]]);
});

test("an answer of another form is refused", () => {
  assert.throws(() => decodeWindow(new ArrayBuffer(64)), /another form/);
  assert.throws(() => decodeMinimap(windowBytes()), /another form/);
});

test("of many requests the first and the last are made", async () => {
  const made = [], waiting = [];
  const ask = api.latest(async (n) => { made.push(n); await new Promise((resolve) => waiting.push(resolve)); });
  [1, 2, 3, 4].forEach((n) => ask(n));
  assert.deepEqual(made, [1]);
  waiting[0]();
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(made, [1, 4]);
});
