// `npm run build`: installs and builds what `npm start` would, without starting it.
import { ensureBuilt, ensureBundles, enterProject } from "./prepare.mjs";

try {
  enterProject();
  await ensureBuilt(await ensureBundles());
} catch (error) {
  process.stderr.write(`${error.code === "BAD_SETTING" ? error.message : (error.stack ?? error)}\n`);
  process.exit(1);
}
