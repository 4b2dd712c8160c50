// `npm run doctor [-- --json]` checks the installation, even while a console runs. Exit code 1 if a check fails.
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { readVersion } from "@/lib/server/backup/manifest";
import { failed, type Finding, pass, warn } from "@/lib/server/doctor/findings";
import { checkNetwork, checkOidc } from "@/lib/server/doctor/network";
import { checkProgram, checkStorage } from "@/lib/server/doctor/storage";
import { describeUnknownSettings, EnvError, readEnv } from "@/lib/server/env";
import { getBuildFolder } from "./build/build-folder.mjs";
import { fail, runCommand } from "./command";

async function runChecks(): Promise<Finding[]> {
  const env = readSettings();
  const unknownSettings = describeUnknownSettings().map((text) => warn("settings", text));
  if ("state" in env) return [env, ...unknownSettings];
  const program = { version: readVersion(env.root), build: getBuildFolder(env) };
  return [
    pass("settings", `All settings are valid; the data folder is ${env.dataDir}.`),
    ...unknownSettings,
    ...(await checkProgram(env, program)),
    ...(await checkStorage(env, Date.now())),
    ...(await checkNetwork(env, Date.now)),
    ...(await checkOidc(env, Date.now)),
  ];
}

function readSettings() {
  try {
    return readEnv();
  } catch (error) {
    if (!(error instanceof EnvError)) throw error;
    return failed(
      "settings",
      error.message,
      "Fix this setting (docs/admin/configuration.md lists all settings), then run the doctor again.",
    );
  }
}

const stateLabels = { passed: "ok  ", noted: "note", failed: "FAIL" } as const;

async function main(): Promise<void> {
  const args = process.argv.slice(2);
  if (args.some((arg) => arg !== "--json")) return fail("Usage: npm run doctor [-- --json]");
  const findings = await runChecks();
  const failedCount = findings.filter(({ state }) => state === "failed").length;
  const lines = findings.map(({ check, state, text, remedy }) => `${stateLabels[state]}  ${check}: ${text}${remedy ? ` ${remedy}` : ""}`);
  const summary = failedCount === 0 ? "All checks passed." : `${failedCount} of ${findings.length} checks failed.`;
  process.stdout.write(
    args.includes("--json") ? `${writeExactJson({ ok: failedCount === 0, findings })}\n` : `${[...lines, summary].join("\n")}\n`,
  );
  process.exitCode = failedCount === 0 ? 0 : 1;
}

runCommand(main);
