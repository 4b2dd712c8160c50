// Bundles a program of tests/ and runs it in this process: the benches, and the contract suite as a command.
import { pathToFileURL } from "node:url";
import { root } from "./prepare.mjs";

export async function runBundled(entry, name) {
  // Only now: until the packages are installed there is no esbuild.
  const { build } = await import("esbuild");
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
    // Its only use is to fail where there is no bundler of Next's.
    alias: { "server-only": `${root}/bin/empty.mjs` },
    logLevel: "warning",
  });
  await import(pathToFileURL(outfile).href);
}
