// `npm test [-- NAMES]`: runs the checks, and ends with the beginning of each error, what was not checked, and `N passed, N failed`.
import { mkdirSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { ensureBrowser } from "./browser.mjs";
import { checks } from "./checks/checks.mjs";
import { makeTestFolder } from "./checks/test-folder.mjs";
import { beginnings, failureOf, notChecked } from "./checks/test-results.mjs";
import { ensureBundles, enterProject } from "./prepare.mjs";
import { run } from "./run.mjs";

const began = performance.now();
const asked = process.argv.slice(2);
const totals = { passed: 0, failed: 0 };
const failures = [];
const unchecked = [];

try {
  enterProject();
  await ensureBundles({ withDevelopment: true });
  rmSync("test-results", { recursive: true, force: true });
  mkdirSync("test-results");
  const chosen = checks.filter(({ name }) => asked.length === 0 || asked.some((word) => name.includes(word)));
  process.env.TMPDIR = makeTestFolder();
  // Installed while other checks compute.
  const browser = chosen.some(({ name }) => name === "browser") ? ensureBrowser() : Promise.resolve();
  // The error is reported when the browser tests would begin.
  browser.catch(() => undefined);
  await runAll(chosen, browser);
} catch (error) {
  process.stdout.write(`${error.stack ?? error}\n`);
  totals.failed += 1;
}
process.stdout.write(
  `${beginnings(failures)}${notChecked(unchecked)}${seconds(began)} in all\n${totals.passed} passed, ${totals.failed} failed\n`,
);
process.exitCode ||= totals.failed === 0 ? 0 : 1;

async function runAll(chosen, browser) {
  const waiting = [...chosen];
  const running = new Map();
  const width = Math.min(2, availableParallelism());
  const open = (name) => waiting.some((check) => check.name === name) || running.has(name);
  const mayStart = (check) => !check.after?.some(open) && !(check.waits && [...running.values()].some(({ waits }) => waits));

  while (waiting.length > 0 || running.size > 0) {
    for (let next; running.size < width && (next = waiting.find(mayStart));) {
      const check = next;
      waiting.splice(waiting.indexOf(check), 1);
      running.set(check.name, { waits: check.waits, done: runOne(check, browser).then(() => running.delete(check.name)) });
    }
    await Promise.race([...running.values()].map(({ done }) => done));
    if (process.exitCode) return;
  }
}

async function runOne({ name, command: [file, ...args], env, givesWay, read }, browser) {
  if (name === "browser") await browser;
  const started = performance.now();
  // Ignores a base path in the caller's environment: checks use the build without one.
  const settings = { ...process.env, LIGHTDESK_BASE_PATH: "", ...env, NEXT_TELEMETRY_DISABLED: "1", FORCE_COLOR: "0" };
  const { code, output } = await run(file, args, { env: settings, givesWay });
  const { passed, failed, slowest, failures: own, unchecked: left } = read?.(code) ?? readByItself(code);
  totals.passed += passed;
  totals.failed += failed;
  unchecked.push(...left);
  if (failed > 0) failures.push(...(own.length > 0 ? own : [failureOf(name, output)]));
  if (failed > 0) process.stdout.write(`\n--- ${name} ---\n${output.trimEnd()}\n--- end of ${name} ---\n\n`);
  process.stdout.write(
    `${failed > 0 ? "FAILED" : "ok    "}  ${name}  (${seconds(started)}${read ? `, ${passed} passed, ${failed} failed` : ""})\n`,
  );
  for (const { file, ms } of slowest) process.stdout.write(`        ${(ms / 1000).toFixed(1).padStart(5)} s  ${file}\n`);
}

function readByItself(code) {
  return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, slowest: [], failures: [], unchecked: [] };
}

function seconds(since) {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
