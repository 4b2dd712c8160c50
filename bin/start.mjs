// `npm start`: installs and builds what is missing, then becomes the console. One process, so a Ctrl-C arrives once.
import { ensureBuilt, ensureBundles, enterProject, load } from "./prepare.mjs";

process.env.NODE_ENV = "production";
process.env.NEXT_TELEMETRY_DISABLED = "1";

try {
  enterProject();
  await ensureBuilt(await ensureBundles());
} catch (error) {
  process.stderr.write(`${error.code === "BAD_SETTING" ? error.message : (error.stack ?? error)}\n`);
  if (error.code === "BAD_SETTING") {
    // The name of the missing setting may be misspelled.
    const { unknownSettings } = await load("settings");
    for (const warning of unknownSettings()) process.stderr.write(`${warning}\n`);
  }
  process.exit(1);
}
await load("console");
