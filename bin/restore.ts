// `npm run restore -- FROM`: makes the empty or missing data folder from a backup; with `--check` it only reads every byte of the backup.
import { checkBackup, restore } from "@/lib/server/backup/backup";
import { readEnv } from "@/lib/server/env";
import { createProgress, describeBackup, fail, readBackupArguments, runCommand } from "./command";

runCommand(async () => {
  const asked = readBackupArguments(["--check"]);
  if (!asked) return fail("Usage: npm run restore -- FROM [--check]");
  const { place, options } = asked;
  if (options.includes("--check")) {
    process.stdout.write(`${describeBackup(await checkBackup({ place, say: createProgress() }))}\nEvery byte is as it was.\n`);
    return;
  }
  const env = readEnv();
  const { manifest, missing } = await restore({ env, place, say: createProgress() });
  process.stdout.write(
    `${describeBackup(manifest)}\nRestored into ${env.dataDir}${env.databaseUrl === undefined ? "" : ", and the databases into that of DATABASE_URL"}.\n`,
  );
  if (missing.length > 0)
    process.stdout.write(
      `The keys ${missing.join(", ")} are needed: give them in LIGHTDESK_ENCRYPTION_KEYS, or put the file encryption-keys there, before the first start.\n`,
    );
});
