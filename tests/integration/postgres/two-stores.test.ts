// Two consoles write to one database in parallel. Unique operations happen once.
import { randomUUID } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { createSharedLimit } from "@/lib/server/limits/attempt-limit";
import { MAX_TOKENS } from "@/lib/server/store/people/tokens";
import { openStore, type Store } from "@/lib/server/store/store";
import { openTestDatabase } from "@/tests/support/postgres-proxy";
import { queryDatabase } from "@/tests/support/postgres-server";

const NOW = Date.UTC(2026, 4, 6);
/** Longer than the test takes, so that no allowance is refilled. */
const HOUR_MS = 3_600_000;

const databaseUrl = await openTestDatabase();
const store = openStore("", databaseUrl);
const stores = [store, openStore("", databaseUrl)] as const;
// Both migrate an empty database at the same time.
await Promise.all(stores.map((store) => store.migrate()));
const memberId = (await store.members.create({ name: "Mo", email: "mo@desk.test", role: "admin", createdAt: NOW }))?.id ?? "";
const connectionId = (await store.connections.create({ name: "One", baseUrl: "http://127.0.0.1:9", createdAt: NOW })).id;

afterAll(() => Promise.all(stores.map((store) => store.close())));

/** Runs the calls in parallel, alternating between the stores. */
async function runInParallel<T>(count: number, work: (store: Store, index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => work(stores[index % 2 === 0 ? 0 : 1], index)));
}

test("creates only one first owner", async () => {
  const members = await runInParallel(12, (store, index) =>
    store.members.createFirstOwner({ name: "Olga", email: `owner${index}@desk.test`, passwordHash: "x", createdAt: NOW }),
  );
  expect(members.filter(Boolean)).toHaveLength(1);
});

test("accepts an invitation once and keeps email addresses unique", async () => {
  const token = randomUUID();
  const invitation = { email: "new@desk.test", role: "operator", invitedBy: memberId, createdAt: NOW } as const;
  await stores[0].invitations.create({ token, ...invitation, expiresAt: NOW + 1000 });
  const results = await runInParallel(12, (store, index) => store.invitations.accept(token, { name: `N${index}`, passwordHash: "x" }, NOW));
  expect(results.filter((item) => typeof item === "object")).toHaveLength(1);
  const members = await Promise.all(
    [1, 2].map((n) => stores[0].members.create({ name: "P", email: `p${n}@desk.test`, role: "viewer", createdAt: NOW })),
  );
  const updates = await runInParallel(2, (store, index) =>
    store.members.changeAccount(members[index]?.id ?? "", { email: "same@desk.test" }),
  );
  expect(updates.filter(Boolean)).toHaveLength(1);
});

test("keeps identities and repeated guests unique", async () => {
  const identity = { issuer: "https://id.test", subject: "s", provider: "id" };
  const members = await runInParallel(8, (store, index) =>
    store.identities.createMember({ name: "I", email: `i${index}@desk.test`, role: "viewer", createdAt: NOW }, identity),
  );
  expect(members.filter(Boolean)).toHaveLength(1);
  const guests = await runInParallel(8, (store) => store.members.upsertGuest("host", { sub: "g", name: "G" }, NOW));
  expect(new Set(guests.map(({ id }) => id)).size).toBe(1);
});

test("starts no more app runs than allowed", async () => {
  const definition = { title: "A", text: "", tags: [], graph: {}, fields: [], outputs: [] };
  const appId = randomUUID();
  await queryDatabase(
    databaseUrl,
    `INSERT INTO apps (id, connection_id, title, text, tags, words, definition, access, limits, version, updated_at)
     VALUES ('${appId}', '${connectionId}', 'A', '', '[]', 'a', '${JSON.stringify(definition)}', 'team', '{}', 1, ${NOW})`,
  );
  const createRun = () => ({ id: randomUUID(), appId, memberId, version: 1, contentHash: "h", inputs: {}, createdAt: NOW, key: undefined });
  const results = await runInParallel(20, (store) =>
    store.appRuns.start(createRun(), { runsPerDay: 3, maxConcurrentRuns: 10, dayStartMs: 0 }),
  );
  expect(results.filter(Boolean)).toHaveLength(3);
});

test("limits a member's tokens and keeps their names unique", async () => {
  const createToken = (name: string) => ({
    ...{ token: randomUUID(), memberId, name, role: "viewer" as const, connectionId, connectionIds: undefined, operations: [] },
    ...{ createdAt: NOW, expiresAt: undefined },
  });
  const sameNamed = await runInParallel(6, (store) => store.tokens.create(createToken("same")));
  expect(sameNamed.filter((token) => typeof token === "object")).toHaveLength(1);
  const manyTokens = await runInParallel(MAX_TOKENS + 10, (store, index) => store.tokens.create(createToken(`t${index}`)));
  expect(manyTokens.filter((token) => typeof token === "object")).toHaveLength(MAX_TOKENS - 1);
});

