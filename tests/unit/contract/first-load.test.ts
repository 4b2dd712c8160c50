import { readdirSync, readFileSync } from "node:fs";
import { build } from "esbuild";
import { expect, it } from "vitest";

const promise = /Free of zod/;
const files = readdirSync("lib/contract", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => `lib/contract/${name}`);
const promising = files.filter((file) => promise.test(readFileSync(file, "utf8")));

it("what promises to be free of zod brings none into a browser", async () => {
  expect(promising.length).toBeGreaterThan(12);
  const { metafile } = await build({
    entryPoints: promising,
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    outdir: "unused",
    logLevel: "silent",
  });
  expect(Object.keys(metafile.inputs).filter((input) => input.includes("node_modules"))).toEqual([]);
});
