import { expect, it } from "vitest";
import { createLru } from "@/lib/shared/lru";

it("evicts the least recently used entry when the limit is exceeded", () => {
  const cache = createLru<string, number>({ max: 2 });
  cache.set("a", 1);
  cache.set("b", 2);
  cache.get("a");
  cache.set("c", 3);
  expect([...cache.entries()]).toEqual([
    ["a", 1],
    ["c", 3],
  ]);
});

it("counts entries by size, and skips an entry larger than the limit", () => {
  const cache = createLru<string, string>({ max: 5, sizeOf: (text) => text.length });
  cache.set("a", "12");
  cache.set("b", "34");
  cache.set("a", "123");
  expect([...cache.entries()].map(([key]) => key)).toEqual(["b", "a"]);
  cache.set("c", "5");
  expect([...cache.entries()].map(([key]) => key)).toEqual(["a", "c"]);
  cache.set("a", "123456");
  expect([...cache.entries()].map(([key]) => key)).toEqual(["c"]);
});

it("frees capacity when entries are deleted or cleared", () => {
  const cache = createLru<string, string>({ max: 3, sizeOf: (text) => text.length });
  cache.set("a", "123");
  expect(cache.delete("a")).toBe(true);
  cache.set("b", "123");
  cache.clear();
  cache.set("c", "123");
  expect([cache.size, cache.has("b"), cache.has("c")]).toEqual([1, false, true]);
});
