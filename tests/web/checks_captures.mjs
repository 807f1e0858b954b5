// Each capture, from the answer to the last tab, against what the commands say of it.

import assert from "node:assert/strict";
import { basename, join } from "node:path";
import { CAPTURES, drawn, open, ours, pixels, readable, SCENARIOS, serve, view } from "./harness.mjs";

const TABS = ["answer", "timeline", "steps", "gaps", "ops", "names", "counters", "health"];

/** Largest first: causes of gaps inside the windows of devices. */
function causesOf(gaps) {
  const sums = new Map();
  gaps.gaps.filter((gap) => gap.where === "inside").forEach((gap) => sums.set(gap.cause, (sums.get(gap.cause) ?? 0) + gap.dur_ps));
  return [...sums].sort((a, b) => b[1] - a[1]);
}

async function checkAnswer(page, name, report) {
  const plain = (text) => text.replaceAll("`", "").replace(/\s+/g, " ").trim();
  assert.equal(plain(await page.text(".verdict")), plain(report.verdict));
  const working = report.gaps.devices.filter((device) => device.window_ps);
  const bars = await page.$$eval(".answer .device .bar", (bars) => bars.map((bar) => [...bar.children].map((piece) => [piece.className.split("k-").pop(), piece.getBoundingClientRect().width / bar.getBoundingClientRect().width])));
  assert.equal(bars.length, Math.min(16, working.length));
  working.slice(0, 16).forEach((device, k) => {
    const window = device.window_ps[1] - device.window_ps[0], parts = new Map(bars[k]);
    assert.ok(Math.abs((parts.get("busy") ?? 0) - device.busy_ps / window) < 0.01, `${device.name}: busy`);
    for (const [cause, part] of parts) {
      if (cause === "busy" || cause === "copies" || cause === "short") continue;
      const sum = report.gaps.gaps.filter((gap) => gap.device === device.name && gap.host === device.host && gap.where === "inside" && gap.cause === cause).reduce((ps, gap) => ps + gap.dur_ps, 0);
      assert.ok(Math.abs(part - sum / window) < 0.01, `${device.name}: ${cause} is ${part}, right is ${sum / window}`);
    }
  });
  const ranked = report.gaps.causes.filter((row) => row.cause !== "short");
  assert.equal((await page.$$(".finding")).length, Math.min(3, ranked.length));
  await readable(page, `${name}, answer`);
}

/** The first finding leads to the longest of its gaps. */
async function checkFinding(page, report) {
  const rows = report.gaps.causes.filter((row) => row.cause !== "short");
  const share = await page.text(".finding .share");
  await page.click(".finding");
  await page.waitForSelector(".details h2");
  await drawn(page);
  const now = await view(page), gap = report.gaps.gaps.filter((each) => each.start_ps < now.to && each.start_ps + each.dur_ps > now.from).sort((a, b) => b.dur_ps - a.dur_ps)[0];
  const row = rows.find((each) => each.cause === gap.cause && each.scope === gap.scope && each.trigger === gap.trigger && each.where === gap.where);
  assert.ok(row && gap.dur_ps === row.longest_ps, "the longest gap of the finding is on the screen");
  assert.ok(now.s !== null && share.includes("%"));
  assert.ok((await page.text(".details h2")).endsWith("of waiting"));
}

async function checkTables(page, name, report) {
  const rows = { steps: report.steps.steps.length, ops: report.ops.rows.length, names: report.names.scopes.length + (report.names.unnamed_ps > 0),
                 counters: report.counters.by_scope.length, gaps: report.gaps.gaps.length };
  for (const tab of TABS.slice(2)) {
    await page.click(`#tab-${tab}`);
    await page.waitForSelector(`#view-${tab}[data-ready]`);
    const told = await page.text(`#view-${tab} output`);
    if (tab in rows) assert.equal(Number(told.replace(/[ ,a-z]/g, "")), Math.min(1000, rows[tab]), `${name}, ${tab}: ${told}`);
    await readable(page, `${name}, ${tab}`);
    await page.shot(`${name}-${tab}`);
  }
}

async function checkCapture(browser, path, { dark = false } = {}) {
  const name = basename(path).replace(".xplane.pb", ""), report = ours("report", path), server = await serve(path);
  try {
    const page = await open(browser, server.url, { dark });
    await page.ready();
    await page.waitForNetworkIdle({ idleTime: 150 });
    await checkAnswer(page, name, report);
    await page.shot(`${name}-answer`);
    await page.click("#tab-timeline");
    await drawn(page);
    const causes = causesOf(report.gaps);
    if (causes.length > 0) {
      assert.ok((await pixels(page, "canvas.tracks", causes[0][0])) > 50, `${causes[0][0]} is on the timeline`);
      assert.ok((await pixels(page, "#view-timeline .minimap canvas", causes[0][0])) > 0, `${causes[0][0]} is on the minimap`);
    }
    await readable(page, `${name}, timeline`);
    await page.shot(`${name}-timeline`);
    await page.click("#tab-answer");
    if (causes.length > 0) await checkFinding(page, report);
    await page.shot(`${name}-finding`);
    await checkTables(page, name, report);
    assert.ok(page.requests.every((url) => url.startsWith(server.url)), "no request leaves the page's own address");
    await page.done();
  } finally {
    await server.end();
  }
}

async function checkPhone(browser) {
  const server = await serve(join(CAPTURES, "jax_multi.xplane.pb"));
  try {
    const page = await open(browser, server.url, { width: 390, height: 844 });
    await page.ready();
    for (const tab of TABS) {
      await page.$eval(`#tab-${tab}`, (button) => button.click());
      await drawn(page);
      await readable(page, `phone, ${tab}`);
      await page.shot(`phone-${tab}`);
    }
    await page.done();
  } finally {
    await server.end();
  }
}

export const checks = {
  "a program of torch_xla": (browser) => checkCapture(browser, join(CAPTURES, "torch_denoise.xplane.pb")),
  "eight GPUs, dark": (browser) => checkCapture(browser, join(CAPTURES, "rocm_conv_8gpu.xplane.pb"), { dark: true }),
  "a program of JAX on several devices": (browser) => checkCapture(browser, join(CAPTURES, "jax_multi.xplane.pb")),
  "planes of a TPU": (browser) => checkCapture(browser, join(SCENARIOS, "s22_tpu_v4_like.xplane.pb")),
  "two hosts": (browser) => checkCapture(browser, join(SCENARIOS, "s26_two_hosts")),
  "a phone": checkPhone,
};
