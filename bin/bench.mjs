// `npm run bench`: builds what is missing, then prints the figures of docs/benchmarks.md for this machine, as Markdown on stdout.
// Only on loopback, only with processes that it started itself; some minutes. Progress goes to stderr.
import { build } from "esbuild";
import { pathToFileURL } from "node:url";
import { enterProject, ensureBuilt, ensureBundles, root } from "./prepare.mjs";

enterProject();
await ensureBuilt(await ensureBundles());
const outfile = `${root}/dist/bench.mjs`;
await build({
  absWorkingDir: root,
  entryPoints: ["tests/bench/main.ts"],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  packages: "external",
  logLevel: "warning",
});
await import(pathToFileURL(outfile).href);
