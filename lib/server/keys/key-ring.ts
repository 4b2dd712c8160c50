// The key ring: several keys can read, one writes. From LIGHTDESK_ENCRYPTION_KEYS, or from a file in the data folder that is made once with
// mode 0600.
// Guarantees: every key is 32 bytes; ids are unique. Must never: be logged, or be written anywhere but that file.

import "server-only";
import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { EnvError } from "../env";
import { readOrMakeSecretFile } from "./secret-file";

const FILE = "encryption-keys";

export type KeyRing = { writing: { id: string; secret: Buffer }; readable: ReadonlyMap<string, Buffer> };

/** `text` holds ID:KEY pairs separated by commas; the first one writes. */
export function parseKeyRing(text: string): KeyRing {
  const entries = text.split(",").map((pair) => {
    const at = pair.indexOf(":");
    return { id: pair.slice(0, at).trim(), secret: Buffer.from(pair.slice(at + 1).trim(), "base64") };
  });
  const [writing] = entries;
  if (!writing || entries.some((entry) => entry.id === "" || entry.secret.length !== 32)) {
    throw new EnvError(
      `LIGHTDESK_ENCRYPTION_KEYS, or the file ${FILE} in the data folder, must be ID:KEY pairs with 32 bytes in base64 each.`,
    );
  }
  const readable = new Map(entries.map((entry) => [entry.id, entry.secret]));
  if (readable.size !== entries.length) throw new EnvError("LIGHTDESK_ENCRYPTION_KEYS must not give one ID to two keys.");
  return { writing, readable };
}

export function openKeyRing(dataDir: string, configured: string | undefined): KeyRing {
  if (configured !== undefined) return parseKeyRing(configured);
  return parseKeyRing(readOrMakeSecretFile(join(dataDir, FILE), makeKeyPair).replace(/\s+/g, ","));
}

/** A new ID:KEY pair, for a first key and for rotation. */
export function makeKeyPair(): string {
  return `k-${randomUUID().slice(0, 8)}:${randomBytes(32).toString("base64")}`;
}
