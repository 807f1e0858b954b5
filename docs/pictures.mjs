// Runs the demonstrations, and takes a picture of each timeline with its largest gap selected; and of the page itself, with a
// capture of the tests.  See pictures.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CAPTURES, drawn, open, ours, serve, settings, startBrowser, view } from "../tests/web/harness.mjs";

const words = process.argv.slice(2), chosen = [];
while (words.length > 0) {
  const word = words.shift();
  if (word.startsWith("--")) settings[word.slice(2)] = words.shift();
  else chosen.push(word);
}

async function picture(browser, name) {
  const logdir = mkdtempSync(join(tmpdir(), "xlaprof-picture-"));
  const run = spawnSync(settings.xlaprof, ["demo", name, "--capture", logdir], { encoding: "utf8" });
  if (run.status !== 0) throw new Error(`demo ${name} ends with status ${run.status}: run it again on a machine with less work\n${run.stdout}${run.stderr}`);
  const [from, to] = ours("gaps", logdir).devices[0].window_ps, margin = (to - from) / 40;
  const server = await serve(logdir);
  try {
    await take(browser, server, name, from - margin, to + margin);
  } finally {
    await server.end();
    rmSync(logdir, { recursive: true });
  }
}

/** The timeline between two times, with the longest gap of the first reason selected. */
async function take(browser, server, name, from, to) {
  const page = await open(browser, server.url, { width: 1280, height: 600 });
  await page.ready();
  await page.click(".finding");
  await drawn(page);
  const { s } = await view(page);
  await page.goto(`${server.url}#tab=timeline&t=${Math.round(from)}-${Math.round(to)}&s=${s}`);
  await page.reload();
  await page.ready();
  await drawn(page);
  await page.shot(`lesson-${name}`);
  await page.done();
}

/** The answer, and the timeline around two steps with the longest of their gaps selected. */
async function pages(browser) {
  const capture = join(CAPTURES, "torch_denoise.xplane.pb"), server = await serve(capture);
  try {
    const page = await open(browser, server.url, { width: 1280, height: 660 });
    await page.ready();
    await drawn(page);
    await page.shot("view-answer");
    const from = 46_600_000_000, to = 56_600_000_000;
    const inside = ours("gaps", capture).gaps.filter((gap) => gap.start_ps > from && gap.start_ps + gap.dur_ps < to && gap.step?.num === 7);
    const gap = inside.reduce((longest, each) => (each.dur_ps > longest.dur_ps ? each : longest));
    const { place } = await page.evaluate(async (at) => (await fetch(`data/next?track=0&at=${at}&dir=next`)).json(), gap.start_ps - 1);
    await page.goto(`${server.url}#tab=timeline&t=${from}-${to}&s=${place.track}.${place.item}`);
    await page.reload();
    await page.ready();
    await drawn(page);
    await page.shot("view-timeline");
    await page.done();
  } finally {
    await server.end();
  }
}

const browser = await startBrowser();
try {
  for (const name of chosen) await (name === "view" ? pages(browser) : picture(browser, name));
} finally {
  await browser.close();
}
