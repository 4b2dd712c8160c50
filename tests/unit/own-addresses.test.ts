// The lint rule that finds addresses which leave the base path or contain it twice.
import { Linter } from "eslint";
import { expect, test } from "vitest";
import config from "@/eslint.config.mjs";

const [rule] = config.flatMap((part) => {
  const found = "rules" in part ? part.rules?.["no-restricted-syntax"] : undefined;
  return Array.isArray(found) ? [found] : [];
});
const linter = new Linter();
const found = (code: string) =>
  linter
    .verify(code, [
      {
        languageOptions: { parserOptions: { ecmaFeatures: { jsx: true } } },
        rules: { "no-restricted-syntax": ["error", ...(rule ?? []).slice(1)] },
      },
    ])
    .map(({ message }) => message);

test.each([
  'fetch("/api/jobs")',
  "fetch(`/samples/${name}.json`)",
  'fetch(withQuery("/api/jobs", {}))',
  'window.location.assign("/sign-in")',
  'window.location.href = "/sign-in"',
  'window.history.replaceState(null, "", "/jobs")',
  'window.open("/jobs")',
  'request.open("POST", `/api/${path}`)',
  'new EventSource("/api/events")',
  'new Worker("/worker.js")',
  'new URL("/api/view", location.origin)',
  "link.href = `/api/archive/${id}`",
  '<a href="/api/view" />',
  "<a href={`/jobs/${id}`} />",
  '<a href={isOpen ? "/jobs" : undefined} />',
  '<img src={withQuery("/api/view", {})} />',
  '<Picture src="/samples/one.webp" />',
])("without the base path: %s", (code) => {
  expect(found(code)).toEqual([expect.stringContaining("Browsers need the base path here")]);
});

test.each(['callApi(apiPath("/api/jobs"))', 'router.push(apiPath("/jobs"))', '<Link href={apiPath("/jobs")} />'])("twice: %s", (code) => {
  expect(found(code)).toEqual([expect.stringContaining("without apiPath")]);
});

test.each([
  'fetch(apiPath("/api/jobs"))',
  'callApi("/api/jobs")',
  'router.replace("/settings")',
  '<Link href="/jobs" />',
  '<a href="#content" />',
  '<a href={apiPath("/api/view")} />',
  'new URL("./worker.ts", import.meta.url)',
  'text.replace("/", "-")',
])("as it should be: %s", (code) => {
  expect(found(code)).toEqual([]);
});
