// What a person does on the timeline: zoom, pan, search, select, by mouse and by keys.

import assert from "node:assert/strict";
import { join } from "node:path";
import { CAPTURES, drawn, open, ours, pixels, serve, view } from "./harness.mjs";

const CAPTURE = join(CAPTURES, "torch_denoise.xplane.pb");
const TIMELINE = "#tab=timeline";

/** A check on the timeline of one capture. */
function onTimeline(check, hash = TIMELINE, options = {}) {
  return async (browser) => {
    const server = await serve(CAPTURE);
    try {
      const page = await open(browser, server.url + hash, { base: server.url, ...options });
      await page.ready();
      await drawn(page);
      await check(page, server);
      await page.done();
    } finally {
      await server.end();
    }
  };
}

const span = ({ from, to }) => to - from;
const near = (a, b, part) => Math.abs(a - b) <= Math.abs(b) * part;

async function canvasBox(page) {
  return page.$eval("canvas.tracks", (canvas) => { const { left, top, width, height } = canvas.getBoundingClientRect(); return { left, top, width, height }; });
}

/** The pixel of the page at which a time stands. */
async function xOf(page, ps) {
  const { from, to } = await view(page), box = await canvasBox(page);
  return box.left + ((ps - from) / (to - from)) * box.width;
}

async function keysZoom(page) {
  await page.keyboard.press("w");
  const one = await view(page);
  await page.keyboard.press("w");
  const two = await view(page);
  assert.ok(near(span(two), span(one) / 1.4, 0.01), `${span(one)} to ${span(two)}`);
  await page.keyboard.press("s");
  assert.ok(near(span(await view(page)), span(one), 0.01));
  await page.keyboard.press("0");
  assert.equal((await view(page)).from, null);
}

async function wheelZoomsAtThePointer(page) {
  await page.keyboard.press("w");
  const box = await canvasBox(page), x = box.left + box.width * 0.7;
  const before = await view(page), at = before.from + 0.7 * span(before);
  await page.mouse.move(x, box.top + 40);
  await page.mouse.wheel({ deltaY: -240 });
  await page.mouse.wheel({ deltaY: -240 });
  const after = await view(page);
  assert.ok(span(after) < span(before) * 0.6, "the wheel shows less");
  assert.ok(Math.abs(after.from + 0.7 * span(after) - at) < (4 * span(after)) / box.width, "the time below the pointer stays there");
}

async function panningMovesByWholePixels(page) {
  for (let i = 0; i < 6; i++) await page.keyboard.press("w");
  const before = await view(page), box = await canvasBox(page), cell = span(before) / box.width;
  await page.mouse.move(box.left + 300, box.top + 40);
  await page.mouse.down();
  await page.mouse.move(box.left + 250, box.top + 40, { steps: 5 });
  await page.mouse.move(box.left + 200, box.top + 40, { steps: 5 });
  await page.mouse.up();
  const after = await view(page);
  assert.equal(after.from - before.from, 100 * cell);
  assert.equal(span(after), span(before));
  await page.keyboard.press("d");
  assert.ok((await view(page)).from > after.from);
  await page.keyboard.press("a");
  assert.ok(near((await view(page)).from, after.from, 0.001));
}

/** Fingers on the page, each at [x, y]; fewer than before: the others are lifted. */
async function touch(session, type, ...points) {
  await session.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
}

async function fingersPanPinchAndSelect(page) {
  for (let i = 0; i < 6; i++) await page.keyboard.press("w");
  const session = await page.createCDPSession(), before = await view(page), box = await canvasBox(page);
  const x = box.left + box.width / 2, y = box.top + 40, cell = span(before) / box.width;
  await touch(session, "touchStart", [x, y]);
  for (let moved = 20; moved <= 100; moved += 20) await touch(session, "touchMove", [x - moved, y]);
  await touch(session, "touchEnd");
  const panned = await view(page);
  assert.equal(panned.from - before.from, 100 * cell, "one finger pans");
  assert.equal(span(panned), span(before));
  const middle = panned.from + span(panned) / 2;
  await touch(session, "touchStart", [x - 50, y]);
  await touch(session, "touchStart", [x - 50, y], [x + 50, y]);
  for (let apart = 60; apart <= 150; apart += 10) await touch(session, "touchMove", [x - apart, y], [x + apart, y]);
  await touch(session, "touchEnd");
  const pinched = await view(page);
  assert.ok(near(span(pinched), span(panned) / 3, 0.02), `two fingers zoom: ${span(panned)} to ${span(pinched)}`);
  assert.ok(near(pinched.from + span(pinched) / 2, middle, 0.01), "what was between them stays there");
  assert.equal(pinched.s, null, "neither selects");

  await page.keyboard.press("0");
  const gap = ours("gaps", CAPTURE).gaps.filter((each) => each.where === "inside").sort((a, b) => b.dur_ps - a.dur_ps)[0];
  await page.keyboard.press("w");
  await page.keyboard.press("s");
  const row = await page.$eval(".labels .track.gaps", (node) => { const { top, height } = node.getBoundingClientRect(); return top + height / 2; });
  const at = [await xOf(page, gap.start_ps + gap.dur_ps / 2), row];
  await touch(session, "touchStart", at);
  await touch(session, "touchStart", at, [at[0] + 60, row]);
  await touch(session, "touchEnd");
  assert.equal((await view(page)).s, null, "two fingers that tap select nothing");
  await touch(session, "touchStart", at);
  await touch(session, "touchMove", [at[0] + 6, row]); // a finger is never quite still
  await touch(session, "touchEnd");
  await page.waitForSelector(".details .gap-words");
  assert.ok((await page.text(".details")).includes("211.6 ms of waiting"), "a tap selects");
}

