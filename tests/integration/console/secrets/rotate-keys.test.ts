// Runs `npm run rotate-keys` as a process on a console's data folder.
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openApiKey, parseKeyRing, seal, storeApiKey, unseal } from "@/lib/server/keys/key-ring";
import { toSecretRecordId } from "@/lib/server/store/connections";
import { openRequest, sealRequest } from "@/lib/server/tasks/sealed-request";
import { openTarget, sealTarget } from "@/lib/server/webhooks/sealed-target";
import { createHarness } from "@/tests/support/harness";
import { startProcess } from "@/tests/support/start-process";
import { temporaryFolder } from "@/tests/support/temporary-folder";

const pair = (id: string) => `${id}:${randomBytes(32).toString("base64")}`;
const [old, young] = [pair("old"), pair("young")];
const harness = await createHarness({ settings: { LIGHTDESK_ENCRYPTION_KEYS: old } });
await harness.connect("http://127.0.0.1:9", "sk-of-another-service");

async function rotate(keys: string, dataDir = harness.folder) {
  const command = startProcess("dist/rotate-keys.mjs", { LIGHTDESK_DATA_DIR: dataDir, LIGHTDESK_ENCRYPTION_KEYS: keys });
  return { code: await command.ended, output: command.output() };
}

test("reseals every key beside a running console and is a no-op the second time", async () => {
  const first = await rotate(`${young},${old}`);
  expect(first).toEqual({
    code: 0,
    output:
      "2 keys resealed with young.\n2 keys sealed by young.\n0 addresses of downloads resealed with young.\n0 keys of host pages resealed with young.\n0 webhooks resealed with young.\n",
  });
  const keys = await harness.console.store.keys.list();
  const openedKeys = keys.map((key) => openApiKey(parseKeyRing(young), key));
  expect(openedKeys).toHaveLength(2);
  expect(openedKeys).toContain("sk-of-another-service");
  expect(openedKeys).not.toContain(undefined);
  expect(await rotate(young)).toEqual({ code: 0, output: expect.stringContaining("0 keys resealed with young.\n") });
});

test("reseals download sources so they can be retried without the old key", async () => {
  const { store, now } = harness.console;
  const { memberId } = harness.viewerOf("owner");
  const connectionId = await harness.connect("http://127.0.0.1:9", undefined);
  const body = { source_url: "https://example.com/film.bin?token=secret" };
  const lostKeyRing = parseKeyRing(pair("lost"));
  for (const [id, ring] of [
    ["kept", parseKeyRing(old)],
    ["lost", lostKeyRing],
  ] as const) {
    const extraRow = { taskId: id, source: "https://example.com/film.bin", word: "created", now: now() };
    await store.downloadTasks.add({ id, connectionId, memberId, sealed: sealRequest(ring, id, body), ...extraRow });
  }
  const { code, output } = await rotate(`${young},${old}`);
  expect([code, output]).toEqual([1, expect.stringContaining("1 address of a download resealed with young.")]);
  expect(output).toContain("1 address of a download sealed by lost can't be opened");
  expect(output).not.toContain("secret");
  const [storedTask, left] = await Promise.all(["kept", "lost"].map((id) => store.downloadTasks.get(id)));
  expect(storedTask && openRequest(parseKeyRing(young), storedTask)).toEqual(body);
  expect(left && openRequest(lostKeyRing, left)).toEqual(body);
  // A request sealed for one download cannot be opened for another.
  expect(storedTask && openRequest(parseKeyRing(young), { ...storedTask, id: "another" })).toBeUndefined();
  await Promise.all(["kept", "lost"].map((id) => store.downloadTasks.remove(id)));
});

test("counts an unreadable key, keeps it and fails the command", async () => {
  const { store, now } = harness.console;
  const lostKeyRing = parseKeyRing(pair("lost"));
  const connection = await store.connections.create({ name: "Lost", baseUrl: "http://127.0.0.1:9", createdAt: now() });
  await storeApiKey(store.keys, lostKeyRing, { connectionId: connection.id, apiKey: "sk-lost", now: now() });
  const { code, output } = await rotate(young);
  expect([code, output]).toEqual([1, expect.stringContaining("1 key sealed by lost can't be opened")]);
  const key = await store.keys.getOf(connection.id);
  expect(key && openApiKey(lostKeyRing, key)).toBe("sk-lost");
});

