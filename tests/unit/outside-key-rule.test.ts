// The lint rule that finds writes by a key from outside, which may lead to a prototype.
import { Linter } from "eslint";
import { expect, test } from "vitest";
import config from "@/eslint.config.mjs";
import { objectOf } from "@/lib/contract/json/json";

const plugin = config.flatMap((part) => ("plugins" in part && part.plugins?.lightdesk ? [part.plugins.lightdesk] : []))[0];
const languages = config.flatMap((part) => ("languageOptions" in part && part.languageOptions ? [part.languageOptions] : []));
const typescript = languages.find(({ parser }) => objectOf(objectOf(parser)?.meta)?.name === "typescript-eslint/parser");
const linter = new Linter();
const found = (code: string) =>
  linter
    .verify(
      code,
      [
        {
          files: ["**/*.ts"],
          languageOptions: typescript ?? {},
          plugins: { lightdesk: plugin ?? {} },
          rules: { "lightdesk/outside-key": "error" },
        },
      ],
      "some.ts",
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
  "Object.assign(known, JSON.parse(text));",
  "Object.assign(known, { [name]: value });",
])("reports %s", (code) => {
  expect(found(code)).toEqual(["lightdesk/outside-key"]);
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
  expect(found(code)).toEqual([]);
});
