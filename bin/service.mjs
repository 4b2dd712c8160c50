// `npm run service`: installs and bundles what is missing, then becomes the stand-alone service or one of its commands.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { enterProject, ensureBundles, root } from "./prepare.mjs";

try {
  enterProject();
  await ensureBundles();
} catch (error) {
  process.stderr.write(`${error.code === "BAD_SETTING" ? error.message : (error.stack ?? error)}\n`);
  process.exit(1);
}
await import(pathToFileURL(join(root, "dist/service.mjs")).href);
