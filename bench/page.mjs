// How fast the viewer is where a person feels it, in headless Chromium.
//
//   bench/page [--xlaprof PROGRAM] [--rounds N] [CAPTURE...]
//
// For each capture: the time from the command to the answer on the screen and to the first drawing of the timeline (the
// smallest and the median of the rounds), and the main-thread time of a frame while the timeline pans, zoomed in and
// zoomed out (median, 95th percentile, most).  A frame's time is the processor time of all tasks of the page's main
// thread between two frames, as the browser's own trace tells it: drawing, decoding what came, and collecting garbage, not
// only our script.
//
// Without captures: some 3 and 10 million events, recorded by make_capture.py into $XLAPROF_CACHE if they are not there.

import { execFileSync } from "node:child_process";
import { existsSync, renameSync, rmSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { drawn, open, serve, settings, startBrowser, TREE } from "../tests/web/harness.mjs";

const FRAMES = 240;
const wanted = [];
let rounds = 3;
for (let i = 2; i < process.argv.length; i++) {
  if (process.argv[i] === "--xlaprof") settings.xlaprof = process.argv[++i];
  else if (process.argv[i] === "--rounds") rounds = Number(process.argv[++i]);
  else wanted.push(process.argv[i]);
}

const sorted = (values) => [...values].sort((a, b) => a - b);
const at = (values, part) => sorted(values)[Math.min(values.length - 1, Math.floor(values.length * part))];
const ms = (value) => `${value.toFixed(value < 100 ? 1 : 0)} ms`;

/** Milliseconds from the command to the first paint of the answer and of the timeline. */
async function firstPaint(browser, capture) {
  const start = performance.now(), server = await serve(capture);
  const page = await open(browser, `${server.url}#tab=answer`, { base: server.url });
  const frames = () => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  await page.waitForSelector("body[data-answer]");
  await frames();
  const answer = performance.now() - start;
  await page.$eval("#tab-timeline", (tab) => tab.click());
  await page.waitForSelector(".timeline[data-frame]");
  await frames();
  const timeline = performance.now() - start;
  await page.close();
  await server.end();
  return { answer, timeline };
}

/** Sums of the main thread's tasks from each task that draws a frame to the next one, in ms. */
function framesOf(events) {
  const drawing = events.filter((event) => event.name === "FireAnimationFrame");
  const threads = new Map();
  for (const { pid, tid } of drawing) threads.set(`${pid}.${tid}`, (threads.get(`${pid}.${tid}`) ?? 0) + 1);
  const [main] = [...threads].sort((a, b) => b[1] - a[1])[0]; // of the page; others belong to empty pages
  const of = (event) => `${event.pid}.${event.tid}` === main;
  const starts = sorted(drawing.filter(of).map((event) => event.ts));
  const tasks = events.filter((event) => event.name.endsWith("RunTask") && event.ph === "X" && of(event)).sort((a, b) => a.ts - b.ts);
  const sums = [];
  let k = 0, end = 0;
  for (const task of tasks) {
    if (task.ts < end) continue; // within one that is counted
    end = task.ts + task.dur;
    let draws = false;
    for (; k < starts.length && starts[k] < end; k++) draws = true;
    if (draws) sums.push(0);
    if (sums.length > 0) sums[sums.length - 1] += (task.tdur ?? task.dur) / 1000;
  }
  return sums;
}

async function panning(browser, page) {
  const box = await page.$eval("canvas.tracks", (canvas) => canvas.getBoundingClientRect().toJSON());
  const session = await browser.target().createCDPSession(), events = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  await session.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories: ["devtools.timeline", "disabled-by-default-devtools.timeline", "toplevel"] } });
  await page.mouse.move(box.left + 700, box.top + 40);
  await page.mouse.down();
  for (let i = 0; i < FRAMES; i++) {
    await page.mouse.move(box.left + 700 + ((i % 120) < 60 ? 1 : -1) * 9 * (i % 60), box.top + 40);
    await new Promise((resolve) => setTimeout(resolve, 16));
  }
  await page.mouse.up();
  const complete = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
  await session.send("Tracing.end");
  await complete;
  return framesOf(events);
}

async function measure(browser, capture) {
  const paints = [];
  for (let i = 0; i < rounds; i++) paints.push(await firstPaint(browser, capture));
  for (const [key, what] of [["answer", "answer"], ["timeline", "timeline"]]) {
    const all = paints.map((paint) => paint[key]);
    console.log(`  ${what.padEnd(10)} on the screen after ${ms(Math.min(...all))} (median ${ms(at(all, 0.5))})`);
  }
  const server = await serve(capture), page = await open(browser, `${server.url}#tab=timeline`, { base: server.url });
  await page.ready();
  await drawn(page);
  for (const [what, presses] of [["all of it", 1], ["zoomed in", 14]]) {
    for (let i = 0; i < presses; i++) await page.keyboard.press("w");
    await drawn(page);
    const frames = await panning(browser, page);
    console.log(`  panning, ${what}: ${ms(at(frames, 0.5))} a frame (95th percentile ${ms(at(frames, 0.95))}, most ${ms(Math.max(...frames))}, ${frames.length} frames)`);
  }
  await page.close();
  await server.end();
}

/** A capture of so many steps of make_capture.py, recorded if it is not in the cache; other benchmarks use it, too. */
function record(name, steps) {
  const cache = process.env.XLAPROF_CACHE ?? join(process.env.HOME, ".cache/xlaprof"), folder = join(cache, name);
  if (!existsSync(folder)) {
    const readers = execFileSync(join(TREE, "scripts/install-peers"), ["readers"], { encoding: "utf8" }).trim();
    console.error(`Recording ${steps} steps into ${folder}`);
    rmSync(`${folder}.new`, { recursive: true, force: true });
    execFileSync(join(readers, "bin/python"), [join(TREE, "bench/make_capture.py"), `${folder}.new`, String(steps)], { stdio: ["ignore", 2, 2], env: { ...process.env, JAX_PLATFORMS: "cpu" } });
    renameSync(`${folder}.new`, folder);
  }
  return folder;
}

if (wanted.length === 0) wanted.push(record("capture3", 1215), record("capture", 4050));
console.log(`${cpus().length} cores, load of the machine before: ${loadavg()[0].toFixed(1)}`);
const browser = await startBrowser();
for (const capture of wanted) {
  console.log(capture);
  await measure(browser, capture);
}
await browser.close();
