// What the page says in words: of what each share is a part, the health of a capture, what is said of names, the
// counters of a metrics report.  The other side is what the commands print.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CAPTURES, drawn, open, ours, readable, SCENARIOS, serve, settings } from "./harness.mjs";

const DENOISE = join(CAPTURES, "torch_denoise.xplane.pb");
const GPUS = join(CAPTURES, "rocm_conv_8gpu.xplane.pb");
const NAMES_OFF = join(SCENARIOS, "s23_gate_off_torch.xplane.pb");
const PHONE = { width: 390, height: 844 };
const plain = (text) => text.replace(/\s+/g, " ").trim();

async function withPage(browser, capture, use, { options = [], ...how } = {}) {
  const server = await serve(capture, ...options);
  try {
    const page = await open(browser, server.url, how);
    await page.ready();
    await use(page);
    await page.done();
  } finally {
    await server.end();
  }
}

async function lookAt(page, tab) {
  await page.$eval(`#tab-${tab}`, (button) => button.click());
  await page.waitForSelector(`#view-${tab}[data-ready]`);
}

/** Shares of idle time and of sessions stand beside each other and do not add up: each says which it is. */
async function findingsSayOfWhat(browser) {
  for (const [capture, session] of [[GPUS, "of the devices' sessions"], [DENOISE, "of the session"], [NAMES_OFF, "of the session"]]) {
    const rows = ours("gaps", capture).causes.filter((row) => row.cause !== "short" && row.cause !== "profiler").slice(0, 3);
    await withPage(browser, capture, async (page) => {
      const said = await page.texts(".finding .share");
      assert.deepEqual(said.map((text) => plain(text).replace(/^[\d.]+ % /, "")), rows.map((row) => (row.where === "inside" ? "of the idle time" : session)));
      said.forEach((text, k) => assert.ok(Math.abs(parseFloat(text) - 100 * rows[k].share) <= 0.5, `${text}: ${rows[k].share}`));
      assert.ok((await page.text(".answer .key")).includes("of the window"), "the bars have another whole");
      const titles = await page.$$eval(".answer .piece", (nodes) => nodes.map((node) => node.title));
      assert.ok(titles.every((title) => title.endsWith("of the window")), titles.join());
    });
  }
}

/** A label in a bar is whole, or is not there; wide pieces have one. */
async function labelsAreWhole(browser) {
  for (const capture of [DENOISE, GPUS, join(CAPTURES, "jax_multi.xplane.pb")]) {
    await withPage(browser, capture, async (page) => {
      for (const width of [390, 320, 1280]) {
        await page.setViewport({ width, height: 844 });
        await drawn(page);
        const pieces = await page.$$eval(".answer .piece", (nodes) => nodes.map((node) => {
          const range = document.createRange();
          range.selectNodeContents(node);
          return { text: node.textContent, needs: range.getBoundingClientRect().width, has: node.clientWidth };
        }));
        const cut = pieces.filter((piece) => piece.needs > piece.has + 0.5);
        assert.deepEqual(cut, [], `${width} pixels: labels are cut`);
        assert.ok(pieces.every(({ text, has }) => (text === "" ? has < 60 : /^([a-z ]+ )?[<>]?[\d.]+ %$/.test(text)) && (has < 140 || /^[a-z]/.test(text))), JSON.stringify(pieces));
      }
    }, PHONE);
  }
}

/** The rows below "Health of the capture" of the report in text, as [label, words]. */
function healthOf(capture, ...options) {
  const run = spawnSync(settings.xlaprof, ["report", capture, "--width", "10000", ...options], { encoding: "utf8" });
  const lines = run.stdout.split("Health of the capture\n")[1].split("\n\n")[0].split("\n");
  return lines.map((line) => /^ {2}(\w+) {2,}(\S.*)$/.exec(line)).filter(Boolean).map(([, label, words]) => [label, words]);
}

async function healthIsTheReports(browser) {
  for (const capture of [DENOISE, NAMES_OFF, join(SCENARIOS, "s20_truncated.xplane.pb")]) {
    const want = healthOf(capture);
    assert.ok(want.some(([label]) => label === "launches"), JSON.stringify(want));
    await withPage(browser, capture, async (page) => {
      await lookAt(page, "health");
      const said = await page.$$eval("#view-health .facts dt", (nodes) => nodes.map((node) => [node.textContent, node.nextElementSibling.textContent]));
      assert.deepEqual(said.slice(0, want.length), want);
      assert.ok(!(await page.text("#view-health")).includes("nothing in this capture speaks against"));
      await readable(page, "health");
    }, PHONE);
  }
  assert.ok(healthOf(NAMES_OFF).some(([label, words]) => label === "names" && words.startsWith("off")), "names are off there");
}

