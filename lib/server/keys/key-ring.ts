// Encrypts stored secrets with a key ring, and rotates keys: API keys of connections, and the secret that signs sessions.

import "server-only";
import { createCipheriv, createDecipheriv, createHash, randomBytes, randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { EnvError } from "../env";
import { type KeyStore, type Sealed, type StoredKey, toSecretRecordId } from "../store/connections";
import { type SettingStore } from "../store/settings";
import { type ListSealed } from "../store/store";

/** A new secret is only in memory until `save`. */
export type SecretFile = { path: string; text: string; isNew: boolean; save(): void };

export function openSecretFile(path: string, create: () => string): SecretFile {
  const isNew = !existsSync(path);
  const text = isNew ? create() : readFileSync(path, "utf8").trim();
  if (text === "") throw new Error(`${path} is empty. Delete it, or restore it from your backup.`);
  const save = () => {
    if (!isNew) return;
    if (existsSync(path)) throw new Error(`${path} was just created by another console in this folder. Give each console its own folder.`);
    writeFileSync(path, `${text}\n`, { mode: 0o600, flag: "wx" });
  };
  return { path, text, isNew, save };
}

const KEYS_FILE = "encryption-keys";

export type KeyRing = { encryptionKey: { id: string; secret: Buffer }; decryptionKeys: ReadonlyMap<string, Buffer> };

/** `text` contains ID:KEY pairs separated by commas. The first one encrypts. */
export function parseKeyRing(text: string): KeyRing {
  const entries = text.split(",").map((pair) => {
    const separatorIndex = pair.indexOf(":");
    return { id: pair.slice(0, separatorIndex).trim(), secret: Buffer.from(pair.slice(separatorIndex + 1).trim(), "base64") };
  });
  const [encryptionKey] = entries;
  if (!encryptionKey || entries.some((entry) => entry.id === "" || entry.secret.length !== 32)) {
    throw new EnvError(
      `LIGHTDESK_ENCRYPTION_KEYS, or the file ${KEYS_FILE} in the data folder, must be ID:KEY pairs with 32 bytes in base64 each.`,
    );
  }
  const decryptionKeys = new Map(entries.map((entry) => [entry.id, entry.secret]));
  if (decryptionKeys.size !== entries.length) throw new EnvError("LIGHTDESK_ENCRYPTION_KEYS must use each ID once.");
  return { encryptionKey, decryptionKeys };
}

type OpenedKeyRing = { keyRing: KeyRing; file?: SecretFile };

export function openKeyRing(dataDir: string, configuredKeys: string | undefined): OpenedKeyRing {
  if (configuredKeys !== undefined) return { keyRing: parseKeyRing(configuredKeys) };
  const file = openSecretFile(join(/* turbopackIgnore: true */ dataDir, KEYS_FILE), createKeyPair);
  return { keyRing: parseKeyRing(file.text.replace(/\s+/g, ",")), file };
}

export function createKeyPair(): string {
  return `k-${randomUUID().slice(0, 8)}:${randomBytes(32).toString("base64")}`;
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

export function seal(keyRing: KeyRing, recordId: string, plaintext: string): Sealed {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", keyRing.encryptionKey.secret, iv);
  cipher.setAAD(toAssociatedData(keyRing.encryptionKey.id, recordId));
  const cipherBytes = Buffer.concat([cipher.update(plaintext, "utf8"), cipher.final()]);
  return { ringKeyId: keyRing.encryptionKey.id, ciphertext: Buffer.concat([iv, cipher.getAuthTag(), cipherBytes]).toString("base64url") };
}

/** Undefined if the key ring lacks the key, or if the record was changed or moved. */
export function unseal(keyRing: KeyRing, recordId: string, sealed: Sealed): string | undefined {
  return tryUnseal(keyRing, recordId, sealed)?.text;
}

/** Tries all keys, because the id of a key may have changed. */
function tryUnseal(keyRing: KeyRing, recordId: string, sealed: Sealed): { text: string; key: Buffer } | undefined {
  const bytes = Buffer.from(sealed.ciphertext, "base64url");
  if (bytes.length < IV_BYTES + TAG_BYTES) return undefined;
  for (const key of keyRing.decryptionKeys.values()) {
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(toAssociatedData(sealed.ringKeyId, recordId));
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    try {
      const text = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString("utf8");
      return { text, key };
    } catch {
      // Sealed by another key: try the next one.
    }
  }
  return undefined;
}

/** JSON separates the two ids, so that an id containing a separator cannot imitate another pair. */
function toAssociatedData(ringKeyId: string, recordId: string): Buffer {
  return Buffer.from(writeExactJson([ringKeyId, recordId]));
}

/** `sealedBy` counts the rows after the rotation by key id, and how many of them can't be decrypted. */
export type Rotation = { resealed: number; sealedBy: ReadonlyMap<string, { count: number; unreadable: number }> };

export async function rotateRows(list: ListSealed, keyRing: KeyRing): Promise<Rotation> {
  let resealed = 0;
  for (const { recordId, sealed, reseal } of await list()) {
    const unsealedRecord = tryUnseal(keyRing, recordId, sealed);
    // Compares keys, because another key may have had the same id.
    if (!unsealedRecord || (unsealedRecord.key === keyRing.encryptionKey.secret && sealed.ringKeyId === keyRing.encryptionKey.id)) continue;
    if (await reseal(seal(keyRing, recordId, unsealedRecord.text))) resealed += 1;
  }
  return { resealed, sealedBy: await countSealedRows(list, keyRing) };
}

async function countSealedRows(list: ListSealed, keyRing: KeyRing): Promise<Rotation["sealedBy"]> {
  const sealedBy = new Map<string, { count: number; unreadable: number }>();
  for (const { recordId, sealed } of await list()) {
    const { count, unreadable } = sealedBy.get(sealed.ringKeyId) ?? { count: 0, unreadable: 0 };
    const isUnreadable = tryUnseal(keyRing, recordId, sealed) === undefined;
    sealedBy.set(sealed.ringKeyId, { count: count + 1, unreadable: unreadable + (isUnreadable ? 1 : 0) });
  }
  return sealedBy;
}

/** `sealingKeyIds`: ids of the keys that sealed the unreadable secrets. */
export type SecretCounts = { count: number; unreadable: number; sealingKeyIds: string[] };

export async function countSecrets(lists: readonly ListSealed[], keyRing: KeyRing): Promise<SecretCounts> {
  const countsByKeyId = (await Promise.all(lists.map((list) => countSealedRows(list, keyRing)))).flatMap((counts) => [...counts]);
  const unreadableCounts = countsByKeyId.filter(([, { unreadable }]) => unreadable > 0);
  return {
    count: countsByKeyId.reduce((sum, [, { count }]) => sum + count, 0),
    unreadable: unreadableCounts.reduce((sum, [, { unreadable }]) => sum + unreadable, 0),
    sealingKeyIds: [...new Set(unreadableCounts.map(([id]) => id))],
  };
}

/** Saves a new key ring. Throws if the store contains secrets sealed with an earlier one. */
export function saveKeyRing({ file }: OpenedKeyRing, { unreadable, sealingKeyIds }: SecretCounts): void {
  if (file?.isNew && unreadable > 0)
    throw new Error(
      `The stored secrets were sealed with ${sealingKeyIds.join(", ")}, but there is no key ring. Restore ${file.path} from your backup, or set LIGHTDESK_ENCRYPTION_KEYS.`,
    );
  file?.save();
}

/** Twelve hexadecimal digits of a SHA-256: enough to distinguish keys, too few to guess one. */
export function toFingerprint(apiKey: string): string {
  return createHash("sha256").update(`lightdesk-fingerprint:${apiKey}`).digest("hex").slice(0, 12);
}

export async function storeApiKey(
  keys: KeyStore,
  keyRing: KeyRing,
  entry: { connectionId: string; apiKey: string; now: number },
): Promise<string> {
  const id = randomUUID();
  const fingerprint = toFingerprint(entry.apiKey);
  await keys.put({
    id,
    connectionId: entry.connectionId,
    ...seal(keyRing, toSecretRecordId("api_keys", entry.connectionId, id), entry.apiKey),
    fingerprint,
    createdAt: entry.now,
  });
  return fingerprint;
}

export function decryptApiKey(keyRing: KeyRing, key: StoredKey): string | undefined {
  return unseal(keyRing, toSecretRecordId("api_keys", key.connectionId, key.id), key);
}

const AUTH_SECRET_RECORD = "settings/authSecret";
const sealedSchema = z.object({ ringKeyId: z.string(), ciphertext: z.string() });

/** `localSecret` becomes the shared secret if this is the first console of the database. */
export async function loadSharedSecret(settings: SettingStore, keyRing: KeyRing, localSecret: string): Promise<string> {
  await settings.add("authSecret", writeExactJson(seal(keyRing, AUTH_SECRET_RECORD, localSecret)));
  const sealedSecret = await readSealed(settings);
  const secret = sealedSecret && unseal(keyRing, AUTH_SECRET_RECORD, sealedSecret);
  if (secret === undefined)
    throw new EnvError(
      `This console lacks a key of the other consoles on its database (${sealedSecret?.ringKeyId ?? "none"}). Set the same LIGHTDESK_ENCRYPTION_KEYS on all of them.`,
    );
  return secret;
}

export async function readSharedSecret(settings: SettingStore, keyRing: KeyRing): Promise<string | undefined> {
  const sealedSecret = await readSealed(settings);
  return sealedSecret && unseal(keyRing, AUTH_SECRET_RECORD, sealedSecret);
}

/** The secret as a list of at most one row, for key rotation. */
export function listSealedSecret(settings: SettingStore): ListSealed {
  return async () => {
    const sealed = await readSealed(settings);
    if (!sealed) return [];
    const reseal = (after: Sealed) => settings.replace("authSecret", { before: writeExactJson(sealed), after: writeExactJson(after) });
    return [{ recordId: AUTH_SECRET_RECORD, sealed, reseal }];
  };
}

async function readSealed(settings: SettingStore): Promise<Sealed | undefined> {
  const text = await settings.get("authSecret");
  return text === undefined ? undefined : sealedSchema.parse(JSON.parse(text));
}