async function aGapIsSelected(page) {
  const gap = ours("gaps", CAPTURE).gaps.filter((each) => each.where === "inside").sort((a, b) => b.dur_ps - a.dur_ps)[0];
  await page.keyboard.press("w"); // so that the address tells the time
  await page.keyboard.press("s");
  const box = await canvasBox(page), row = await page.$eval(".labels .track.gaps", (node) => { const { top, height } = node.getBoundingClientRect(); return top + height / 2; });
  await page.mouse.click(await xOf(page, gap.start_ps + gap.dur_ps / 2), row);
  await page.waitForSelector(".details .gap-words");
  const text = await page.text(".details");
  assert.ok(text.includes("211.6 ms of waiting"), text); // as docs/report.md shows it, too
  assert.ok(text.includes(gap.scope) && text.includes(gap.before.op) && text.includes(gap.after.op) && text.includes(gap.evidence[0].event), text);
  const longest = gap.parts[0];
  assert.ok(text.includes(`${(longest.ps / 1e9).toFixed(1)} ms ${longest.cause}`), text);
  const rows = await page.$$eval(".details dt", (nodes) => nodes.map((node) => [node.innerText, node.nextElementSibling.innerText]));
  assert.equal(new Set(rows.map(([label]) => label)).size, rows.length, `two rows have one name: ${rows.map(([label]) => label)}`);
  const trigger = rows.find(([label]) => label === "trigger")[1];
  assert.ok(trigger.startsWith("value request in watermark") && trigger.includes(gap.evidence[0].event), trigger);
  assert.ok((await pixels(page, "canvas.tracks", "accent")) > 100, "it is outlined");
  await page.keyboard.press("f");
  const fitted = await view(page);
  assert.ok(fitted.from <= gap.start_ps && fitted.to >= gap.start_ps + gap.dur_ps && span(fitted) < gap.dur_ps * 1.9, "f fits it");
  await page.shot("timeline-gap");
  await page.evaluate(() => [...document.querySelectorAll(".details .link")].find((node) => node.textContent.startsWith("value request")).click());
  await page.until(() => document.querySelector(".details h2")?.textContent.includes("TransferFromDevice"));
  await page.keyboard.press("Escape");
  assert.equal((await view(page)).s, null);
  assert.equal(await page.$eval(".details", (node) => node.hidden), true);
  assert.ok(box.width > 0);
}

async function searchFinds(page) {
  const name = "TransferFromDevice", all = ours("events", CAPTURE, "--match", name, "--limit", "0").rows.sort((a, b) => a.start_ps - b.start_ps);
  await page.keyboard.press("/");
  await page.keyboard.type(name.toLowerCase());
  await page.until((count) => document.querySelector("#found").textContent === `${count} events`, all.length);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".details h2");
  await page.keyboard.press("Escape"); // out of the field
  for (const event of all.slice(0, 3)) {
    await page.until((text) => document.querySelector(".details p.soft")?.textContent.includes(text), words(event.dur_ps));
    const now = await view(page);
    assert.ok(now.from <= event.start_ps && now.to >= event.start_ps, "it is on the screen");
    await page.$eval("canvas.tracks", (canvas) => canvas.focus());
    await page.keyboard.press("n");
    await page.waitForNetworkIdle({ idleTime: 100 });
  }
  await page.keyboard.press("p");
  await drawn(page);
  assert.ok((await pixels(page, "canvas.tracks", "accent")) > 50, "matches are marked");
  await page.shot("timeline-search");
}