/** The report beside the capture agrees; one that says more is told, with both values. */
async function countersAreHeldAgainstAReport(browser) {
  const folder = mkdtempSync(join(tmpdir(), "xlaprof-web-")), other = join(folder, "other.txt");
  const beside = readFileSync(DENOISE.replace(".xplane.pb", ".metrics.txt"), "utf8");
  writeFileSync(other, beside.replace(/(Metric: ExecuteTime\s+TotalSamples: )25/, "$131"));
  const shows = async (page, reads) => {
    await lookAt(page, "counters");
    const tiles = (await page.texts("#view-counters .tile")).map(plain);
    assert.ok(tiles.some((text) => text.includes("reads") && text.endsWith("report 26, agrees")), tiles.join(" | "));
    assert.ok(tiles.some((text) => text.startsWith("25 executes") && text.endsWith(reads)), tiles.join(" | "));
    await readable(page, "counters");
    return page.text("#view-counters");
  };
  try {
    await withPage(browser, DENOISE, async (page) => {
      const text = await shows(page, "report 25, agrees");
      assert.ok(text.includes("The two agree.") && text.includes("aten::nonzero 8"), text);
    }, PHONE);
    await withPage(browser, DENOISE, async (page) => {
      const text = await shows(page, "report 31, differs");
      assert.ok(text.includes(other) && text.includes("Where the report has more") && !text.includes("The two agree."), text);
      await page.shot("counters-differ");
    }, { options: ["--metrics", other] });
    await withPage(browser, GPUS, async (page) => {
      await lookAt(page, "counters");
      assert.ok(!/report|a step/.test(await page.text("#view-counters .tiles")), "no report, and no annotated step");
    });
    await withPage(browser, join(SCENARIOS, "s14_no_device_plane_but_launches.xplane.pb"), async (page) => {
      await lookAt(page, "counters");
      assert.ok((await page.text("#view-counters")).includes("(1 program per train_step step)"));
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Each capture is told what `xlaprof names` tells of it: names that are on, off, not asked for, and no device work at all. */
async function namesSayWhatTheCommandSays(browser) {
  const cases = [
    [DENOISE, "lies in a scope of the program."],
    [NAMES_OFF, "Names are off: "],
    [join(SCENARIOS, "s01b_sd21_unannotated.xplane.pb"), "The program has no annotations, on the host either. "],
    [join(SCENARIOS, "s14_no_device_plane_but_launches.xplane.pb"), "The capture shows no device work"],
  ];
  for (const [capture, sign] of cases) {
    const run = spawnSync(settings.xlaprof, ["names", capture, "--width", "10000"], { encoding: "utf8" });
    const want = run.stdout.split("\n\n")[0].trimEnd().split("\n").slice(1);
    assert.ok(want.some((line) => line.includes(sign)), want.join(" | "));
    await withPage(browser, capture, async (page) => {
      await lookAt(page, "names");
      const said = (await page.texts("#view-names > p")).map(plain);
      assert.deepEqual(said, want);
      await readable(page, "names");
    }, PHONE);
  }
}

/** Names and commands in sentences are set as code, in messages, too. */
async function namesAreCode(browser) {
  const server = await serve(DENOISE), page = await open(browser, server.url, { allowed: /ERR_CONNECTION/ });
  await page.ready();
  assert.ok((await page.texts(".verdict code")).includes("watermark"));
  await server.end();
  await lookAt(page, "ops").catch(() => {});
  assert.ok((await page.text("#view-ops")).includes("does not answer"));
  assert.deepEqual(await page.texts("#view-ops code"), ["xlaprof view"]);
  await page.done();
}

export const checks = {
  "findings say of what": findingsSayOfWhat,
  "labels in bars are whole": labelsAreWhole,
  "health is the report's": healthIsTheReports,
  "counters are held against a report": countersAreHeldAgainstAReport,
  "names say what the command says": namesSayWhatTheCommandSays,
  "names in sentences are code": namesAreCode,
};
