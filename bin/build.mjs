// `npm run build`: installs and builds what `npm start` would, without starting it.
import { ensureBuilt, ensureBundles, enterProject, load } from "./prepare.mjs";

try {
  enterProject();
  const sources = await ensureBundles();
  const { readEnv } = await load("settings");
  await ensureBuilt(sources, readEnv().basePath);
} catch (error) {
  process.stderr.write(`${error.code === "BAD_SETTING" ? error.message : (error.stack ?? error)}\n`);
  process.exit(1);
}
