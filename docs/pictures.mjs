// Runs the demonstrations, and takes a picture of each timeline with its largest gap selected.  See pictures.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { drawn, open, ours, serve, settings, startBrowser, view } from "../tests/web/harness.mjs";

for (let i = 2; i < process.argv.length; i += 2) settings[process.argv[i].slice(2)] = process.argv[i + 1];

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

const browser = await startBrowser();
try {
  for (const name of ["sd21", "sdxl"]) await picture(browser, name);
} finally {
  await browser.close();
}
