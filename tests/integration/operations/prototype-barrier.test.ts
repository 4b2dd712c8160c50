// Bundled processes treat `__proto__` as an ordinary key, which prevents prototype pollution.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { entries } from "@/bin/build/bundle.mjs";

const execute = promisify(execFile);

it.each(Object.keys(entries))("removes the __proto__ accessor before the code of dist/%s.mjs", (name) => {
  const [firstLine = ""] = readFileSync(`dist/${name}.mjs`, "utf8").split("\n");
  expect(firstLine).toContain("delete Object.prototype.__proto__");
});

it("confines a prototype pollution attempt to the written object", async () => {
  const attack = 'const all = {}; const id = "__proto__"; (all[id] ??= {}).isPolluted = true;';
  const program = `import "./dist/settings.mjs"; ${attack} console.log(JSON.stringify([{}.isPolluted ?? null, Object.keys(all)]));`;
  const { stdout } = await execute(process.execPath, ["--input-type=module", "-e", program]);
  expect(JSON.parse(stdout)).toEqual([null, ["__proto__"]]);
});
