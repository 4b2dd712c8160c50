// Runs `npm run rotate-keys` as a process on a console's data folder.
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { decryptApiKey, parseKeyRing, seal, storeApiKey, unseal } from "@/lib/server/keys/key-ring";
import { toSecretRecordId } from "@/lib/server/store/connections";
import { openRequest, sealRequest } from "@/lib/server/tasks/sealed-request";
import { openTarget, sealTarget } from "@/lib/server/webhooks/sealed-target";
import { createHarness } from "@/tests/support/harness";
import { startProcess } from "@/tests/support/start-process";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";

const createKeyEntry = (id: string) => `${id}:${randomBytes(32).toString("base64")}`;
const [oldKey, currentKey] = [createKeyEntry("old"), createKeyEntry("young")];
const harness = await createHarness({ settings: { LIGHTDESK_ENCRYPTION_KEYS: oldKey } });
await harness.connect("http://127.0.0.1:9", "sk-of-another-service");

async function rotateKeys(keys: string, dataDir = harness.folder) {
  const command = startProcess("dist/rotate-keys.mjs", { LIGHTDESK_DATA_DIR: dataDir, LIGHTDESK_ENCRYPTION_KEYS: keys });
  return { code: await command.exitCode, output: command.output() };
}

test("reseals every key while the console runs; a second run is a no-op", async () => {
  const first = await rotateKeys(`${currentKey},${oldKey}`);
  expect(first).toEqual({
    code: 0,
    output:
      "2 keys resealed with young.\n2 keys sealed by young.\n0 addresses of downloads resealed with young.\n0 keys of host pages resealed with young.\n0 webhooks resealed with young.\n",
  });
  const keys = await harness.console.store.keys.list();
  const openedKeys = keys.map((key) => decryptApiKey(parseKeyRing(currentKey), key));
  expect(openedKeys).toHaveLength(2);
  expect(openedKeys).toContain("sk-of-another-service");
  expect(openedKeys).not.toContain(undefined);
  expect(await rotateKeys(currentKey)).toEqual({ code: 0, output: expect.stringContaining("0 keys resealed with young.\n") });
});

test("reseals download sources so they can be retried without the old key", async () => {
  const { store, now } = harness.console;
  const { memberId } = harness.getViewer("owner");
  const connectionId = await harness.connect("http://127.0.0.1:9", undefined);
  const body = { source_url: "https://example.com/film.bin?token=secret" };
  const lostKeyRing = parseKeyRing(createKeyEntry("lost"));
  for (const [id, ring] of [
    ["kept", parseKeyRing(oldKey)],
    ["lost", lostKeyRing],
  ] as const) {
    const extraRow = { taskId: id, source: "https://example.com/film.bin", word: "created", now: now() };
    await store.downloadTasks.add({ id, connectionId, memberId, sealed: sealRequest(ring, id, body), ...extraRow });
  }
  const { code, output } = await rotateKeys(`${currentKey},${oldKey}`);
  expect([code, output]).toEqual([1, expect.stringContaining("1 address of a download resealed with young.")]);
  expect(output).toContain("1 address of a download sealed by lost can't be opened");
  expect(output).not.toContain("secret");
  const [storedTask, lostTask] = await Promise.all(["kept", "lost"].map((id) => store.downloadTasks.get(id)));
  expect(storedTask && openRequest(parseKeyRing(currentKey), storedTask)).toEqual(body);
  expect(lostTask && openRequest(lostKeyRing, lostTask)).toEqual(body);
  // A request sealed for one download cannot be opened for another.
  expect(storedTask && openRequest(parseKeyRing(currentKey), { ...storedTask, id: "another" })).toBeUndefined();
  await Promise.all(["kept", "lost"].map((id) => store.downloadTasks.remove(id)));
});

test("counts an unreadable key, keeps it and fails the command", async () => {
  const { store, now } = harness.console;
  const lostKeyRing = parseKeyRing(createKeyEntry("lost"));
  const connection = await store.connections.create({ name: "Lost", baseUrl: "http://127.0.0.1:9", createdAt: now() });
  await storeApiKey(store.keys, lostKeyRing, { connectionId: connection.id, apiKey: "sk-lost", now: now() });
  const { code, output } = await rotateKeys(currentKey);
  expect([code, output]).toEqual([1, expect.stringContaining("1 key sealed by lost can't be opened")]);
  const key = await store.keys.getByConnection(connection.id);
  expect(key && decryptApiKey(lostKeyRing, key)).toBe("sk-lost");
});

