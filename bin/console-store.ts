// A command on a console's data; the console may run meanwhile. An error is written to stderr and ends the command with code 1.
import { requireStores } from "@/lib/server/backup/copy-stores";
import { type Env, readEnv } from "@/lib/server/env";
import { hasStore, openStore, type Store } from "@/lib/server/store/store";

export function onStore(work: (store: Store, env: Env) => Promise<void>): void {
  openAndRun(work).catch((error: unknown) => fail(error instanceof Error ? error.message : String(error)));
}

export function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

async function openAndRun(work: (store: Store, env: Env) => Promise<void>): Promise<void> {
  const env = readEnv();
  if (env.databaseUrl === undefined && !hasStore(env.dataDir))
    return fail(`LIGHTDESK_DATA_DIR must be the data folder of a console; ${env.dataDir} holds none.`);
  await requireStores(env);
  const store = openStore(env.dataDir, env.databaseUrl);
  try {
    await work(store, env);
  } finally {
    await store.close();
  }
}
