// Two consoles on one database rotate their keys at the same time.
import { randomBytes } from "node:crypto";
import { afterAll, expect, inject, test } from "vitest";
import { listSealedSecret, parseKeyRing, readSharedSecret, rotateRows, type Rotation, seal, unseal } from "@/lib/server/keys/key-ring";
import { type Sealed, toSecretRecordId } from "@/lib/server/store/connections";
import { type ListSealed, openStore, type Store } from "@/lib/server/store/store";
import { sealRequest } from "@/lib/server/tasks/sealed-request";
import { createHarness } from "@/tests/support/harness";
import { createDatabase } from "@/tests/support/postgres-server";
import { temporaryFolder } from "@/tests/support/temporary-folder";

const KEYS = 20;
const pair = (id: string) => `${id}:${randomBytes(32).toString("base64")}`;
const [old, young] = [pair("old"), pair("young")];
const [both, alone] = [parseKeyRing(`${young},${old}`), parseKeyRing(young)];
const database = await createDatabase(inject("postgres"));
const bytes = temporaryFolder();
const harness = await createHarness({
  settings: { DATABASE_URL: database.url, LIGHTDESK_ENCRYPTION_KEYS: old, LIGHTDESK_BLOBS: bytes },
});
const otherStore = openStore("", database.url);
afterAll(async () => {
  await otherStore.close();
  await harness.dispose();
  await database.drop();
});

/** The later one waits for the other. */
function meetingPoint(): () => Promise<void> {
  let waiting: (() => void) | undefined;
  return () =>
    new Promise((go) => {
      if (!waiting) return void (waiting = go);
      waiting();
      waiting = undefined;
      go();
    });
}

/** Both have read everything before either writes. Counts the writes. */
async function atOnce(listOf: (store: Store) => ListSealed): Promise<{ both: Rotation[]; written: number }> {
  const meet = meetingPoint();
  let writeCount = 0;
  const rotate = async (store: Store) => {
    const list = listOf(store);
    const listTogether = async () => {
      const sealed = await list();
      await meet();
      return sealed.map((row) => ({
        ...row,
        async reseal(after: Sealed) {
          const isWritten = await row.reseal(after);
          writeCount += Number(isWritten);
          return isWritten;
        },
      }));
    };
    return rotateRows(listTogether, both);
  };
  return { both: await Promise.all([harness.console.store, otherStore].map(rotate)), written: writeCount };
}

/** Each row was written once, by one of the two, and the new key alone decrypts all of them. */
async function expectOnce(listOf: (store: Store) => ListSealed, count: number): Promise<void> {
  const rotated = await atOnce(listOf);
  expect(rotated.both.reduce((sum, { resealed }) => sum + resealed, 0)).toBe(count);
  expect(rotated.written).toBe(count);
  for (const { sealedBy } of rotated.both) expect([...sealedBy]).toEqual([["young", { count, unreadable: 0 }]]);
  const secrets = (await listOf(otherStore)()).map(({ recordId, sealed }) => unseal(alone, recordId, sealed));
  expect(secrets).toHaveLength(count);
  expect(secrets).not.toContain(undefined);
}

test("completes two parallel rotations, writing each secret once", async () => {
  const { store, ring, now } = harness.console;
  const before = (await store.keys.list()).length;
  const connections = await Promise.all(Array.from({ length: KEYS }, (_, at) => harness.connect("http://127.0.0.1:9", `sk-${at}`)));
  const { memberId } = harness.viewerOf("owner");
  for (const id of ["first", "second"]) {
    const sealed = sealRequest(ring, id, { source_url: `https://example.com/${id}` });
    const about = { taskId: id, source: "https://example.com", word: "created", now: now() };
    await store.downloadTasks.add({ id, connectionId: connections[0] ?? "", memberId, sealed, ...about });
  }
  const host = "0123456789abcdef01";
  const secret = (text: string) => seal(ring, toSecretRecordId("embed_hosts", host), text);
  const body = { name: "Portal", connection: null, role: "viewer", guests: false, jwksUrl: null } as const;
  const keeping = { sealed: secret("present"), old: { sealed: secret("before"), until: now() }, keptBy: undefined };
  await store.embedHosts.create(host, { ...body, origins: [], pages: [] }, keeping, now());

  await expectOnce((item) => item.sealed.apiKeys, before + KEYS);
  await expectOnce((item) => item.sealed.downloads, 2);
  await expectOnce((item) => item.sealed.embedHosts, 2);
  await expectOnce((item) => listSealedSecret(item.settings), 1);
  expect(await readSharedSecret(otherStore.settings, alone)).toBe(harness.console.authSecret);
});
