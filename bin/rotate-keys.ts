// Seals every stored API key again with the first key of the ring, run as dist/rotate-keys.mjs. The console may run meanwhile: a key
// that somebody replaces at the same moment keeps what they gave it.
// Guarantees: prints how many keys it sealed anew; ends with code 1 when the ring could not open one. Must never: print a key.
import { readEnv } from "@/lib/server/env";
import { rotateApiKeys } from "@/lib/server/keys/api-keys";
import { openKeyRing } from "@/lib/server/keys/key-ring";
import { hasStore, openStore } from "@/lib/server/store/store";

async function main(): Promise<void> {
  const { dataDir, encryptionKeys } = readEnv();
  if (!hasStore(dataDir)) return fail(`LIGHTDESK_DATA_DIR must be the data folder of a console; ${dataDir} holds none.`);
  const ring = openKeyRing(dataDir, encryptionKeys);
  const store = openStore(dataDir);
  try {
    const { resealed, unreadable } = await rotateApiKeys(store.keys, ring);
    process.stdout.write(`${countOf(resealed)} sealed anew with ${ring.writing.id}.\n`);
    if (unreadable > 0) fail(`${countOf(unreadable)} could not be opened: the ring lacks what sealed them. They were left as they are.`);
  } finally {
    await store.close();
  }
}

function countOf(count: number): string {
  return count === 1 ? "1 key" : `${count} keys`;
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

main().catch((error: unknown) => fail(error instanceof Error ? error.message : String(error)));
