import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { stripVTControlCharacters } from "node:util";

/** @typedef {{ name: string, error: string }} Failure */
/** @typedef {{ name: string, missing?: string }} Unchecked a skipped test, and the program it needs */
/** @typedef {{ passed: number, failed: number, failures: Failure[], unchecked: Unchecked[] }} Results */

/** @param {number} code the exit code @param {string} path the JSON report @returns {Results} */
export function readVitest(code, path) {
  const report = readJson(path);
  const files = report?.testResults ?? [];
  const failures = files.flatMap(({ name: file, message, assertionResults = [] }) => [
    ...(message ? [{ name: toRelative(file), error: message }] : []),
    ...assertionResults
      .filter(({ status }) => status === "failed")
      .map(({ fullName, failureMessages }) => ({ name: `${toRelative(file)} › ${fullName}`, error: failureMessages.join("\n") })),
  ]);
  const unchecked = files.flatMap(({ name: file, assertionResults = [] }) =>
    assertionResults
      .filter(({ status }) => status !== "passed" && status !== "failed")
      .map(({ fullName, meta }) => ({ name: `${toRelative(file)} › ${fullName}`, missing: meta?.missing })),
  );
  return { ...toCounts(code, report?.numPassedTests ?? 0, report?.numFailedTests ?? 0), failures, unchecked };
}

/** @param {number} code the exit code @param {string} path the JSON report @returns {Results} */
export function readPlaywright(code, path) {
  const { config, suites = [], errors = [], stats } = readJson(path) ?? {};
  const runs = suites.flatMap((suite) => listRuns(suite, toRelative(join(config.rootDir, suite.file))));
  const failures = runs.filter(({ error }) => error !== "").map(({ file, title, error }) => ({ name: `${file} › ${title}`, error }));
  return {
    ...toCounts(code, stats?.expected ?? 0, (stats?.unexpected ?? 0) + (stats?.flaky ?? 0)),
    failures: [...errors.map(({ message }) => ({ name: "global error", error: message ?? "" })), ...failures],
    unchecked: runs.filter(({ status }) => status === "skipped").map(({ file, title }) => ({ name: `${file} › ${title}` })),
  };
}

function listRuns({ specs = [], suites = [] }, file) {
  const ownRuns = specs.flatMap(({ title, tests }) =>
    tests.flatMap(({ status, results }) =>
      results.map(({ errors }) => ({
        file,
        title,
        status,
        error: status === "expected" ? "" : errors.map(({ message }) => message ?? "").join("\n"),
      })),
    ),
  );
  return [...ownRuns, ...suites.flatMap((suite) => listRuns(suite, file))];
}

/** For checks without a report: the output, starting at the first error. @param {string} name @param {string} output @returns {Failure} */
export function createFailure(name, output) {
  return { name, error: output.slice(Math.max(0, output.search(/^.*\bErrors?\b/m))) };
}

const MAX_FAILURES = 10;
const MAX_LINES = 30;

/** The first lines of each error. @param {readonly Failure[]} failures */
export function formatFailures(failures) {
  const shownFailures = failures.slice(0, MAX_FAILURES);
  const lines = Math.min(15, Math.floor(MAX_LINES / shownFailures.length) - 1);
  const text = shownFailures.flatMap(({ name, error }) => [
    `FAILED  ${name}`,
    ...getFirstLines(error, lines).map((line) => `        ${line}`),
  ]);
  const hiddenCount = failures.length - shownFailures.length;
  return [...text, ...(hiddenCount > 0 ? [`        and ${hiddenCount} more`] : [])].map((line) => `${line}\n`).join("");
}

/** One line per missing program, and one per test that was skipped for another reason. @param {readonly Unchecked[]} unchecked */
export function formatUnchecked(unchecked) {
  const programs = [...new Set(unchecked.flatMap(({ missing }) => missing ?? []))];
  const countMissing = (program) => unchecked.filter(({ missing }) => missing === program).length;
  const lines = programs.map((program) => `${countMissing(program)} of the tests: ${program} is missing and could not be installed`);
  const otherNames = unchecked.filter(({ missing }) => missing === undefined).map(({ name }) => name);
  const hiddenCount = otherNames.splice(MAX_FAILURES).length;
  return [...lines, ...otherNames, ...(hiddenCount > 0 ? [`and ${hiddenCount} more`] : [])]
    .map((line) => `NOT CHECKED  ${line}\n`)
    .join("");
}

function getFirstLines(error, maxLines) {
  const lines = stripVTControlCharacters(error).split("\n");
  return lines
    .filter((line) => line.trim() !== "")
    .slice(0, maxLines)
    .map((line) => line.slice(0, 240));
}

/** A run that failed without a failed test (a file that does not load, or no report) counts as one failure. */
function toCounts(code, passed, failed) {
  return { passed, failed: code !== 0 && failed === 0 ? 1 : failed };
}

function toRelative(file) {
  return relative(process.cwd(), file);
}

function readJson(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}
