// A place of bytes used by one process: what it is about to name and what it removes. A removal first asks the database, while others
// arrive.
import { expect, it } from "vitest";
import { createOwnHolds } from "@/lib/service/assets/blob-store";

const HASH = "ab".repeat(32);

function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

it("bytes are stored again after they were removed, not while a removal asks whether a row names them", async () => {
  const { open, opened } = gate();
  const order: string[] = [];
  const holds = createOwnHolds(() => opened.then(() => new Set<string>()));
  const removal = holds.removeUnused(HASH, async () => void order.push("removed"));
  const writing = holds.hold([HASH], async () => void order.push("stored"));
  open();
  expect(await Promise.all([removal, writing])).toEqual([true, undefined]);
  expect(order).toEqual(["removed", "stored"]);
});

it("bytes that are held are not removed, and those that are removed twice are removed once", async () => {
  const rows = new Set([HASH]);
  const removed: string[] = [];
  const remove = async () => {
    rows.add(HASH);
    removed.push(HASH);
  };
  const holds = createOwnHolds(() => Promise.resolve(new Set(rows)));
  await holds.hold([HASH], async () => {
    rows.delete(HASH);
    expect(await holds.removeUnused(HASH, remove)).toBe(false);
  });
  expect(await Promise.all([holds.removeUnused(HASH, remove), holds.removeUnused(HASH, remove)])).toEqual([true, false]);
  expect(removed).toEqual([HASH]);
});

it("a removal that fails keeps nobody from storing the bytes", async () => {
  const holds = createOwnHolds(() => Promise.resolve(new Set()));
  const removal = holds.removeUnused(HASH, () => Promise.reject(new Error("the disk does not answer")));
  const writing = holds.hold([HASH], () => Promise.resolve("stored"));
  await expect(removal).rejects.toThrow("does not answer");
  expect(await writing).toBe("stored");
  expect(await holds.removeUnused(HASH, () => Promise.resolve())).toBe(true);
});