async function searchSaysWhatIsWrong(page) {
  await page.type("#query", "no such event anywhere");
  await page.until(() => document.querySelector("#found").textContent === "no event");
  await page.$eval("#query", (input) => { input.value = "("; });
  await page.click("#regex");
  await page.until(() => document.querySelector("#found").textContent.length > 12);
  await page.$eval("#query", (input) => { input.value = "^Transfer.*(To|From)Device$|^PjRt.*Transfer(To|From)"; input.dispatchEvent(new Event("input")); });
  const want = ours("events", CAPTURE, "--match", "^PjRt.*Transfer(To|From)", "--limit", "1").total;
  await page.until((count) => document.querySelector("#found").textContent === `${count} events`, want);
}

/** A length of less than 10 ms, as the commands write it. */
function words(ps) {
  const [unit, scale] = ps >= 999.95e6 ? ["ms", 1e9] : ["us", 1e6];
  return `${(ps / scale).toFixed(ps / scale < 10 ? 2 : 1)} ${unit} long`;
}

async function gapsInOrder(page) {
  const gaps = ours("gaps", CAPTURE).gaps, said = (gap) => page.until((text) => document.querySelector(".details p.soft")?.textContent.includes(text), words(gap.dur_ps));
  for (const gap of gaps.slice(0, 4)) {
    await page.keyboard.press("n");
    await said(gap);
  }
  await page.keyboard.press("p");
  await said(gaps[2]);
}

async function sumsOfASpan(page) {
  const box = await canvasBox(page);
  await page.keyboard.down("Shift");
  await page.mouse.move(box.left + 20, box.top + 40);
  await page.mouse.down();
  await page.mouse.move(box.left + box.width - 20, box.top + 40, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await page.waitForSelector(".details .sums li");
  assert.ok((await page.text(".details h2")).endsWith("selected"));
  const rows = await page.texts(".details .sums .link");
  assert.ok(rows.includes("watermark") && rows.includes("PjRtComputationClient::TransferFromDevice"), rows.join());
  assert.ok((await view(page)).m !== null);
  await page.shot("timeline-span");
}

async function stepsAreTheRuler(page) {
  const step = ours("steps", CAPTURE).steps.find((each) => each.num === 6), box = await page.$eval("canvas.ruler", (canvas) => canvas.getBoundingClientRect().toJSON());
  await page.keyboard.press("w");
  await page.keyboard.press("s");
  await page.mouse.click(await xOf(page, step.start_ps + step.dur_ps / 2), box.top + 30);
  await page.until(() => document.querySelector(".details h2")?.textContent.startsWith("denoise"));
  assert.ok((await page.text(".details")).includes(`${(step.dur_ps / 1e9).toFixed(1)} ms long`));
}

async function launchesFlowToWork(page) {
  await page.type("#query", "PjRtComputationClient::ExecuteComputation");
  await page.keyboard.press("Enter");
  await page.until(() => [...document.querySelectorAll(".details dt")].some((node) => node.textContent === "leads to"));
  const before = await view(page);
  await page.evaluate(() => { const row = [...document.querySelectorAll(".details dt")].find((node) => node.textContent === "leads to"); row.nextSibling.querySelector("button").click(); });
  await page.until(() => [...document.querySelectorAll(".details dt")].some((node) => node.textContent === "launched by"));
  assert.notEqual((await view(page)).s, before.s);
  await page.shot("timeline-flow");
}

async function groupsFold(page) {
  const rows = () => page.$$eval(".labels .track", (nodes) => nodes.length), before = await rows();
  await page.evaluate(() => [...document.querySelectorAll(".labels .group")].find((node) => node.textContent.includes("other threads")).focus());
  await page.keyboard.press("Enter");
  assert.ok((await rows()) > before, "other threads unfold");
  await page.keyboard.press("Enter");
  assert.equal(await rows(), before);
}

/** Without a mouse: from the answer to the place on the timeline and on to a table. */
async function keyboardAlone(page) {
  const focused = () => page.evaluate(() => document.activeElement.className || document.activeElement.id);
  for (let i = 0; i < 40 && (await focused()) !== "finding"; i++) await page.keyboard.press("Tab");
  assert.equal(await focused(), "finding");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".details .gap-words");
  await page.keyboard.press(".");
  await page.keyboard.press(".");
  assert.equal((await view(page)).tab, "gaps");
  await page.waitForSelector("#view-gaps[data-ready]");
  for (let i = 0; i < 60 && (await focused()) !== "link"; i++) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal((await view(page)).tab, "timeline");
  await page.keyboard.press("?");
  assert.ok((await page.text("#keys")).includes("Zoom in"));
  await page.shot("keys");
  await page.keyboard.press("Escape");
  const unnamed = await page.$$eval("button, input, select, canvas", (nodes) => nodes.filter((node) => !(node.innerText || node.getAttribute("aria-label") || node.getAttribute("aria-hidden") || node.labels?.[0]?.innerText || node.title)).map((node) => node.outerHTML));
  assert.deepEqual(unnamed, [], "every control has a name");
}

