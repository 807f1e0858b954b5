// What the checks of the page share: the browser, servers, pages that record what they ask for and complain of.
//
// Every page fails its check by itself if it asks for anything that is not below the server's own address, if it logs an
// error, or if a script throws.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const { launch } = createRequire(`${process.env.PEERS}/`)("puppeteer-core");
const LIMIT_MS = 20000;

export const TREE = join(dirname(fileURLToPath(import.meta.url)), "../..");
export const CAPTURES = join(TREE, "tests/data/captures");
export const SCENARIOS = join(TREE, "tests/data/scenarios");

export const settings = { xlaprof: join(TREE, "build/xlaprof"), out: join(tmpdir(), "xlaprof-pages") };

export function startBrowser() {
  mkdirSync(settings.out, { recursive: true });
  // Checks run as root in containers, where Chromium's sandbox cannot start.
  const args = process.getuid() === 0 ? ["--no-sandbox"] : [];
  return launch({ executablePath: process.env.CHROMIUM, args, protocolTimeout: 60000 });
}

/** What a command prints as JSON: the other way to the same numbers. */
export function ours(...words) {
  const run = spawnSync(settings.xlaprof, [...words, "--json"], { maxBuffer: 1 << 30 });
  assert.ok(run.status === 0 || run.status === 5, String(run.stderr)); // 5: the capture was read in part
  return JSON.parse(run.stdout);
}

/** `xlaprof view` of a capture: {url, process, told(): its messages, end()}. */
export async function serve(capture, ...options) {
  const program = spawn(settings.xlaprof, ["view", capture, ...options], { stdio: ["ignore", "pipe", "pipe"] });
  let out = "", told = "";
  program.stderr.on("data", (text) => { told += text; });
  const url = await new Promise((resolve, reject) => {
    program.stdout.on("data", (text) => {
      out += text;
      const found = /http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\//.exec(out);
      if (found) resolve(found[0]);
    });
    program.on("exit", (status) => reject(new Error(`xlaprof view ended with status ${status}: ${told}`)));
    setTimeout(() => reject(new Error(`xlaprof view prints no address: ${out} ${told}`)), LIMIT_MS).unref();
  });
  const ended = new Promise((resolve) => program.on("exit", (status, signal) => resolve({ status, signal })));
  return { url, process: program, told: () => told, ended, end: () => { program.kill("SIGINT"); return ended; } };
}

/** A page: puppeteer's, with `problems`, `requests`, and shorter ways to look at it. */
export async function open(browser, url, { width = 1280, height = 720, dark = false, base = url, allowed = null } = {}) {
  const page = await browser.newPage();
  page.setDefaultTimeout(LIMIT_MS);
  page.problems = [];
  page.requests = [];
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
  page.on("request", (request) => {
    page.requests.push(request.url());
    if (!request.url().startsWith(base) && !request.url().startsWith("blob:")) page.problems.push(`asks for ${request.url()}`);
  });
  page.on("pageerror", (error) => page.problems.push(`script: ${error}`));
  page.on("console", (message) => {
    if (["error", "warn"].includes(message.type()) && !allowed?.test(message.text())) page.problems.push(`console: ${message.text()}`);
  });
  await page.goto(url);
  return Object.assign(page, {
    ready: () => page.waitForSelector("body[data-ready]"),
    text: (selector) => page.$eval(selector, (node) => node.innerText),
    texts: (selector) => page.$$eval(selector, (nodes) => nodes.map((node) => node.innerText)),
    until: (test, ...words) => page.waitForFunction(test, { timeout: LIMIT_MS }, ...words),
    shot: (name) => page.screenshot({ path: join(settings.out, `${name}.png`) }),
    done: async () => { assert.deepEqual(page.problems, []); await page.close(); },
  });
}

/** The view in a page's address: {tab, from, to, s, q}. */
export async function view(page) {
  await new Promise((resolve) => setTimeout(resolve, 350)); // the address follows after a moment
  const said = new URLSearchParams(new URL(page.url()).hash.slice(1)), span = /^(-?\d+)-(-?\d+)$/.exec(said.get("t") ?? "");
  return { tab: said.get("tab"), from: span && Number(span[1]), to: span && Number(span[2]), s: said.get("s"), q: said.get("q"), m: said.get("m") };
}

/** Waits until the timeline has drawn what it shows now. */
export async function drawn(page) {
  await page.waitForNetworkIdle({ idleTime: 150 });
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}

/** How many pixels of a canvas have the colour of a variable of the style sheet. */
export function pixels(page, selector, variable) {
  return page.evaluate((selector, variable) => {
    const probe = document.createElement("span");
    probe.style.color = `var(--${variable})`;
    document.body.append(probe);
    const [r, g, b] = getComputedStyle(probe).color.match(/\d+/g).map(Number);
    probe.remove();
    const canvas = document.querySelector(selector), { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let i = 0; i < data.length; i += 4) count += data[i] === r && data[i + 1] === g && data[i + 2] === b && data[i + 3] === 255;
    return count;
  }, selector, variable);
}

/** Fails if texts that a person reads lie over each other, or reach over the page's edge. */
export async function readable(page, where) {
  const found = await page.evaluate(() => {
    const shown = [...document.querySelectorAll("h1, h2, button, dt, dd, p, li, th, label, figcaption, .caption")].filter((node) => node.offsetParent && !node.closest(".rows, .timeline .scroll, [hidden]") && node.innerText.trim());
    const leaves = shown.filter((node) => !shown.some((other) => other !== node && node.contains(other)));
    const boxes = leaves.map((node) => ({ node, box: node.getBoundingClientRect() })).filter(({ box }) => box.width > 1 && box.bottom > 0 && box.top < innerHeight);
    const over = [];
    for (let i = 0; i < boxes.length; i++) {
      for (let k = i + 1; k < boxes.length; k++) {
        const a = boxes[i], b = boxes[k];
        const x = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left), y = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
        const inPanel = a.node.closest("aside, header, .view") !== b.node.closest("aside, header, .view");
        if (x > 2 && y > 4 && !inPanel) over.push(`${a.node.innerText.slice(0, 40)} | ${b.node.innerText.slice(0, 40)}`);
      }
    }
    return { over, wide: document.documentElement.scrollWidth - innerWidth };
  });
  assert.deepEqual(found.over, [], `${where}: texts lie over each other`);
  assert.ok(found.wide <= 0, `${where}: the page is ${found.wide} pixels wider than the screen`);
}
