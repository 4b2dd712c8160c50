// `npm run service`, `rotate-keys`, `members` and `audit`: installs and bundles what is missing, then becomes the command named first.
import { ensureBundles, enterProject, load } from "./prepare.mjs";

try {
  enterProject();
  await ensureBundles();
} catch (error) {
  process.stderr.write(`${error.code === "BAD_SETTING" ? error.message : (error.stack ?? error)}\n`);
  process.exit(1);
}
const [name] = process.argv.splice(2, 1);
await load(name);
