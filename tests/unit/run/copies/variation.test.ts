import { describe, expect, it } from "vitest";
import {
  firstStep,
  getCopyLabel,
  getVariationKinds,
  parseVariation,
  type VariationInput,
  type VariationKind,
} from "@/components/run/copies/variation";
import { type Control, type FormField } from "@/components/run/form/form-model";

const nothing: VariationInput = { list: "", from: "", to: "", step: "", count: "", chosen: [], pictures: [] };
const field = (control: Control, name = "value"): FormField => ({ name, value: undefined, control });
const number = field({ kind: "number", integer: true, min: 0, max: 1000 });
const free = field({ kind: "number", integer: false });

function getValues(of: FormField, kind: VariationKind, typed: Partial<VariationInput>) {
  const variation = parseVariation(of, kind, { ...nothing, ...typed });
  return variation.ok ? variation.values : variation.problem;
}

describe("a range", () => {
  it("includes both ends when its steps reach them", () => {
    expect(getValues(number, "range", { from: "1", to: "10", step: "3" })).toEqual([1, 4, 7, 10]);
    expect(getValues(number, "range", { from: "1", to: "9", step: "3" })).toEqual([1, 4, 7]);
  });

  it("descends and ascends for either sign of its step", () => {
    expect(getValues(number, "range", { from: "3", to: "1", step: "1" })).toEqual([3, 2, 1]);
    expect(getValues(number, "range", { from: "1", to: "3", step: "-1" })).toEqual([1, 2, 3]);
  });

  it("sums fractions exactly", () => {
    expect(getValues(free, "range", { from: "0.1", to: "0.5", step: "0.1" })).toEqual([0.1, 0.2, 0.3, 0.4, 0.5]);
  });

  it("is refused with a million steps or none", () => {
    expect(getValues(free, "range", { from: "0", to: "1000000", step: "1" })).toEqual({ why: "too_many", max: 1000 });
    expect(getValues(free, "range", { from: "0", to: "1", step: "0" })).toEqual({ why: "no_step" });
    expect(getValues(free, "range", { from: "0", to: "", step: "1" })).toEqual({ why: "no_range" });
  });

  it("keeps every digit of whole numbers", () => {
    const last = 18446744073709551615n;
    expect(getValues(free, "range", { from: String(last - 2n), to: String(last), step: "1" })).toEqual([last - 2n, last - 1n, last]);
    expect(getValues(free, "range", { from: "1125899906842002", to: "1125899906842001", step: "1" })).toEqual([
      1125899906842002, 1125899906842001,
    ]);
  });
});

describe("the default step", () => {
  const step = (name: string, value: unknown, control: Partial<Extract<Control, { kind: "number" }>>) =>
    firstStep({ name, value, control: { kind: "number", integer: false, ...control } });
  it.each([
    ["a whole number for whole numbers", step("steps", 20, { integer: true }), "1"],
    ["that of the service for them", step("width", 512, { integer: true, step: 8 }), "8"],
    ["a whole number even where the service says a fraction", step("width", 512, { integer: true, step: 0.1 }), "1"],
    ["a whole number for a seed of unknown kind", step("noise_seed", 5, {}), "1"],
    ["a whole number for a seed of twenty digits", step("seed", 18446744073709551615n, {}), "1"],
    ["a whole number for a size that is a fraction to the service", step("value", 1024, { step: 0.1 }), "1"],
    ["the service's for a fraction", step("cfg", 7, { step: 0.5 }), "0.5"],
    ["one that can be seen where the service's is small", step("denoise", 0.6, { step: 0.01, min: 0, max: 1 }), "0.1"],
    ["the service's within a narrow range", step("noise", 0.01, { step: 0.001, min: 0, max: 0.1 }), "0.001"],
    ["a tenth for a fraction that nobody describes", step("strength", 0.6, {}), "0.1"],
  ])("is %s", (_, match, expected) => expect(match).toBe(expected));
});

