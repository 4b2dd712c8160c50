import { randomBytes } from "node:crypto";
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import {
  createKeyPair,
  openApiKey,
  openKeyRing,
  parseKeyRing,
  rotateRows,
  seal,
  storeApiKey,
  toFingerprint,
  unseal,
} from "@/lib/server/keys/key-ring";
import { openStore } from "@/lib/server/store/store";
import { temporaryFolder } from "@/tests/support/temporary-folder";

const pair = (id: string) => `${id}:${randomBytes(32).toString("base64")}`;
const folders: string[] = [];
const folder = () => {
  const folder = temporaryFolder();
  folders.push(folder);
  return folder;
};
afterEach(() => folders.splice(0).forEach((path) => rmSync(path, { recursive: true, force: true })));

test("opens sealed text and never seals alike twice", () => {
  const ring = parseKeyRing(createKeyPair());
  const [first, two] = [seal(ring, "record", "sk-secret-ä"), seal(ring, "record", "sk-secret-ä")];
  expect(unseal(ring, "record", first)).toBe("sk-secret-ä");
  expect(first.ciphertext).not.toBe(two.ciphertext);
  expect(first.ciphertext).not.toContain("secret");
});

test("ciphertext that was moved to another record does not open", () => {
  const ring = parseKeyRing(createKeyPair());
  expect(unseal(ring, "other", seal(ring, "record", "x"))).toBeUndefined();
});

test("doesn't decrypt ciphertext under another key id", () => {
  const secret = randomBytes(32).toString("base64");
  const sealed = seal(parseKeyRing(`a:${secret}`), "record", "x");
  expect(unseal(parseKeyRing(`b:${secret}`), "record", { ...sealed, ringKeyId: "b" })).toBeUndefined();
  expect(unseal(parseKeyRing(`a:${secret}`), "record", sealed)).toBe("x");
});

test("rejects any changed byte and truncated text", () => {
  const ring = parseKeyRing(createKeyPair());
  const sealed = seal(ring, "record", "some secret");
  const bytes = Buffer.from(sealed.ciphertext, "base64url");
  for (let at = 0; at < bytes.length; at += 1) {
    const changedBytes = Buffer.from(bytes);
    changedBytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    expect(unseal(ring, "record", { ...sealed, ciphertext: changedBytes.toString("base64url") })).toBeUndefined();
  }
  for (const length of [0, 12, 27, 28]) {
    expect(unseal(ring, "record", { ...sealed, ciphertext: bytes.subarray(0, length).toString("base64url") })).toBeUndefined();
  }
});

test("reads with all keys, writes with the first and refuses bad rings", () => {
  const [old, young] = [pair("old"), pair("young")];
  const sealed = seal(parseKeyRing(old), "record", "x");
  const keyRing = parseKeyRing(`${young},${old}`);
  expect(unseal(keyRing, "record", sealed)).toBe("x");
  expect(seal(keyRing, "record", "y").ringKeyId).toBe("young");
  expect(() => parseKeyRing("short:YWJj")).toThrow();
  expect(() => parseKeyRing(`${old},${old}`)).toThrow();
});

test("creates the key file once, owner-only, and reads it later", () => {
  const path = folder();
  const first = openKeyRing(path, undefined);
  expect(openKeyRing(path, undefined).writing.secret.equals(first.writing.secret)).toBe(true);
  expect(statSync(join(path, "encryption-keys")).mode & 0o777).toBe(0o600);
});

test("reseals every key, counts unreadable ones and rejects swapped rows", async () => {
  const store = openStore(folder());
  await store.migrate();
  const [old, young, lostKey] = [pair("old"), pair("young"), pair("lost")];
  const before = parseKeyRing(old);
  for (const [id, ring] of [
    ["a", before],
    ["b", before],
    ["c", parseKeyRing(lostKey)],
  ] as const) {
    await store.connections.create({ id, name: id, baseUrl: "http://x", createdAt: 1 });
    await storeApiKey(store.keys, ring, { connectionId: id, apiKey: `key of ${id}`, now: 1 });
  }
  const after = parseKeyRing(`${young},${old}`);
  const sealedBy = new Map([
    ["young", { count: 2, unreadable: 0 }],
    ["lost", { count: 1, unreadable: 1 }],
  ]);
  expect(await rotateRows(store.sealed.apiKeys, after)).toEqual({ resealed: 2, sealedBy });
  expect(await rotateRows(store.sealed.apiKeys, after)).toEqual({ resealed: 0, sealedBy });
  const [a, b] = await Promise.all([store.keys.getOf("a"), store.keys.getOf("b")]);
  if (!a || !b) throw new Error("a key is gone");
  expect(openApiKey(parseKeyRing(young), a)).toBe("key of a");
  expect(openApiKey(after, { ...a, connectionId: "b" })).toBeUndefined();
  expect(openApiKey(after, { ...a, ciphertext: b.ciphertext })).toBeUndefined();
  expect(a.fingerprint).toBe(toFingerprint("key of a"));
  expect(a.fingerprint).not.toBe(b.fingerprint);
  await store.close();
});
