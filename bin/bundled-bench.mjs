// Bundles a bench of tests/bench and runs it in this process. Only on loopback, only with processes that it starts itself.
// Progress goes to stderr, the figures as Markdown to stdout.
import { build } from "esbuild";
import { pathToFileURL } from "node:url";
import { root } from "./prepare.mjs";

export async function runBench(entry, name) {
  const outfile = `${root}/dist/${name}.mjs`;
  await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    logLevel: "warning",
  });
  await import(pathToFileURL(outfile).href);
}
