// Seals all that is stored sealed again with the first key of the ring, run as dist/rotate-keys.mjs: API keys, and what downloads were
// asked with. The console may run meanwhile: a key that somebody replaces at the same moment keeps what they gave it.
// Guarantees: prints how many it sealed anew; ends with code 1 when the ring could not open one. Must never: print a key or an address.
import { readEnv } from "@/lib/server/env";
import { rotateApiKeys } from "@/lib/server/keys/api-keys";
import { openKeyRing } from "@/lib/server/keys/key-ring";
import { hasStore, openStore } from "@/lib/server/store/store";
import { rotateRequests } from "@/lib/server/tasks/sealed-request";

type Things = readonly [one: string, many: string];
const keys: Things = ["key", "keys"];
const addresses: Things = ["address of a download", "addresses of downloads"];

async function main(): Promise<void> {
  const { dataDir, encryptionKeys } = readEnv();
  if (!hasStore(dataDir)) return fail(`LIGHTDESK_DATA_DIR must be the data folder of a console; ${dataDir} holds none.`);
  const ring = openKeyRing(dataDir, encryptionKeys);
  const store = openStore(dataDir);
  try {
    report(keys, await rotateApiKeys(store.keys, ring), ring.writing.id);
    report(addresses, await rotateRequests(store.downloadTasks, ring), ring.writing.id);
  } finally {
    await store.close();
  }
}

function report(things: Things, { resealed, unreadable }: { resealed: number; unreadable: number }, ringKeyId: string): void {
  process.stdout.write(`${countOf(resealed, things)} sealed anew with ${ringKeyId}.\n`);
  if (unreadable > 0)
    fail(`${countOf(unreadable, things)} could not be opened: the ring lacks what sealed them. They were left as they are.`);
}

function countOf(count: number, [one, many]: Things): string {
  return `${count} ${count === 1 ? one : many}`;
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

main().catch((error: unknown) => fail(error instanceof Error ? error.message : String(error)));
