// API keys of connections: sealed when they are given, opened only for a call upstream, shown as a fingerprint.
// Guarantees: a stored key opens only for its own record. Must never: let an opened key leave the server.

import "server-only";
import { createHash, randomUUID } from "node:crypto";
import { type KeyStore, type StoredKey } from "../store/keys";
import { type KeyRing, seal, type SealedRows, unseal } from "./key-ring";

/** Twelve hexadecimal digits of a SHA-256: enough to tell keys apart, too few to find a key. */
export function fingerprintOf(apiKey: string): string {
  return createHash("sha256").update(`lightdesk-fingerprint:${apiKey}`).digest("hex").slice(0, 12);
}

export async function storeApiKey(
  keys: KeyStore,
  ring: KeyRing,
  given: { connectionId: string; apiKey: string; now: number },
): Promise<string> {
  const id = randomUUID();
  const fingerprint = fingerprintOf(given.apiKey);
  await keys.put({
    id,
    connectionId: given.connectionId,
    ...seal(ring, recordOf(id, given.connectionId), given.apiKey),
    fingerprint,
    createdAt: given.now,
  });
  return fingerprint;
}

export function openApiKey(ring: KeyRing, stored: StoredKey): string | undefined {
  return unseal(ring, recordOf(stored.id, stored.connectionId), stored);
}

/** For resealing. */
export function sealedKeys(keys: KeyStore): SealedRows<StoredKey> {
  return {
    list: () => keys.list(),
    recordOf: (stored) => recordOf(stored.id, stored.connectionId),
    sealedOf: (stored) => stored,
    reseal: (stored, after) => keys.reseal(stored, after),
  };
}

/** The connection is part of the record: a row moved to another connection does not open. */
function recordOf(id: string, connectionId: string): string {
  return `api_keys/${connectionId}/${id}`;
}
