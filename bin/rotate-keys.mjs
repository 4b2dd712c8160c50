// `npm run rotate-keys`: bundles what is missing, then seals every stored API key with the first encryption key.
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
await import(pathToFileURL(join(root, "dist/rotate-keys.mjs")).href);
