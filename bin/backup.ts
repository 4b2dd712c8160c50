// `npm run backup -- TO [--with-keys]`. Repeated runs are incremental. Exit codes: 0 complete, 1 no backup, 2 missing service files.
import { backUp } from "@/lib/server/backup/backup";
import { readVersion } from "@/lib/server/backup/manifest";
import { readEnv } from "@/lib/server/env";
import { formatCount } from "@/lib/shared/text";
import { createProgress, describeBackup, fail, readBackupArguments, runCommand } from "./command";

runCommand(async () => {
  const args = readBackupArguments(["--with-keys"]);
  if (!args) return fail("Usage: npm run backup -- TO [--with-keys]");
  const { folder, options } = args;
  const env = readEnv();
  const withKeys = options.includes("--with-keys");
  const manifest = await backUp({
    env,
    folder,
    withKeys,
    version: readVersion(env.root),
    now: Date.now(),
    logProgress: createProgress(),
  });
  process.stdout.write(`${describeBackup(manifest)}\n`);
  if (manifest.service?.blobs.elsewhere)
    process.stdout.write("The service's files are in the bucket of LIGHTDESK_BLOBS, not in the backup. Back up the bucket separately.\n");
  const requiredKeys = manifest.console?.keys ?? [];
  if (requiredKeys.length > 0 && !withKeys)
    process.stdout.write(
      `The backup does not contain the keys ${requiredKeys.join(", ")}. Store the key ring separately: sealed secrets can't be opened without it.\n`,
    );
  if (withKeys) process.stdout.write("The backup contains the key ring: anyone who can read it can open every stored API key.\n");
  const lostFiles = manifest.service?.blobs.lost ?? [];
  if (lostFiles.length === 0) return;
  process.stderr.write(
    `${formatCount(lostFiles.length, "file is", "files are")} missing or damaged on the service's disk and not in the backup, such as ${lostFiles[0]}.\n`,
  );
  process.exitCode = 2;
});