test("reports a row with the new key's id that can't be decrypted", async () => {
  const { store } = harness.console;
  const [first] = await store.sealed.apiKeys();
  if (!first) throw new Error("no key");
  await first.reseal({ ringKeyId: "young", ciphertext: `${first.sealed.ciphertext.slice(0, -4)}AAAA` });
  const { code, output } = await rotateKeys(currentKey);
  expect([code, output]).toEqual([1, expect.stringContaining("1 key sealed by young can't be opened")]);
});

test("re-encrypts rows of a reused key id only if the ring contains the old key", async () => {
  const { store } = harness.console;
  const before = await store.keys.list();
  const newKey = createKeyEntry("young");
  const firstRun = await rotateKeys(newKey);
  expect([firstRun.code, firstRun.output]).toEqual([1, expect.stringContaining("sealed by young can't be opened")]);
  expect(await store.keys.list()).toEqual(before);
  const formerKey = currentKey.replace("young:", "former:");
  await rotateKeys(`${newKey},${formerKey}`);
  const countOpenable = (ring: string, keys: typeof before) =>
    keys.filter((key) => decryptApiKey(parseKeyRing(ring), key) !== undefined).length;
  expect(countOpenable(newKey, await store.keys.list())).toBe(countOpenable(currentKey, before));
  await rotateKeys(`${currentKey},${newKey.replace("young:", "other:")}`);
});

test("opens and reseals rows of a key with a changed id", async () => {
  const { store } = harness.console;
  const connectionId = await harness.connect("http://127.0.0.1:9", undefined);
  await storeApiKey(store.keys, parseKeyRing(oldKey), { connectionId, apiKey: "sk-renamed", now: 1 });
  const { output } = await rotateKeys(`${currentKey},${oldKey.replace("old:", "renamed:")}`);
  expect(output).toContain("1 key resealed with young.");
  const key = await store.keys.getByConnection(connectionId);
  expect(key && decryptApiKey(parseKeyRing(currentKey), key)).toBe("sk-renamed");
});

test("rejects a folder without a console and creates nothing in it", async () => {
  const folder = createTemporaryFolder();
  const { code, output } = await rotateKeys(currentKey, folder);
  expect([code, output]).toEqual([1, expect.stringContaining("LIGHTDESK_DATA_DIR")]);
  expect(existsSync(join(folder, "console.sqlite"))).toBe(false);
});

test("reseals both secrets of a host page, and a webhook's address and secret", async () => {
  const { store, now } = harness.console;
  const ring = parseKeyRing(oldKey);
  const recordId = toSecretRecordId("embed_hosts", "0123456789abcdef01");
  const sealText = (text: string) => seal(ring, recordId, text);
  const body = { name: "Portal", connection: null, role: "viewer", guests: false, jwksUrl: null } as const;
  const hostSecrets = { sealed: sealText("present"), old: { sealed: sealText("before"), until: now() }, keptBy: undefined };
  await store.embedHosts.create("0123456789abcdef01", { ...body, origins: [], pages: [] }, hostSecrets, now());
  const [id, target] = ["wh_1", { url: "https://example.com/hook", secret: "whsec_c2VjcmV0" }];
  const connectionId = await harness.connect("http://127.0.0.1:9", undefined);
  const webhookFields = { name: "Receiver", origin: "https://example.com", format: "standard" as const, events: ["job.failed" as const] };
  const webhookState = { includesPrompts: false, isEnabled: false, oldUntil: undefined, createdAt: now() };
  await store.webhooks.create({ id, connectionId, ...webhookFields, ...webhookState, sealed: sealTarget(ring, id, target) });

  const { output } = await rotateKeys(`${currentKey},${oldKey}`);
  expect(output).toContain("2 keys of host pages resealed with young.");
  expect(output).toContain("1 webhook resealed with young.");
  const host = await store.embedHosts.get("0123456789abcdef01");
  const secrets = [host?.sealed, host?.old?.sealed].map((sealed) => sealed && unseal(parseKeyRing(currentKey), recordId, sealed));
  expect(secrets).toEqual(["present", "before"]);
  const webhook = await store.webhooks.get(id);
  expect(webhook && openTarget(parseKeyRing(currentKey), webhook)).toEqual(target);
  // A target sealed for one webhook can't be opened for another.
  expect(webhook && openTarget(parseKeyRing(currentKey), { ...webhook, id: "wh_2" })).toBeUndefined();
});
