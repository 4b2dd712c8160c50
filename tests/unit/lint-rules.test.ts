// The lint rules against writes with untrusted keys and against private names.
import { Linter } from "eslint";
import { expect, test } from "vitest";
import config from "@/eslint.config.mjs";
import { asObject } from "@/lib/contract/json/json";

const plugin = config.flatMap((part) => ("plugins" in part && part.plugins?.lightdesk ? [part.plugins.lightdesk] : []))[0];
const languages = config.flatMap((part) => ("languageOptions" in part && part.languageOptions ? [part.languageOptions] : []));
const typescript = languages.find(({ parser }) => asObject(asObject(parser)?.meta)?.name === "typescript-eslint/parser");
const linter = new Linter();
const deniedNames = config.flatMap(({ rules }) => rules?.["id-denylist"] ?? []).filter((name) => name !== "error" && name !== "off");
const lint = (code: string, file = "some.ts") =>
  linter
    .verify(
      code,
      [
        {
          files: ["**/*.ts"],
          languageOptions: typescript ?? {},
          plugins: { lightdesk: plugin ?? {} },
          rules: { "lightdesk/outside-key": "error", "lightdesk/plain-names": "error", "id-denylist": ["error", ...deniedNames] },
        },
      ],
      file,
    )
    .map(({ ruleId }) => ruleId);

test.each([
  "outputs[file.nodeId] ??= {};",
  "(outputs[nodeId] ??= {}).text = [];",
  "const values = {}; for (const [name, value] of Object.entries(body)) values[name] = value;",
  "const counts: Record<string, number> = {}; counts[word] += 1;",
  "const counts: Record<string, number> = {}; counts[word]++;",
  "const all = {}; all[a][b] = 1;",
  'all["__proto__"] = 1;',
  "function set(all: Record<string, string>, key: string) { all[key] = key; }",
  "Object.assign(values, JSON.parse(text));",
  "Object.assign(values, { [name]: value });",
])("reports %s", (code) => {
  expect(lint(code)).toEqual(["lightdesk/outside-key"]);
});

test.each([
  "const list = []; list[at] = 1;",
  "const bytes = new Uint8Array(4); bytes[to] = 1;",
  "function clear(data: Uint8Array, at: number) { data[at] = 0; }",
  "for (let i = from; i < to; i += 1) out[i] = 0;",
  "for (const [index, value] of values.entries()) masked[index] = value;",
  "rows[rows.length - 1] = row;",
  "request.headers[EMBED_PATH_HEADER] = path;",
  'headers["x-request-id"] = id;',
  'Object.assign(style, { flex: "none" });',
  "const made = Object.fromEntries(entries);",
])("accepts %s", (code) => {
  expect(lint(code)).toEqual([]);
});

test.each([
  ["const known = new Set();", "id-denylist"],
  ["const usualChoice = 1;", "lightdesk/plain-names"],
  ["const MOST_THINGS = 100;", "lightdesk/plain-names"],
  ["const { kept } = stored;", "lightdesk/plain-names"],
  ["type Limit = { most: number };", "lightdesk/plain-names"],
  ["function show(kept: string[]) {}", "lightdesk/plain-names"],
  ["const [held] = rows;", "lightdesk/plain-names"],
])("reports the private name in %s", (code, rule) => {
  expect(new Set(lint(code))).toEqual(new Set([rule]));
});

test.each(["job-ledger.ts", "known-connection.ts"])("reports the file name %s", (file) => {
  expect(lint("", file)).toEqual(["lightdesk/plain-names"]);
});
