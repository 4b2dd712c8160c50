// `npm run conformance -- --base-url URL --api-key KEY`: the contract suite of tests/contract against anyone's deployment.
// Reads only unless `--write` is given; `--help` says the rest. Needs the packages, no build.
import { pathToFileURL } from "node:url";
import { checkNode, enterProject, root } from "./prepare.mjs";
import { ensureInstalled } from "./installed.mjs";

enterProject();
checkNode();
await ensureInstalled(root);
const { build } = await import("esbuild");
const outfile = `${root}/dist/conformance.mjs`;
await build({
  absWorkingDir: root,
  entryPoints: ["tests/contract/conformance.ts"],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  packages: "external",
  logLevel: "warning",
});
await import(pathToFileURL(outfile).href);
