import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyText, anything, isTrue, list, map, number, object, oneOf, or, text, where } from "@/lib/contract/json/readers";

const read = object(
  { id: text, atMs: number, name: or(text, "unnamed") },
  {
    kind: oneOf(["a", "b"]),
    isDone: isTrue,
    seen: list(
      where(anyText, (word) => word !== "x"),
      3,
    ),
    sizes: map(number),
    rest: anything,
  },
);

describe("what a browser reads", () => {
  it("has the fields that are named and fit, and its usual values", () => {
    const kept = { id: "1", atMs: 2, kind: "c", isDone: true, seen: ["a", "x", 4, "late"], sizes: { w: 3, h: "4" }, rest: null, more: 1 };
    expect(read(kept)).toEqual({ id: "1", atMs: 2, name: "unnamed", isDone: true, seen: ["a"], sizes: { w: 3 }, rest: null });
  });

  it("is nothing where a field is missing that it needs", () => {
    for (const kept of [undefined, null, [], "{}", { id: " ", atMs: 2 }, { id: "1" }, { id: "1", atMs: Infinity }])
      expect(read(kept)).toBeUndefined();
  });

  it("keeps lists in lists, and names that objects inherit", () => {
    expect(list(list(number))([[1, "2"], [], 3])).toEqual([[1], []]);
    const kept: unknown = JSON.parse('{ "__proto__": 1, "constructor": 2 }');
    expect(Object.entries(map(number)(kept) ?? {})).toEqual([
      ["__proto__", 1],
      ["constructor", 2],
    ]);
  });

  it("never throws, whatever was kept", () => {
    fc.assert(fc.property(fc.jsonValue(), (kept) => void read({ id: "1", atMs: 2, seen: kept, sizes: kept, rest: kept })));
  });
});
