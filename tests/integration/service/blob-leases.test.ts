// Two processes share a blob store and a database: bytes about to be referenced survive the other's cleanup.
import { afterEach, beforeEach, expect, it } from "vitest";
import { createLeases, removeDeadLeases } from "@/lib/service/assets/blobs/leases";
import { type Database, query, type Reader } from "@/lib/service/store/database";
import { createOnlyProcess } from "@/lib/service/store/processes";
import { createTestServiceStore, type TestServiceStore } from "@/tests/support/service-store";

const HASH = "ab".repeat(32);
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

let storeHome: TestServiceStore;
let database: Database;
let isNamed: boolean;
let now: number;
beforeEach(async () => {
  storeHome = await createTestServiceStore();
  database = await storeHome.open();
  isNamed = false;
  now = 1e12;
});
afterEach(() => database.close());

const readNames = (_reader: unknown, hashes: readonly string[]) => Promise.resolve(new Set(isNamed ? hashes : []));
const process = () => createLeases({ database, processes: createOnlyProcess(), named: readNames, now: () => now, log });
/** Read in a commit, so it follows all earlier writes. */
const leases = () => database.commit((tx) => tx.rows(query.selectFrom("blob_leases").selectAll()));
function gate() {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  return { open, opened: gate };
}

it("removes only blobs that no lease or asset references", async () => {
  const [first, second] = [process(), process()];
  const removed: string[] = [];
  const remove = async () => void removed.push("removed");
  await first.hold([HASH, HASH], async () => {
    expect(await second.removeUnused(HASH, remove)).toBe(false);
    // Several may hold the same content; each releases its own lease.
    await second.hold([HASH], () => Promise.resolve());
    expect(await second.removeUnused(HASH, remove)).toBe(false);
  });
  isNamed = true;
  expect(await second.removeUnused(HASH, remove)).toBe(false);
  isNamed = false;
  expect([await second.removeUnused(HASH, remove), removed, await leases()]).toEqual([true, ["removed"], []]);
});

it("waits with writing until a removal is over", async () => {
  const [first, second] = [process(), process()];
  const { open, opened } = gate();
  const order: string[] = [];
  const removal = first.removeUnused(HASH, async () => {
    await opened;
    order.push("removed");
  });
  await expect.poll(leases).toHaveLength(1);
  expect(await second.removeUnused(HASH, () => Promise.resolve())).toBe(false);
  const writing = second.hold([HASH], async () => void order.push("written"));
  open();
  await Promise.all([removal, writing]);
  expect([order, await leases()]).toEqual([["removed", "written"], []]);
});

it("checks for the row in the commit that takes the lease", async () => {
  let requestCount = 0;
  const inCommit = async (reader: Reader, hashes: readonly string[]) =>
    new Set((requestCount += 1) > 1 && reader !== database ? hashes : []);
  const lateLeases = createLeases({ database, processes: createOnlyProcess(), named: inCommit, now: () => now, log });
  expect(await lateLeases.removeUnused(HASH, () => Promise.reject(new Error("removed")))).toBe(false);
  expect(await leases()).toEqual([]);
});

it("releases a dead process's holds after a day", async () => {
  void process().hold([HASH], () => new Promise(() => undefined));
  await expect.poll(leases).toHaveLength(1);
  now += 23 * 3_600_000;
  expect(await process().removeUnused(HASH, () => Promise.resolve())).toBe(false);
  now += 2 * 3_600_000;
  expect(await process().removeUnused(HASH, () => Promise.resolve())).toBe(true);
});

it("frees postponed removals unless they may still happen", async () => {
  const fail = (isSettled: boolean) => () => Promise.reject(Object.assign(new Error("no answer"), { isSettled }));
  expect([await process().removeUnused(HASH, fail(true)), await leases()]).toEqual([false, []]);
  expect(await process().removeUnused(HASH, fail(false))).toBe(false);
  expect(await leases()).toMatchObject([{ hash: HASH, is_removal: 1 }]);
  now += 16 * 60_000;
  await process().hold([HASH], () => Promise.resolve());
  expect(await leases()).toEqual([]);
});

it("releases a dead process's holds later and keeps live ones", async () => {
  const endedProcess = { ...createOnlyProcess(), lingersMs: 60_000 };
  const living = { ...createOnlyProcess(), lingersMs: 60_000 };
  const lease = gate();
  const holding = [endedProcess, living].map((item) =>
    createLeases({ database, processes: item, named: readNames, now: () => now, log }).hold([HASH], () => lease.opened),
  );
  await expect.poll(leases).toHaveLength(2);
  const look = () => removeDeadLeases({ database, processes: living, now: () => now });
  await look();
  expect(await leases()).toHaveLength(2);
  now += 60_000;
  await look();
  expect((await leases()).map(({ holder }) => holder.split(" ")[0])).toEqual([living.id]);
  lease.open();
  await Promise.all(holding);
});
