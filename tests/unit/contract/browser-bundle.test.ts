import { readdirSync } from "node:fs";
import { build } from "esbuild";
import { expect, it } from "vitest";

const entryPoints = ["components", "lib/browser"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).flatMap((name) => (/\.tsx?$/.test(name) ? `${folder}/${name}` : [])),
);

it("bundles no zod in browser code", async () => {
  const { metafile } = await build({
    entryPoints,
    bundle: true,
    splitting: true,
    packages: "external",
    write: false,
    metafile: true,
    format: "esm",
    outdir: "unused",
    logLevel: "silent",
  });
  const inputs = Object.entries(metafile.inputs);
  expect(inputs.length).toBeGreaterThan(300);
  const withZod = inputs.filter(([, { imports }]) => imports.some(({ path }) => /^zod(\/|$)/.test(path)));
  expect(withZod.map(([file]) => file)).toEqual([]);
});
