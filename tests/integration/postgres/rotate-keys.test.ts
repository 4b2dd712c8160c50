// Two consoles on one database rotate their keys at the same time.
import { randomBytes } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { listSealedSecret, parseKeyRing, readSharedSecret, rotateRows, type Rotation, seal, unseal } from "@/lib/server/keys/key-ring";
import { type Sealed, toSecretRecordId } from "@/lib/server/store/connections";
import { type ListSealed, openStore, type Store } from "@/lib/server/store/store";
import { sealRequest } from "@/lib/server/tasks/sealed-request";
import { createHarness } from "@/tests/support/harness";
import { openTestDatabase } from "@/tests/support/postgres-proxy";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";

const KEY_COUNT = 20;
const createKeyEntry = (id: string) => `${id}:${randomBytes(32).toString("base64")}`;
const [oldKey, currentKey] = [createKeyEntry("old"), createKeyEntry("young")];
const [fullRing, currentRing] = [parseKeyRing(`${currentKey},${oldKey}`), parseKeyRing(currentKey)];
const databaseUrl = await openTestDatabase();
const harness = await createHarness({
  settings: { DATABASE_URL: databaseUrl, LIGHTDESK_ENCRYPTION_KEYS: oldKey, LIGHTDESK_BLOBS: createTemporaryFolder() },
});
const otherStore = openStore("", databaseUrl);
afterAll(() => otherStore.close());

/** Returns a function that resolves for two callers once both have called it. */
function createBarrier(): () => Promise<void> {
  let resolveFirst: (() => void) | undefined;
  return () =>
    new Promise((resolve) => {
      if (!resolveFirst) return void (resolveFirst = resolve);
      resolveFirst();
      resolveFirst = undefined;
      resolve();
    });
}

/** Runs two rotations that both read everything before either writes, and counts the writes. */
async function rotateTogether(listOf: (store: Store) => ListSealed): Promise<{ rotations: Rotation[]; writeCount: number }> {
  const waitForBoth = createBarrier();
  let writeCount = 0;
  const rotate = async (store: Store) => {
    const list = listOf(store);
    const listTogether = async () => {
      const sealed = await list();
      await waitForBoth();
      return sealed.map((row) => ({
        ...row,
        async reseal(after: Sealed) {
          const isWritten = await row.reseal(after);
          writeCount += Number(isWritten);
          return isWritten;
        },
      }));
    };
    return rotateRows(listTogether, fullRing);
  };
  return { rotations: await Promise.all([harness.console.store, otherStore].map(rotate)), writeCount };
}

/** Expects that each row is written by one of the two rotations and that the new key decrypts all rows. */
async function expectSingleRotation(listOf: (store: Store) => ListSealed, count: number): Promise<void> {
  const result = await rotateTogether(listOf);
  expect(result.rotations.reduce((sum, { resealed }) => sum + resealed, 0)).toBe(count);
  expect(result.writeCount).toBe(count);
  for (const { sealedBy } of result.rotations) expect([...sealedBy]).toEqual([["young", { count, unreadable: 0 }]]);
  const secrets = (await listOf(otherStore)()).map(({ recordId, sealed }) => unseal(currentRing, recordId, sealed));
  expect(secrets).toHaveLength(count);
  expect(secrets).not.toContain(undefined);
}

test("completes two parallel rotations, writing each secret once", async () => {
  const { store, keyRing, now } = harness.console;
  const before = (await store.keys.list()).length;
  const connections = await Promise.all(
    Array.from({ length: KEY_COUNT }, (_, index) => harness.connect("http://127.0.0.1:9", `sk-${index}`)),
  );
  const { memberId } = harness.getViewer("owner");
  for (const id of ["first", "second"]) {
    const sealed = sealRequest(keyRing, id, { source_url: `https://example.com/${id}` });
    const taskFields = { taskId: id, source: "https://example.com", word: "created", now: now() };
    await store.downloadTasks.add({ id, connectionId: connections[0] ?? "", memberId, sealed, ...taskFields });
  }
  const host = "0123456789abcdef01";
  const sealSecret = (text: string) => seal(keyRing, toSecretRecordId("embed_hosts", host), text);
  const body = { name: "Portal", connection: null, role: "viewer", guests: false, jwksUrl: null } as const;
  const hostSecrets = { sealed: sealSecret("present"), old: { sealed: sealSecret("before"), until: now() }, keptBy: undefined };
  await store.embedHosts.create(host, { ...body, origins: [], pages: [] }, hostSecrets, now());

  await expectSingleRotation((item) => item.sealed.apiKeys, before + KEY_COUNT);
  await expectSingleRotation((item) => item.sealed.downloads, 2);
  await expectSingleRotation((item) => item.sealed.embedHosts, 2);
  await expectSingleRotation((item) => listSealedSecret(item.settings), 1);
  expect(await readSharedSecret(otherStore.settings, currentRing)).toBe(harness.console.authSecret);
});
