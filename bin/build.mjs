// `npm run build`: what `npm start` would install and build, without starting it.
import { enterProject, ensureBuilt, ensureBundles } from "./prepare.mjs";

try {
  enterProject();
  await ensureBuilt(await ensureBundles());
} catch (error) {
  process.stderr.write(`${error.stack ?? error}\n`);
  process.exit(1);
}
