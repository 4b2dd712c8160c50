// `npm run restore -- FROM` restores a backup into an empty data folder. `--check` only verifies the backup.
import { checkBackup, restore } from "@/lib/server/backup/backup";
import { readEnv } from "@/lib/server/env";
import { createProgress, describeBackup, fail, readBackupArguments, runCommand } from "./command";

runCommand(async () => {
  const args = readBackupArguments(["--check"]);
  if (!args) return fail("Usage: npm run restore -- FROM [--check]");
  const { folder, options } = args;
  if (options.includes("--check")) {
    process.stdout.write(`${describeBackup(await checkBackup({ folder, logProgress: createProgress() }))}\nEvery file is intact.\n`);
    return;
  }
  const env = readEnv();
  const { manifest, missingKeyIds } = await restore({ env, folder, logProgress: createProgress() });
  process.stdout.write(
    `${describeBackup(manifest)}\nRestored into ${env.dataDir}${env.databaseUrl === undefined ? "" : ", with the databases in DATABASE_URL"}.\n`,
  );
  if (missingKeyIds.length > 0)
    process.stdout.write(
      `Before the first start, set the keys ${missingKeyIds.join(", ")} in LIGHTDESK_ENCRYPTION_KEYS, or copy the file encryption-keys into that folder.\n`,
    );
});