test("reports a row with the new key's id that can't be decrypted", async () => {
  const { store } = harness.console;
  const [first] = await store.sealed.apiKeys();
  if (!first) throw new Error("no key");
  await first.reseal({ ringKeyId: "young", ciphertext: `${first.sealed.ciphertext.slice(0, -4)}AAAA` });
  const { code, output } = await rotate(young);
  expect([code, output]).toEqual([1, expect.stringContaining("1 key sealed by young can't be opened")]);
});

test("reseals rows of an earlier key with the same id, only if the ring has that key", async () => {
  const { store } = harness.console;
  const before = await store.keys.list();
  const newKey = pair("young");
  const alone = await rotate(newKey);
  expect([alone.code, alone.output]).toEqual([1, expect.stringContaining("sealed by young can't be opened")]);
  expect(await store.keys.list()).toEqual(before);
  const former = young.replace("young:", "former:");
  await rotate(`${newKey},${former}`);
  const openable = (ring: string, keys: typeof before) => keys.filter((key) => openApiKey(parseKeyRing(ring), key) !== undefined).length;
  expect(openable(newKey, await store.keys.list())).toBe(openable(young, before));
  await rotate(`${young},${newKey.replace("young:", "other:")}`);
});

test("opens and reseals rows of a key with a changed id", async () => {
  const { store } = harness.console;
  const connectionId = await harness.connect("http://127.0.0.1:9", undefined);
  await storeApiKey(store.keys, parseKeyRing(old), { connectionId, apiKey: "sk-renamed", now: 1 });
  const { output } = await rotate(`${young},${old.replace("old:", "renamed:")}`);
  expect(output).toContain("1 key resealed with young.");
  const key = await store.keys.getOf(connectionId);
  expect(key && openApiKey(parseKeyRing(young), key)).toBe("sk-renamed");
});

test("refuses a folder without a console and creates nothing in it", async () => {
  const folder = temporaryFolder();
  const { code, output } = await rotate(young, folder);
  expect([code, output]).toEqual([1, expect.stringContaining("LIGHTDESK_DATA_DIR")]);
  expect(existsSync(join(folder, "console.sqlite"))).toBe(false);
});

test("reseals both secrets of a host page", async () => {
  const { store, now } = harness.console;
  const [id, ring] = ["0123456789abcdef01", parseKeyRing(old)];
  const sealed = (text: string) => seal(ring, toSecretRecordId("embed_hosts", id), text);
  const body = { name: "Portal", connection: null, role: "viewer", guests: false, jwksUrl: null } as const;
  const keeping = { sealed: sealed("present"), old: { sealed: sealed("before"), until: now() }, keptBy: undefined };
  await store.embedHosts.create(id, { ...body, origins: [], pages: [] }, keeping, now());
  expect((await rotate(`${young},${old}`)).output).toContain("2 keys of host pages resealed with young.");
  const host = await store.embedHosts.get(id);
  const secrets = [host?.sealed, host?.old?.sealed].map(
    (sealed) => sealed && unseal(parseKeyRing(young), toSecretRecordId("embed_hosts", id), sealed),
  );
  expect(secrets).toEqual(["present", "before"]);
});

test("reseals a webhook's address and secret", async () => {
  const { store, now } = harness.console;
  const [id, target] = ["wh_1", { url: "https://example.com/hook", secret: "whsec_c2VjcmV0" }];
  const connectionId = await harness.connect("http://127.0.0.1:9", undefined);
  const about = { name: "Receiver", origin: "https://example.com", format: "standard", events: ["job.failed"] } as const;
  const rest = { includesPrompts: false, isEnabled: false, oldUntil: undefined, createdAt: now() };
  await store.webhooks.create({
    id,
    connectionId,
    ...about,
    ...rest,
    events: [...about.events],
    sealed: sealTarget(parseKeyRing(old), id, target),
  });
  expect((await rotate(`${young},${old}`)).output).toContain("1 webhook resealed with young.");
  const webhook = await store.webhooks.get(id);
  expect(webhook && openTarget(parseKeyRing(young), webhook)).toEqual(target);
  // It opens for this webhook only.
  expect(webhook && openTarget(parseKeyRing(young), { ...webhook, id: "wh_2" })).toBeUndefined();
});
