// Two consoles on one database rotate their keys at the same moment.
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { recordOfHost } from "@/lib/server/embed/host-keys";
import { sealedHosts } from "@/lib/server/embed/hosts";
import {
  findReusedId,
  parseKeyRing,
  readSharedSecret,
  rotateRows,
  type Rotation,
  seal,
  sealedKeys,
  type SealedRows,
  sealedSecret,
  unseal,
} from "@/lib/server/keys/key-ring";
import { openStore, type Store } from "@/lib/server/store/store";
import { sealedRequests, sealRequest } from "@/lib/server/tasks/sealed-request";
import { createHarness, type Harness } from "@/tests/support/harness";
import { createDatabase, type OwnDatabase } from "@/tests/support/postgres-server";

const KEYS = 20;
const pair = (id: string) => `${id}:${randomBytes(32).toString("base64")}`;
const [old, young] = [pair("old"), pair("young")];
const [both, alone] = [parseKeyRing(`${young},${old}`), parseKeyRing(young)];

let database: OwnDatabase;
let bytes: string;
let harness: Harness;
let other: Store;
beforeAll(async () => {
  database = await createDatabase(inject("postgres"));
  bytes = await mkdtemp(join(tmpdir(), "lightdesk-bytes-"));
  harness = await createHarness({
    settings: { DATABASE_URL: database.url, LIGHTDESK_ENCRYPTION_KEYS: old, LIGHTDESK_BLOBS: bytes },
  });
  other = openStore("", database.url);
});
afterAll(async () => {
  await other.close();
  await harness.dispose();
  await database.drop();
  await rm(bytes, { recursive: true, force: true });
});

/** Whoever comes waits for the other one. */
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

/** Both have read everything before either writes. Counts what was written. */
async function atOnce<Row>(rowsOf: (store: Store) => SealedRows<Row>): Promise<{ both: Rotation[]; written: number }> {
  const meet = meetingPoint();
  let written = 0;
  const rotate = async (store: Store) => {
    const rows = rowsOf(store);
    expect(await findReusedId(rows, both)).toBeUndefined();
    return rotateRows(
      {
        ...rows,
        async list() {
          const listed = await rows.list();
          await meet();
          return listed;
        },
        async reseal(row, after) {
          const isWritten = await rows.reseal(row, after);
          written += Number(isWritten);
          return isWritten;
        },
      },
      both,
    );
  };
  return { both: await Promise.all([harness.console.store, other].map(rotate)), written };
}

/** Each row was written once, by one of the two, and the young key alone opens all of them. */
async function expectOnce<Row>(rowsOf: (store: Store) => SealedRows<Row>, count: number): Promise<void> {
  const rotated = await atOnce(rowsOf);
  expect(rotated.both.reduce((sum, { resealed }) => sum + resealed, 0)).toBe(count);
  expect(rotated.written).toBe(count);
  for (const { sealedBy } of rotated.both) expect([...sealedBy]).toEqual([["young", { count, unreadable: 0 }]]);
  const rows = rowsOf(other);
  const opened = (await rows.list()).map((row) => unseal(alone, rows.recordOf(row), rows.sealedOf(row)));
  expect(opened).toHaveLength(count);
  expect(opened).not.toContain(undefined);
}

test("two rotations at once both finish, write each secret once, and leave all of them readable with the new key", async () => {
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
  const secret = (text: string) => seal(ring, recordOfHost(host), text);
  const body = { name: "Portal", connection: null, role: "viewer", guests: false, jwksUrl: null } as const;
  const keeping = { sealed: secret("present"), old: { sealed: secret("before"), until: now() }, keptBy: undefined };
  await store.embedHosts.create(host, { ...body, origins: [], pages: [] }, keeping, now());

  await expectOnce((one) => sealedKeys(one.keys), before + KEYS);
  await expectOnce((one) => sealedRequests(one.downloadTasks), 2);
  await expectOnce((one) => sealedHosts(one.embedHosts), 2);
  await expectOnce((one) => sealedSecret(one.settings), 1);
  expect(await readSharedSecret(other.settings, alone)).toBe(harness.console.authSecret);
});
