import { randomBytes } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  createKeyPair,
  decryptApiKey,
  openKeyRing,
  parseKeyRing,
  rotateRows,
  seal,
  storeApiKey,
  toFingerprint,
  unseal,
} from "@/lib/server/keys/key-ring";
import { openStore } from "@/lib/server/store/store";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";

const createRingKey = (id: string) => `${id}:${randomBytes(32).toString("base64")}`;

test("unseals text and never returns the same ciphertext twice", () => {
  const ring = parseKeyRing(createKeyPair());
  const [first, second] = [seal(ring, "record", "sk-secret-ä"), seal(ring, "record", "sk-secret-ä")];
  expect(unseal(ring, "record", first)).toBe("sk-secret-ä");
  expect(first.ciphertext).not.toBe(second.ciphertext);
  expect(first.ciphertext).not.toContain("secret");
});

test("doesn't decrypt ciphertext that was moved to another record", () => {
  const ring = parseKeyRing(createKeyPair());
  expect(unseal(ring, "other", seal(ring, "record", "x"))).toBeUndefined();
});

test("doesn't decrypt ciphertext under another key id", () => {
  const secret = randomBytes(32).toString("base64");
  const sealed = seal(parseKeyRing(`a:${secret}`), "record", "x");
  expect(unseal(parseKeyRing(`b:${secret}`), "record", { ...sealed, ringKeyId: "b" })).toBeUndefined();
  expect(unseal(parseKeyRing(`a:${secret}`), "record", sealed)).toBe("x");
});

test("rejects changed and truncated ciphertext", () => {
  const ring = parseKeyRing(createKeyPair());
  const sealed = seal(ring, "record", "some secret");
  const bytes = Buffer.from(sealed.ciphertext, "base64url");
  for (let index = 0; index < bytes.length; index += 1) {
    const changedBytes = Buffer.from(bytes);
    changedBytes.writeUInt8(bytes.readUInt8(index) ^ 1, index);
    expect(unseal(ring, "record", { ...sealed, ciphertext: changedBytes.toString("base64url") })).toBeUndefined();
  }
  for (const length of [0, 12, 27, 28]) {
    expect(unseal(ring, "record", { ...sealed, ciphertext: bytes.subarray(0, length).toString("base64url") })).toBeUndefined();
  }
});

test("decrypts with all keys, encrypts with the first and rejects invalid rings", () => {
  const [oldKey, newKey] = [createRingKey("old"), createRingKey("new")];
  const sealed = seal(parseKeyRing(oldKey), "record", "x");
  const keyRing = parseKeyRing(`${newKey},${oldKey}`);
  expect(unseal(keyRing, "record", sealed)).toBe("x");
  expect(seal(keyRing, "record", "y").ringKeyId).toBe("new");
  expect(() => parseKeyRing("short:YWJj")).toThrow();
  expect(() => parseKeyRing(`${oldKey},${oldKey}`)).toThrow();
});

test("creates an owner-only key file once and reads it afterwards", () => {
  const path = createTemporaryFolder();
  const { keyRing, file } = openKeyRing(path, undefined);
  expect(existsSync(join(path, "encryption-keys"))).toBe(false);
  file?.save();
  expect(openKeyRing(path, undefined).keyRing).toEqual(keyRing);
  expect(statSync(join(path, "encryption-keys")).mode & 0o777).toBe(0o600);
});

test("reseals every key, counts unreadable ones and rejects swapped rows", async () => {
  const store = openStore(createTemporaryFolder());
  await store.migrate();
  const [oldKey, newKey, lostKey] = [createRingKey("old"), createRingKey("new"), createRingKey("lost")];
  const before = parseKeyRing(oldKey);
  for (const [id, ring] of [
    ["a", before],
    ["b", before],
    ["c", parseKeyRing(lostKey)],
  ] as const) {
    await store.connections.create({ id, name: id, baseUrl: "http://x", createdAt: 1 });
    await storeApiKey(store.keys, ring, { connectionId: id, apiKey: `key of ${id}`, now: 1 });
  }
  const after = parseKeyRing(`${newKey},${oldKey}`);
  const sealedBy = new Map([
    ["new", { count: 2, unreadable: 0 }],
    ["lost", { count: 1, unreadable: 1 }],
  ]);
  expect(await rotateRows(store.sealed.apiKeys, after)).toEqual({ resealed: 2, sealedBy });
  expect(await rotateRows(store.sealed.apiKeys, after)).toEqual({ resealed: 0, sealedBy });
  const [a, b] = await Promise.all([store.keys.getByConnection("a"), store.keys.getByConnection("b")]);
  if (!a || !b) throw new Error("An API key is missing.");
  expect(decryptApiKey(parseKeyRing(newKey), a)).toBe("key of a");
  expect(decryptApiKey(after, { ...a, connectionId: "b" })).toBeUndefined();
  expect(decryptApiKey(after, { ...a, ciphertext: b.ciphertext })).toBeUndefined();
  expect(a.fingerprint).toBe(toFingerprint("key of a"));
  expect(a.fingerprint).not.toBe(b.fingerprint);
  await store.close();
});
