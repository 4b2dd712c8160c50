// Helpers for commands that use a data folder. Errors go to stderr, with exit code 1.
import { resolve } from "node:path";
import { requireStores } from "@/lib/server/backup/backup";
import { type Manifest } from "@/lib/server/backup/manifest";
import { type Env, readEnv } from "@/lib/server/env";
import { hasStore, openStore, type Store } from "@/lib/server/store/store";
import { isFullDisk } from "@/lib/shared/error-codes";
import { formatCount } from "@/lib/shared/text";

const PROGRESS_INTERVAL_MS = 2000;

export function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

export function runCommand(main: () => Promise<void>): void {
  main().catch((error: unknown) => {
    if (isFullDisk(error)) fail("The disk is full. Free some space and run the command again.");
    else fail(error instanceof Error ? error.message : String(error));
  });
}

export function runOnStore(work: (store: Store, env: Env) => Promise<void>): void {
  runCommand(async () => {
    const env = readEnv();
    if (env.databaseUrl === undefined && !hasStore(env.dataDir))
      return fail(`LIGHTDESK_DATA_DIR must be the data folder of a console (${env.dataDir} is not).`);
    await requireStores(env);
    const store = openStore(env.dataDir, env.databaseUrl);
    try {
      await work(store, env);
    } finally {
      await store.close();
    }
  });
}

/** Resolves relative paths from the caller's folder, because npm changes into the project's folder. */
export function resolveFromCaller(path: string): string {
  return resolve(process.env.INIT_CWD ?? ".", path);
}

export function readBackupArguments(allowedOptions: readonly string[]): { folder: string; options: string[] } | undefined {
  const args = process.argv.slice(2);
  const options = args.filter((arg) => arg.startsWith("--"));
  const [folder, ...extraFolders] = args.filter((arg) => !arg.startsWith("--"));
  if (folder === undefined || extraFolders.length > 0 || options.some((option) => !allowedOptions.includes(option))) return undefined;
  return { folder: resolveFromCaller(folder), options };
}

export function createProgress(): (text: string) => void {
  let lastShownMs = Date.now();
  return (text) => {
    if (Date.now() - lastShownMs < PROGRESS_INTERVAL_MS) return;
    lastShownMs = Date.now();
    process.stderr.write(`${text}\n`);
  };
}

export function describeBackup({ version, madeAt, console: consoleContents, service }: Manifest): string {
  const rows = Object.entries({ ...consoleContents?.rows, ...service?.rows }).filter(([table]) => table !== "blobs");
  const files = service ? [`${formatCount(service.blobs.count, "file")} of ${(service.blobs.bytes / 1024 ** 2).toFixed(1)} MiB`] : [];
  return `Backup of ${madeAt} by version ${version}: ${[...rows.map(([table, count]) => `${table.replaceAll("_", " ")}: ${count}`), ...files].join(", ")}.`;
}
