// Builds outdated parts, then runs the program in the same process. `npm start` runs the console.
import { ensureBuilt, ensureBundles, enterProject, loadBundle } from "./prepare.mjs";

const hasProgramName = process.argv[2] !== undefined && !process.argv[2].startsWith("-");
const [name] = hasProgramName ? process.argv.splice(2, 1) : ["console"];
const needsPages = name === "console" || name === "build";
if (name === "console") Object.assign(process.env, { NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" });

try {
  enterProject();
  const sources = await ensureBundles();
  if (needsPages) await ensureBuilt(sources);
} catch (error) {
  const isBadSetting = error.code === "BAD_SETTING";
  process.stderr.write(`${isBadSetting ? error.message : (error.stack ?? error)}\n`);
  if (isBadSetting) {
    const { describeUnknownSettings } = await loadBundle("settings");
    for (const warning of describeUnknownSettings()) process.stderr.write(`${warning}\n`);
  }
  process.exit(1);
}
if (name !== "build") await loadBundle(name);
