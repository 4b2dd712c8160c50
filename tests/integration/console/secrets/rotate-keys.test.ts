// The command `npm run rotate-keys` as a process of its own, on a data folder that a console has made.
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { recordOfHost } from "@/lib/server/embed/host-keys";
import { openApiKey, parseKeyRing, seal, storeApiKey, unseal } from "@/lib/server/keys/key-ring";
import { openRequest, sealRequest } from "@/lib/server/tasks/sealed-request";
import { createHarness, type Harness } from "@/tests/support/harness";
import { startProcess } from "@/tests/support/start-process";

const pair = (id: string) => `${id}:${randomBytes(32).toString("base64")}`;
const [old, young] = [pair("old"), pair("young")];

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness({ settings: { LIGHTDESK_ENCRYPTION_KEYS: old } });
  await harness.connect("http://127.0.0.1:9", "sk-of-another-service");
});
afterAll(() => harness.dispose());

async function rotate(keys: string, dataDir = harness.folder) {
  const command = startProcess("dist/rotate-keys.mjs", { LIGHTDESK_DATA_DIR: dataDir, LIGHTDESK_ENCRYPTION_KEYS: keys });
  return { code: await command.ended, output: command.output() };
}

test("every stored key is sealed anew beside a running console, opens without the old key, and a second run has nothing to do", async () => {
  const first = await rotate(`${young},${old}`);
  expect(first).toEqual({
    code: 0,
    output:
      "2 keys sealed anew with young.\n2 keys sealed by young.\n0 addresses of downloads sealed anew with young.\n0 keys of host pages sealed anew with young.\n",
  });
  const stored = await harness.console.store.keys.list();
  const opened = stored.map((key) => openApiKey(parseKeyRing(young), key));
  expect(opened).toHaveLength(2);
  expect(opened).toContain("sk-of-another-service");
  expect(opened).not.toContain(undefined);
  expect(await rotate(young)).toEqual({ code: 0, output: expect.stringContaining("0 keys sealed anew with young.\n") });
});

test("what a download was asked with is sealed anew too, and can be asked once more without the old key", async () => {
  const { store, now } = harness.console;
  const { memberId } = harness.viewerOf("owner");
  const connectionId = await harness.connect("http://127.0.0.1:9", undefined);
  const body = { source_url: "https://example.com/film.bin?token=secret" };
  const lost = parseKeyRing(pair("lost"));
  for (const [id, ring] of [
    ["kept", parseKeyRing(old)],
    ["lost", lost],
  ] as const) {
    const more = { taskId: id, source: "https://example.com/film.bin", word: "created", now: now() };
    await store.downloadTasks.add({ id, connectionId, memberId, sealed: sealRequest(ring, id, body), ...more });
  }
  const { code, output } = await rotate(`${young},${old}`);
  expect([code, output]).toEqual([1, expect.stringContaining("1 address of a download sealed anew with young.")]);
  expect(output).toContain("1 address of a download sealed by lost could not be opened");
  expect(output).not.toContain("secret");
  const [kept, left] = await Promise.all(["kept", "lost"].map((id) => store.downloadTasks.get(id)));
  expect(kept && openRequest(parseKeyRing(young), kept)).toEqual(body);
  expect(left && openRequest(lost, left)).toEqual(body);
  // A request sealed for one download cannot be opened for another.
  expect(kept && openRequest(parseKeyRing(young), { ...kept, id: "another" })).toBeUndefined();
  await Promise.all(["kept", "lost"].map((id) => store.downloadTasks.remove(id)));
});

test("a key that the ring cannot open is counted, left as it is, and makes the command fail", async () => {
  const { store, now } = harness.console;
  const lost = parseKeyRing(pair("lost"));
  const connection = await store.connections.create({ name: "Lost", baseUrl: "http://127.0.0.1:9", createdAt: now() });
  await storeApiKey(store.keys, lost, { connectionId: connection.id, apiKey: "sk-lost", now: now() });
  const { code, output } = await rotate(young);
  expect([code, output]).toEqual([1, expect.stringContaining("1 key sealed by lost could not be opened")]);
  const stored = await store.keys.getOf(connection.id);
  expect(stored && openApiKey(lost, stored)).toBe("sk-lost");
});

test("a row that has the new key's id and does not open is reported, not passed over", async () => {
  const { store } = harness.console;
  const [first] = await store.keys.list();
  if (!first) throw new Error("no key");
  await store.keys.reseal(first, { ringKeyId: "young", ciphertext: `${first.ciphertext.slice(0, -4)}AAAA` });
  const { code, output } = await rotate(young);
  expect([code, output]).toEqual([1, expect.stringContaining("1 key sealed by young could not be opened")]);
});

test("a new key under the id of the one before is refused, and nothing is changed", async () => {
  const { store } = harness.console;
  const before = await store.keys.list();
  const again = pair("young");
  const { code, output } = await rotate(`${again},${young.replace("young:", "former:")}`);
  expect([code, output]).toEqual([1, expect.stringContaining("The id young was another key's")]);
  expect(await store.keys.list()).toEqual(before);
  // If the former key is not in the ring at all, its rows cannot be opened, and the command says so.
  const alone = await rotate(again);
  expect([alone.code, alone.output]).toEqual([1, expect.stringContaining("sealed by young could not be opened")]);
  expect(await store.keys.list()).toEqual(before);
});

test("a key under another id than before opens what it sealed, and its rows are sealed anew", async () => {
  const { store } = harness.console;
  const connectionId = await harness.connect("http://127.0.0.1:9", undefined);
  await storeApiKey(store.keys, parseKeyRing(old), { connectionId, apiKey: "sk-renamed", now: 1 });
  const { output } = await rotate(`${young},${old.replace("old:", "renamed:")}`);
  expect(output).toContain("1 key sealed anew with young.");
  const stored = await store.keys.getOf(connectionId);
  expect(stored && openApiKey(parseKeyRing(young), stored)).toBe("sk-renamed");
});

test("a folder without a console is refused by the setting's name, and nothing is made in it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lightdesk-empty-"));
  const { code, output } = await rotate(young, folder);
  expect([code, output]).toEqual([1, expect.stringContaining("LIGHTDESK_DATA_DIR")]);
  expect(existsSync(join(folder, "console.sqlite"))).toBe(false);
  rmSync(folder, { recursive: true });
});

test("the secret of a host page and the one before it are sealed anew, each for itself", async () => {
  const { store, now } = harness.console;
  const [id, ring] = ["0123456789abcdef01", parseKeyRing(old)];
  const sealed = (text: string) => seal(ring, recordOfHost(id), text);
  const body = { name: "Portal", connection: null, role: "viewer", guests: false, jwksUrl: null } as const;
  const keeping = { sealed: sealed("present"), old: { sealed: sealed("before"), until: now() }, keptBy: undefined };
  await store.embedHosts.create(id, { ...body, origins: [], pages: [] }, keeping, now());
  expect((await rotate(`${young},${old}`)).output).toContain("2 keys of host pages sealed anew with young.");
  const host = await store.embedHosts.get(id);
  const opened = [host?.sealed, host?.old?.sealed].map((one) => one && unseal(parseKeyRing(young), recordOfHost(id), one));
  expect(opened).toEqual(["present", "before"]);
});
