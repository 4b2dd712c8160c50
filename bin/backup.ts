// `npm run backup -- TO [--with-keys]` backs the data folder up while console and service run. A second run takes over what has not
// changed. Ends with 0 if everything is in it, 1 if there is no new backup, 2 if files had been lost on the service's disk before.
import { backUp } from "@/lib/server/backup/backup";
import { versionIn } from "@/lib/server/backup/manifest";
import { readEnv } from "@/lib/server/env";
import { createProgress, describeBackup, fail, readBackupArguments, runCommand } from "./command";

runCommand(async () => {
  const asked = readBackupArguments(["--with-keys"]);
  if (!asked) return fail("Usage: npm run backup -- TO [--with-keys]");
  const { place, options } = asked;
  const env = readEnv();
  const withKeys = options.includes("--with-keys");
  const manifest = await backUp({ env, place, withKeys, version: versionIn(env.root), now: Date.now(), say: createProgress() });
  process.stdout.write(`${describeBackup(manifest)}\n`);
  if (manifest.service?.blobs.elsewhere)
    process.stdout.write(
      "The service's files are in the bucket that LIGHTDESK_BLOBS names, and not in it: keep them by the bucket's own means.\n",
    );
  const needed = manifest.console?.keys ?? [];
  if (needed.length > 0 && !withKeys)
    process.stdout.write(
      `The keys ${needed.join(", ")} are not in it: keep the key ring apart, nothing that is sealed opens without it.\n`,
    );
  if (withKeys) process.stdout.write("The key ring is in it: whoever can read the backup can open every stored API key.\n");
  const lost = manifest.service?.blobs.lost ?? [];
  if (lost.length === 0) return;
  process.stderr.write(`Files missing or damaged on the service's disk and not in it: ${lost.length}, such as ${lost[0]}.\n`);
  process.exitCode = 2;
});
