// Two processes share a blob store and a database. Leased bytes survive the other process's cleanup.
import { afterEach, beforeEach, expect, it } from "vitest";
import { createLeases, removeDeadLeases } from "@/lib/service/assets/blobs/leases";
import { type Database, query, type Reader } from "@/lib/service/store/database";
import { createSingleProcess } from "@/lib/service/store/processes";
import { createTestServiceStore } from "@/tests/support/service-store";
import { createGate, silentLog as log } from "./support";

const HASH = "ab".repeat(32);

let database: Database;
let isReferenced: boolean;
let now: number;
beforeEach(async () => {
  database = await (await createTestServiceStore()).open();
  isReferenced = false;
  now = 1e12;
});
afterEach(() => database.close());

const findHashes = (_reader: unknown, hashes: readonly string[]) => Promise.resolve(new Set(isReferenced ? hashes : []));
const createProcessLeases = () =>
  createLeases({ database, processes: createSingleProcess(), findReferenced: findHashes, now: () => now, log });
/** Reads in a commit, so that all earlier writes are visible. */
const readLeases = () => database.commit((tx) => tx.rows(query.selectFrom("blob_leases").selectAll()));

it("removes only blobs that no lease or asset references", async () => {
  const [first, second] = [createProcessLeases(), createProcessLeases()];
  const removed: string[] = [];
  const remove = async () => void removed.push("removed");
  await first.hold([HASH, HASH], async () => {
    expect(await second.removeUnused(HASH, remove)).toBe(false);
    // Several holders may lease the same content. Each releases only its own lease.
    await second.hold([HASH], () => Promise.resolve());
    expect(await second.removeUnused(HASH, remove)).toBe(false);
  });
  isReferenced = true;
  expect(await second.removeUnused(HASH, remove)).toBe(false);
  isReferenced = false;
  expect([await second.removeUnused(HASH, remove), removed, await readLeases()]).toEqual([true, ["removed"], []]);
});

it("delays a write until a running removal has finished", async () => {
  const [first, second] = [createProcessLeases(), createProcessLeases()];
  const { open, opened } = createGate();
  const order: string[] = [];
  const removal = first.removeUnused(HASH, async () => {
    await opened;
    order.push("removed");
  });
  await expect.poll(readLeases).toHaveLength(1);
  expect(await second.removeUnused(HASH, () => Promise.resolve())).toBe(false);
  const write = second.hold([HASH], async () => void order.push("written"));
  open();
  await Promise.all([removal, write]);
  expect([order, await readLeases()]).toEqual([["removed", "written"], []]);
});

it("checks for references in the commit that acquires the lease", async () => {
  let requestCount = 0;
  const findInCommit = async (reader: Reader, hashes: readonly string[]) =>
    new Set((requestCount += 1) > 1 && reader !== database ? hashes : []);
  const lateLeases = createLeases({ database, processes: createSingleProcess(), findReferenced: findInCommit, now: () => now, log });
  expect(await lateLeases.removeUnused(HASH, () => Promise.reject(new Error("removed")))).toBe(false);
  expect(await readLeases()).toEqual([]);
});

it("releases a dead process's leases after a day", async () => {
  void createProcessLeases().hold([HASH], () => new Promise(() => undefined));
  await expect.poll(readLeases).toHaveLength(1);
  now += 23 * 3_600_000;
  expect(await createProcessLeases().removeUnused(HASH, () => Promise.resolve())).toBe(false);
  now += 2 * 3_600_000;
  expect(await createProcessLeases().removeUnused(HASH, () => Promise.resolve())).toBe(true);
});

it("releases failed removals unless they may still happen", async () => {
  const failRemoval = (isSettled: boolean) => () => Promise.reject(Object.assign(new Error("no response"), { isSettled }));
  expect([await createProcessLeases().removeUnused(HASH, failRemoval(true)), await readLeases()]).toEqual([false, []]);
  expect(await createProcessLeases().removeUnused(HASH, failRemoval(false))).toBe(false);
  expect(await readLeases()).toMatchObject([{ hash: HASH, is_removal: 1 }]);
  now += 16 * 60_000;
  await createProcessLeases().hold([HASH], () => Promise.resolve());
  expect(await readLeases()).toEqual([]);
});

it("releases only a dead process's leases after its grace period", async () => {
  const deadProcess = { ...createSingleProcess(), lingerMs: 60_000 };
  const liveProcess = { ...createSingleProcess(), lingerMs: 60_000 };
  const gate = createGate();
  const holds = [deadProcess, liveProcess].map((item) =>
    createLeases({ database, processes: item, findReferenced: findHashes, now: () => now, log }).hold([HASH], () => gate.opened),
  );
  await expect.poll(readLeases).toHaveLength(2);
  const removeDead = () => removeDeadLeases({ database, processes: liveProcess, now: () => now });
  await removeDead();
  expect(await readLeases()).toHaveLength(2);
  now += 60_000;
  await removeDead();
  expect((await readLeases()).map(({ holder }) => holder.split(" ")[0])).toEqual([liveProcess.id]);
  gate.open();
  await Promise.all(holds);
});
