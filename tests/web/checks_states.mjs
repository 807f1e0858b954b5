// Captures with little or nothing in them, names that look like markup, addresses that are not right, a server that ends.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CAPTURES, drawn, open, ours, readable, SCENARIOS, serve, settings, TREE } from "./harness.mjs";

const DENOISE = join(CAPTURES, "torch_denoise.xplane.pb");

/** Calls use(folder) with a folder that is removed afterwards. */
async function withFolder(use) {
  const folder = mkdtempSync(join(tmpdir(), "xlaprof-web-"));
  try {
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function withPage(browser, capture, use, options = {}) {
  const server = await serve(capture);
  try {
    const page = await open(browser, server.url, options);
    await page.ready();
    await use(page, server);
    await page.done();
  } finally {
    await server.end();
  }
}

/** Every tab can be looked at, and says why it is empty. */
async function eachTab(page, name) {
  for (const tab of ["timeline", "steps", "gaps", "ops", "names", "counters", "health"]) {
    await page.click(`#tab-${tab}`);
    if (tab !== "timeline") await page.waitForSelector(`#view-${tab}[data-ready]`);
    await drawn(page);
    await readable(page, `${name}, ${tab}`);
    assert.ok(tab === "timeline" || (await page.text(`#view-${tab}`)).length > 40, `${tab} says something`);
    await page.shot(`${name}-${tab}`);
  }
}

async function noEvents(browser) {
  await withFolder(async (folder) => {
    const path = join(folder, "none.xplane.pb");
    writeFileSync(path, Buffer.from([0x22, 2, 0x76, 0x6d])); // XSpace.hostnames: "vm"
    await withPage(browser, path, async (page) => {
      assert.ok((await page.text(".answer .empty")).includes("no events"));
      await page.shot("no-events-answer");
      await eachTab(page, "no-events");
      assert.ok((await page.text("#view-timeline")).includes("no events"));
    });
  });
}

async function hostOnly(browser) {
  const path = join(SCENARIOS, "s14_no_device_plane_but_launches.xplane.pb");
  await withPage(browser, path, async (page) => {
    assert.ok(/no device|No device|only the host/.test(await page.text(".answer")), await page.text(".answer"));
    await page.shot("host-only-answer");
    await eachTab(page, "host-only");
    await page.click("#tab-timeline");
    assert.ok((await page.$$(".labels .track.thread")).length > 0, "the host's threads are there");
  });
}

async function truncated(browser) {
  const path = join(SCENARIOS, "s20_truncated.xplane.pb"), { files } = ours("info", path);
  assert.equal(files[0].status, "truncated");
  await withPage(browser, path, async (page) => {
    assert.ok((await page.text("#notice")).includes(files[0].problem), await page.text("#notice"));
    await page.shot("truncated-answer");
    await eachTab(page, "truncated");
    assert.ok((await page.text("#view-health")).includes("cut off"));
  });
}

/** What cannot be read at all is said in the terminal, and no page is left open. */
async function emptyFile() {
  await withFolder(async (folder) => {
    const path = join(folder, "empty.xplane.pb");
    writeFileSync(path, "");
    const run = spawnSync(settings.xlaprof, ["view", path], { timeout: 20000 });
    assert.equal(run.status, 3);
    assert.ok(run.stderr.includes("empty"), String(run.stderr));
  });
}

async function wrongToken(browser) {
  const server = await serve(DENOISE);
  try {
    const page = await browser.newPage(), wrong = server.url.replace(/[0-9a-f]{32}/, "0".repeat(32));
    const answer = await page.goto(wrong);
    assert.equal(answer.status(), 403);
    const text = await page.$eval("body", (body) => body.innerText);
    assert.ok(text.length > 10 && !text.includes("watermark"), text);
    assert.equal((await page.goto(`${wrong}data/summary`)).status(), 403);
    await page.close();
  } finally {
    await server.end();
  }
}

async function serverEnds(browser) {
  const server = await serve(DENOISE), page = await open(browser, `${server.url}#tab=timeline`, { base: server.url, allowed: /ERR_CONNECTION/ });
  await page.ready();
  await drawn(page);
  assert.deepEqual(await server.end(), { status: 0, signal: null });
  for (let i = 0; i < 4; i++) await page.keyboard.press("w");
  await page.waitForSelector("#notice:not([hidden])");
  assert.ok((await page.text("#notice")).includes("does not answer"));
  await page.shot("server-ended");
  await page.done();
}

async function hostileNames(browser) {
  await withFolder(async (folder) => {
    const path = join(folder, "hostile.xplane.pb"), text = readFileSync(DENOISE).toString("latin1");
    writeFileSync(path, Buffer.from(text.replaceAll("watermark", "<i>\"'&</i").replaceAll("scheduler.step", "<img src=x on>"), "latin1"));
    await withPage(browser, path, async (page) => {
      assert.ok((await page.text(".verdict")).includes("<img src=x on>"));
      await page.click(".finding");
      await page.waitForSelector(".details .gap-words");
      assert.ok((await page.text(".details")).includes("<i>\"'&</i"));
      for (const tab of ["gaps", "ops", "names", "counters"]) {
        await page.click(`#tab-${tab}`);
        await page.waitForSelector(`#view-${tab}[data-ready]`);
      }
      assert.equal((await page.$$("img, main i")).length, 0);
    });
  });
}

/** A proxy that serves the page below a path of its own. */
async function behindAPrefix(browser) {
  const server = await serve(DENOISE), { host, pathname } = new URL(server.url);
  const proxy = createServer((asked, answer) => {
    request(`http://${host}${asked.url.replace("/tools/viewer", "")}`, { headers: asked.headers }, (got) => { answer.writeHead(got.statusCode, got.headers); got.pipe(answer); }).end();
  });
  await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  try {
    const url = `http://127.0.0.1:${proxy.address().port}/tools/viewer${pathname}`, page = await open(browser, url);
    await page.ready();
    assert.ok((await page.text(".verdict")).includes("watermark"));
    await page.done();
  } finally {
    proxy.close();
    await server.end();
  }
}

async function lightAndDark(browser) {
  await withPage(browser, DENOISE, async (page) => {
    const ground = () => page.$eval("body", (body) => getComputedStyle(body).backgroundColor);
    const light = await ground();
    await page.click("#theme");
    assert.notEqual(await ground(), light);
    await page.reload();
    await page.ready();
    assert.notEqual(await ground(), light, "the choice is kept");
    await page.click("#theme");
    assert.equal(await ground(), light);
  });
}

/** The page of `report --html` in the browser: it asks for nothing, and shows the cause that the verdict tells of. */
async function reportPage(browser) {
  await withFolder(async (folder) => {
    const path = join(folder, "report.html"), url = `file://${path}`;
    assert.equal(spawnSync(settings.xlaprof, ["report", DENOISE, "--html", path]).status, 0);
    for (const [name, options] of [["light", {}], ["dark", { dark: true }], ["phone", { width: 390, height: 844 }]]) {
      const page = await open(browser, url, options);
      assert.deepEqual(page.requests, [url]);
      const [bar, host] = await page.$eval("svg.bar", (svg) => [svg, svg.querySelector(".host")].map((node) => node.getBoundingClientRect().width));
      assert.ok(host > bar * 0.7, "211.6 of 272 ms");
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, `${name}: too wide`);
      assert.ok((await page.texts(".verdict code")).includes("watermark") && !(await page.text("main")).includes("`"), "names are set as code");
      const boxes = await page.$$eval(".tree div", (nodes) => nodes.map((node) => ({ text: node.textContent, shown: node.firstChild.offsetWidth > 0, wide: node.clientWidth, whole: node.scrollWidth <= node.clientWidth, end: getComputedStyle(node).textOverflow })));
      assert.ok(boxes.some(({ text }) => text === "decode"));
      assert.ok(boxes.every(({ shown, wide, whole, end }) => (shown ? whole || end === "ellipsis" : wide <= 32)), JSON.stringify(boxes));
      await page.screenshot({ path: join(settings.out, `report-${name}.png`), fullPage: true });
      await page.done();
    }
  });
}

/** The page names every module, so that all are on their way at once. */
async function modulesAreNamed() {
  const page = readFileSync(join(TREE, "web/index.html"), "utf8");
  const named = [...page.matchAll(/modulepreload" href="([\w-]+\.js)"/g)].map((found) => found[1]);
  assert.deepEqual(named, readdirSync(join(TREE, "web")).filter((name) => name.endsWith(".js")).sort());
}

async function earlyAddress(browser) {
  const server = await serve(DENOISE);
  try {
    const page = await open(browser, `${server.url}#tab=nonsense&t=9-1&s=99999.1`, { base: server.url, allowed: /status of 404/ });
    await page.ready();
    assert.equal(await page.text("[role=tab][aria-selected=true]"), "Answer");
    await page.done();
  } finally {
    await server.end();
  }
}

export const checks = {
  "a capture without events": noEvents,
  "a capture of the host alone": hostOnly,
  "a capture that is cut off": truncated,
  "an empty file": emptyFile,
  "a wrong token": wrongToken,
  "a server that ends": serverEnds,
  "names that look like markup": hostileNames,
  "a path before the token": behindAPrefix,
  "light and dark": lightAndDark,
  "the page of report --html": reportPage,
  "all modules are named": modulesAreNamed,
  "an address that says nonsense": earlyAddress,
};