describe("a list", () => {
  it("splits numbers by commas or lines and names a bad line", () => {
    expect(getValues(free, "list", { list: "1, 2\n3.5\n\n" })).toEqual([1, 2, 3.5]);
    expect(getValues(free, "list", { list: "18446744073709551615" })).toEqual([18446744073709551615n]);
    expect(getValues(free, "list", { list: "1\ntwo" })).toEqual({ why: "no_number", line: 2, text: "two" });
  });

  it("splits texts by line or by ---", () => {
    const text = field({ kind: "long-text" });
    expect(getValues(text, "list", { list: "a red fox\na blue fox\n" })).toEqual(["a red fox", "a blue fox"]);
    expect(getValues(text, "list", { list: "one\ntwo\n---\nthree\n---\n" })).toEqual(["one\ntwo", "three"]);
  });

  it("is judged by the limits that the service states", () => {
    expect(getValues(number, "list", { list: "5 1001" })).toEqual({ why: "too_big", value: "1001", limit: "1000" });
    expect(getValues(number, "list", { list: "1\n12.5" })).toEqual({ why: "not_whole", value: "12.5" });
    expect(getValues(number, "range", { from: "1", to: "3", step: "0.5" })).toEqual({ why: "not_whole", value: "1.5" });
    expect(getValues(number, "list", { list: "-1" })).toEqual({ why: "too_small", value: "-1", limit: "0" });
  });

  it("of colours has whole numbers within the limits", () => {
    const color = field({ kind: "color" });
    expect(getValues(color, "list", { list: "0 16777215" })).toEqual([0, 16777215]);
    expect(getValues(color, "list", { list: "12.5" })).toEqual({ why: "not_whole", value: "12.5" });
    expect(getValues(color, "list", { list: "-1" })).toEqual({ why: "too_small", value: "-1", limit: "0" });
    expect(getValues(color, "range", { from: "16777214", to: "16777216", step: "1" })).toEqual({
      why: "too_big",
      value: "16777216",
      limit: "16777215",
    });
    expect(getValues(field({ kind: "color", max: 4294967295 }), "list", { list: "4294967295" })).toEqual([4294967295]);
  });

  it("runs nothing when empty", () => {
    expect(getValues(free, "list", { list: " \n" })).toEqual({ why: "none" });
  });
});

describe("random seeds", () => {
  it("are distinct and within the node's range", () => {
    const values = getValues(field({ kind: "number", integer: true, min: 0, max: 18446744073709551615n }, "seed"), "random", {
      count: "500",
    });
    const seeds = Array.isArray(values) ? values.map(Number) : [];
    expect(new Set(seeds).size).toBe(500);
    expect(seeds.every((seed) => Number.isSafeInteger(seed) && seed >= 0)).toBe(true);
  });

  it.each(["", "0", "1.5", "many"])("are invalid for %j", (count) => {
    expect(getValues(number, "random", { count })).toEqual({ why: "no_count" });
  });
});

it("combines choices, switches and pictures in order", () => {
  expect(getValues(field({ kind: "choice", options: ["a", "b", 3] }), "chosen", { chosen: [3, "a", "gone"] })).toEqual(["a", 3]);
  expect(getValues(field({ kind: "switch" }), "chosen", { chosen: [false, true] })).toEqual([true, false]);
  expect(getValues(field({ kind: "image" }), "pictures", { pictures: ["b.png", "a.png"] })).toEqual(["b.png", "a.png"]);
});

it("starts with random seeds and ranges for numbers, and rejects other types", () => {
  expect(getVariationKinds(field({ kind: "number", integer: true }, "noise_seed"))[0]).toBe("random");
  expect(getVariationKinds(number)[0]).toBe("range");
  expect(getVariationKinds(field({ kind: "fixed" }))).toEqual([]);
});

it("names the copy and its variation without secrets", () => {
  expect(getCopyLabel("seed", 18446744073709551615n, { index: 2, total: 12 })).toBe("3/12 · seed 18446744073709551615");
  expect(getCopyLabel("text", "a\n  b", { index: 0, total: 1 })).toBe("1/1 · text a b");
  expect(getCopyLabel("text", "x".repeat(500), { index: 0, total: 1 }).length).toBeLessThan(80);
  expect(getCopyLabel("api_key", "sk-very-secret", { index: 0, total: 2 })).toBe("1/2 · api_key");
});
