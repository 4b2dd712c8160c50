import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromRows, readFilter, toFilter, toRows } from "@/components/assets/filter/metadata-rows";
import { writeExactJson } from "@/lib/contract/json/exact-json";

describe("metadata as rows", () => {
  it("leads into what is nested, and keeps a dot that belongs to a name", () => {
    expect(toRows({ camera: { lens: "50mm", iso: 200 }, "v1.2": true })).toEqual([
      { path: "camera.lens", type: "guess", value: "50mm" },
      { path: "camera.iso", type: "guess", value: "200" },
      { path: "v1\\.2", type: "guess", value: "true" },
    ]);
  });

  it("reads back what it wrote, whatever the names and values", () => {
    const values = fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 6 });
    fc.assert(
      fc.property(values, (given) => {
        // Names in rows are trimmed and not empty.
        const metadata = JSON.parse(JSON.stringify(given), (_, value: unknown) => named(value)) as Record<string, unknown>;
        const { metadata: back, problems } = fromRows(toRows(metadata));
        expect([...problems]).toEqual([]);
        expect(writeExactJson(back)).toBe(writeExactJson(metadata));
      }),
    );
  });

  it("guesses numbers, truth and nothing, and takes the type that was chosen before a guess", () => {
    const { metadata } = fromRows([
      { path: "seed", type: "guess", value: "40213" },
      { path: "ok", type: "guess", value: "true" },
      { path: "gone", type: "guess", value: "null" },
      { path: "word", type: "text", value: "null" },
      { path: "sku", type: "text", value: "0042" },
      { path: "size", type: "json", value: "[1, 2]" },
      { path: "shot", type: "guess", value: "front-3q" },
    ]);
    expect(metadata).toEqual({ seed: 40213, ok: true, gone: null, word: "null", sku: "0042", size: [1, 2], shot: "front-3q" });
  });

  it("keeps every digit of a seed and the spelling of numbers", () => {
    const text = '{"seed":18446744073709551615,"cfg":5.0,"in":{"a.b":1e3,"zero":-0},"list":[0.10,2.0]}';
    expect(toFilter(fromRows(readFilter(text)).metadata)).toBe(text);
    const typed = [{ path: "cfg", type: "number", value: " 7.50 " } as const];
    expect(toFilter(fromRows(typed).metadata)).toBe('{"cfg":7.50}');
  });

  it("says which row makes no sense, and why", () => {
    const { problems } = fromRows([
      { path: "", type: "text", value: "x" },
      { path: "a", type: "number", value: "many" },
      { path: "b", type: "text", value: "1" },
      { path: "b.c", type: "text", value: "2" },
      { path: "d", type: "json", value: "{" },
      { path: "e", type: "truth", value: "perhaps" },
      { path: "", type: "guess", value: "" },
    ]);
    expect([...problems]).toEqual([
      [0, "path"],
      [1, "number"],
      [3, "twice"],
      [4, "json"],
      [5, "truth"],
    ]);
  });

  it("reaches no prototype", () => {
    const { metadata } = fromRows([{ path: "__proto__.polluted", type: "text", value: "yes" }]);
    expect(Object.hasOwn(metadata, "__proto__")).toBe(true);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(toFilter(metadata)).toBe('{"__proto__":{"polluted":"yes"}}');
  });

  it("asks nothing where there is nothing", () => {
    expect(toFilter({})).toBeUndefined();
    expect(readFilter(undefined)).toEqual([]);
    expect(readFilter("no json")).toEqual([]);
  });
});

function named(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [`n${name.replaceAll(/\s/g, "_")}`, item]));
}