/** Moves the counted attempts back in time to simulate elapsed time. */
async function passTime(ms: number): Promise<void> {
  await queryDatabase(databaseUrl, `UPDATE attempts SET full_at = full_at - ${ms}`);
}

test("shares attempt limits despite clock skew and returns the wait", async () => {
  const bucket = { name: "somebody@desk.test", burst: 5, refillMs: HOUR_MS };
  const getClock = (index: number) => NOW + (index % 2) * 300_000;
  const waits = await runInParallel(12, (store, index) => store.attempts.consume(bucket, getClock(index)));
  expect(waits.filter((wait) => wait === 0)).toHaveLength(5);
  expect(Math.max(...waits)).toBeLessThanOrEqual(HOUR_MS);
  await passTime(HOUR_MS);
  expect(await stores[0].attempts.consume(bucket, getClock(0))).toBe(0);
  expect(await stores[1].attempts.consume(bucket, getClock(1))).toBeGreaterThan(0);
  await stores[1].attempts.refund(bucket);
  expect(await stores[0].attempts.consume(bucket, getClock(0))).toBe(0);
  await stores[0].attempts.reset(bucket);
  expect(await stores[1].attempts.consume(bucket, getClock(1), 5)).toBe(0);
  expect(await stores[0].attempts.consume(bucket, getClock(0))).toBeGreaterThan(0);
  expect(await queryDatabase(databaseUrl, "SELECT 1 FROM attempts WHERE name LIKE '%desk%'")).toEqual([]);
});

test("enforces a shared limit exactly while most requests write nothing", async () => {
  let consumeCount = 0;
  const limits = stores.map(({ attempts }) => {
    const countingConsume: typeof attempts.consume = (...args) => ((consumeCount += 1), attempts.consume(...args));
    return createSharedLimit({
      attempts: { ...attempts, consume: countingConsume },
      now: () => NOW,
      limitName: "requests",
      burst: 600,
      refillMs: HOUR_MS,
    });
  });
  const countAllowed = async (count: number) => {
    const waits = await runInParallel(count, (_, index) => limits[index % 2]?.consume("mo") ?? Promise.resolve(-1));
    return waits.filter((wait) => wait === 0).length;
  };
  expect(await countAllowed(400)).toBe(400);
  expect(consumeCount).toBeLessThanOrEqual(400 / 30 + 2);
  expect(await countAllowed(800)).toBe(200);
  const before = consumeCount;
  expect(await countAllowed(100)).toBe(0);
  expect(consumeCount).toBe(before);
  // A refunded attempt allows another one.
  await limits[0]?.refund("mo");
  expect(await limits[0]?.consume("mo")).toBe(0);
  expect(await limits[0]?.consume("mo")).toBeGreaterThan(0);
});

test("keeps the audit chain free of gaps after failed writes", async () => {
  const createEntry = (index: number) => ({ at: NOW, requestId: `r${index}`, action: "addMember", status: 200 });
  await runInParallel(60, (store, index) =>
    // The database rejects a fractional status after the entry got its number.
    index % 6 === 5
      ? expect(store.audit.add({ ...createEntry(index), status: 0.5 })).rejects.toThrow()
      : store.audit.add(createEntry(index)),
  );
  expect(await stores[1].audit.verify()).toMatchObject({ rows: 50 });
  await queryDatabase(databaseUrl, "DELETE FROM audit WHERE id = (SELECT max(id) FROM audit)");
  expect(await stores[0].audit.verify()).toEqual({ brokenAt: 50 });
  // Without the end marker, the log may have been truncated.
  await queryDatabase(databaseUrl, "DELETE FROM audit_end");
  expect(await stores[0].audit.verify()).toEqual({ brokenAt: 50 });
});

test("limits the job index and keeps its job count exact", async () => {
  const max = 40;
  await runInParallel(30, (store, index) => {
    const entries = Array.from({ length: 4 }, (_, offset) => {
      const jobId = `job-${(index * 3 + offset) % 70}`;
      return { jobId, item: { id: jobId, status: "completed" }, createdMs: NOW + ((index * 3 + offset) % 70), isExact: true };
    });
    return store.jobIndexStore.recordJobs(connectionId, entries, max);
  });
  const [row] = await queryDatabase<{ cachedCount: string; actual: string; words: string }>(
    databaseUrl,
    `SELECT jobs AS "cachedCount", (SELECT count(*) FROM ledger_jobs) AS actual, (SELECT count(*) FROM ledger_words) AS words FROM ledger_connections`,
  );
  expect(row).toMatchObject({ cachedCount: row?.actual, words: row?.actual });
  expect(Number(row?.actual)).toBeLessThanOrEqual(max);
  await stores[0].jobIndexStore.remove(connectionId, ["job-69", "job-68"]);
  const { total } = await stores[1].jobIndexStore.search(connectionId, {
    words: [],
    offset: 0,
    limit: 1,
    sort_by: "create_time",
    sort_order: "desc",
  });
  expect(total).toBe(Number(row?.actual) - 2);
});