/** Whoever opens the address sees the same. */
async function theAddressIsTheView(page, server) {
  await page.keyboard.press("n");
  await page.keyboard.press("n");
  await page.waitForSelector(".details .gap-words");
  await page.keyboard.press("w");
  const before = await view(page), words = await page.text(".details");
  const other = await open(page.browser(), page.url(), { base: server.url });
  await other.ready();
  await drawn(other);
  await other.until(() => document.querySelector(".details .gap-words"));
  assert.equal(await other.text(".details"), words);
  const after = await view(other);
  assert.ok(Math.abs(after.from - before.from) <= span(before) / 1000 && after.s === before.s, JSON.stringify([before, after]));
  await other.done();
}

async function tablesSortAndFilter(page) {
  await page.waitForSelector("#view-ops[data-ready] .rows td");
  const first = () => page.$eval("#view-ops tbody td", (node) => node.innerText), rows = ours("ops", CAPTURE).rows;
  assert.equal(await first(), rows[0].key);
  await page.evaluate(() => [...document.querySelectorAll("#view-ops th button")].find((node) => node.textContent === "op").click());
  assert.equal(await first(), rows.map((row) => row.key).sort((a, b) => a.localeCompare(b, "en", { numeric: true }))[0]);
  await page.type("#view-ops input[type=search]", "dot");
  const dots = rows.filter((row) => row.key.includes("dot"));
  assert.ok((await page.text("#view-ops output")).startsWith(`${dots.length} of ${rows.length} `));
  const csv = await page.evaluate(() => new Promise((resolve) => {
    const made = URL.createObjectURL;
    URL.createObjectURL = (blob) => { blob.text().then(resolve); return made.call(URL, blob); };
    [...document.querySelectorAll("#view-ops button")].find((node) => node.textContent === "Save CSV").click();
  }));
  assert.equal(csv.split("\r\n").length, dots.length + 2);
  assert.ok(csv.includes(`${dots[0].key},${dots[0].self_ps},`), csv.slice(0, 200));
  await page.click("#view-ops .link");
  await page.until(() => document.querySelector("#found").textContent.includes("event"));
  assert.equal((await view(page)).tab, "timeline");
}

/** A piece of a bar lists the gaps of its cause. */
async function barsLeadToGaps(page) {
  const tracing = ours("gaps", CAPTURE).gaps.filter((gap) => gap.cause === "tracing");
  await page.click(".answer .bar .k-tracing");
  await page.waitForSelector("#view-gaps[data-ready]");
  await page.until((count) => document.querySelector("#view-gaps output").textContent === `${count} rows`, tracing.length);
  const causes = new Set(await page.texts("#view-gaps tbody .link"));
  assert.deepEqual([...causes], ["tracing"]);
  await page.select("#view-gaps select[aria-label=Cause]", "");
  await page.until((count) => document.querySelector("#view-gaps output").textContent === `${count} rows`, ours("gaps", CAPTURE).gaps.length);
}

export const checks = {
  "bars lead to gaps": onTimeline(barsLeadToGaps, "#tab=answer"),
  "keys zoom": onTimeline(keysZoom),
  "the wheel zooms at the pointer": onTimeline(wheelZoomsAtThePointer),
  "panning moves by whole pixels": onTimeline(panningMovesByWholePixels),
  "fingers pan, pinch and select": onTimeline(fingersPanPinchAndSelect),
  "a gap is selected": onTimeline(aGapIsSelected),
  "a search finds and steps": onTimeline(searchFinds),
  "a search says what is wrong": onTimeline(searchSaysWhatIsWrong, TIMELINE, { allowed: /status of 400/ }),
  "n and p step through gaps": onTimeline(gapsInOrder),
  "a span has sums": onTimeline(sumsOfASpan),
  "steps are the ruler": onTimeline(stepsAreTheRuler),
  "launches lead to work": onTimeline(launchesFlowToWork),
  "groups fold": onTimeline(groupsFold),
  "a keyboard is enough": onTimeline(keyboardAlone, "#tab=answer"),
  "the address is the view": onTimeline(theAddressIsTheView),
  "tables sort, filter and save": onTimeline(tablesSortAndFilter, "#tab=ops"),
};
