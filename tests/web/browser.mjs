// Runs the checks of checks_*.mjs in one browser.  See run.

import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { settings, startBrowser } from "./harness.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));

function readWords(words) {
  const filters = [];
  for (let i = 0; i < words.length; i++) {
    if (words[i] === "--xlaprof") settings.xlaprof = words[++i];
    else if (words[i] === "--out") settings.out = words[++i];
    else filters.push(words[i]);
  }
  return filters;
}

const filters = readWords(process.argv.slice(2));
const files = readdirSync(HERE).filter((name) => /^checks_\w+\.mjs$/.test(name)).sort();
const checks = [];
for (const file of files) checks.push(...Object.entries((await import(join(HERE, file))).checks));
const chosen = checks.filter(([name]) => filters.length === 0 || filters.some((filter) => name.includes(filter)));

let failed = 0;
const browser = await startBrowser();
for (const [name, check] of chosen) {
  const start = performance.now();
  try {
    await check(browser);
    console.log(`ok      ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
  } catch (problem) {
    failed++;
    console.log(`FAILED  ${name}\n    ${String(problem.stack ?? problem).replaceAll("\n", "\n    ")}`);
  }
}
await browser.close();
console.log(`${chosen.length - failed} passed, ${failed} failed; screenshots are in ${settings.out}`);
process.exit(failed || chosen.length === 0 ? 1 : 0);
