import { describe, expect, it } from "vitest";
import {
  getCopyLabel,
  getDefaultStep,
  getVariationKinds,
  parseVariation,
  type VariationInput,
  type VariationKind,
} from "@/components/run/copies/variation";
import { type Control, type FormField } from "@/components/run/form/form-model";

const emptyInput: VariationInput = { list: "", from: "", to: "", step: "", count: "", chosen: [], pictures: [] };
const createField = (control: Control, name = "value"): FormField => ({ name, value: undefined, control });
const integerField = createField({ kind: "number", integer: true, min: 0, max: 1000 });
const floatField = createField({ kind: "number", integer: false });

function getValues(field: FormField, kind: VariationKind, typed: Partial<VariationInput>) {
  const variation = parseVariation(field, kind, { ...emptyInput, ...typed });
  return variation.ok ? variation.values : variation.problem;
}

describe("a range", () => {
  it("includes the end when a step reaches it", () => {
    expect(getValues(integerField, "range", { from: "1", to: "10", step: "3" })).toEqual([1, 4, 7, 10]);
    expect(getValues(integerField, "range", { from: "1", to: "9", step: "3" })).toEqual([1, 4, 7]);
  });

  it("ascends or descends regardless of the step's sign", () => {
    expect(getValues(integerField, "range", { from: "3", to: "1", step: "1" })).toEqual([3, 2, 1]);
    expect(getValues(integerField, "range", { from: "1", to: "3", step: "-1" })).toEqual([1, 2, 3]);
  });

  it("sums fractions exactly", () => {
    expect(getValues(floatField, "range", { from: "0.1", to: "0.5", step: "0.1" })).toEqual([0.1, 0.2, 0.3, 0.4, 0.5]);
  });

  it("rejects too many steps, a step of 0 and a missing end", () => {
    expect(getValues(floatField, "range", { from: "0", to: "1000000", step: "1" })).toEqual({ code: "too_many", max: 1000 });
    expect(getValues(floatField, "range", { from: "0", to: "1", step: "0" })).toEqual({ code: "no_step" });
    expect(getValues(floatField, "range", { from: "0", to: "", step: "1" })).toEqual({ code: "no_range" });
  });

  it("keeps every digit of large integers", () => {
    const last = 18446744073709551615n;
    expect(getValues(floatField, "range", { from: String(last - 2n), to: String(last), step: "1" })).toEqual([last - 2n, last - 1n, last]);
    expect(getValues(floatField, "range", { from: "1125899906842002", to: "1125899906842001", step: "1" })).toEqual([
      1125899906842002, 1125899906842001,
    ]);
  });
});

describe("the default step", () => {
  const getFirstStep = (name: string, value: unknown, control: Partial<Extract<Control, { kind: "number" }>>) =>
    getDefaultStep({ name, value, control: { kind: "number", integer: false, ...control } });
  it.each([
    ["1 for an integer", getFirstStep("steps", 20, { integer: true }), "1"],
    ["the service's step for an integer", getFirstStep("width", 512, { integer: true, step: 8 }), "8"],
    ["1 when the service has a fractional step for an integer", getFirstStep("width", 512, { integer: true, step: 0.1 }), "1"],
    ["1 for a seed of unknown type", getFirstStep("noise_seed", 5, {}), "1"],
    ["1 for a seed of twenty digits", getFirstStep("seed", 18446744073709551615n, {}), "1"],
    ["1 for a size that the service declares as a float", getFirstStep("value", 1024, { step: 0.1 }), "1"],
    ["the service's step for a float", getFirstStep("cfg", 7, { step: 0.5 }), "0.5"],
    ["0.1 when the service's step is too small to see", getFirstStep("denoise", 0.6, { step: 0.01, min: 0, max: 1 }), "0.1"],
    ["the service's step within a narrow range", getFirstStep("noise", 0.01, { step: 0.001, min: 0, max: 0.1 }), "0.001"],
    ["0.1 for a float without a description", getFirstStep("strength", 0.6, {}), "0.1"],
  ])("is %s", (_, actual, expected) => expect(actual).toBe(expected));
});

describe("a list", () => {
  it("splits numbers by comma or line and reports an invalid line", () => {
    expect(getValues(floatField, "list", { list: "1, 2\n3.5\n\n" })).toEqual([1, 2, 3.5]);
    expect(getValues(floatField, "list", { list: "18446744073709551615" })).toEqual([18446744073709551615n]);
    expect(getValues(floatField, "list", { list: "1\ntwo" })).toEqual({ code: "no_number", line: 2, text: "two" });
  });

  it("splits text by line or by ---", () => {
    const text = createField({ kind: "long-text" });
    expect(getValues(text, "list", { list: "a red fox\na blue fox\n" })).toEqual(["a red fox", "a blue fox"]);
    expect(getValues(text, "list", { list: "one\ntwo\n---\nthree\n---\n" })).toEqual(["one\ntwo", "three"]);
  });

  it("rejects values outside the service's limits", () => {
    expect(getValues(integerField, "list", { list: "5 1001" })).toEqual({ code: "too_big", value: "1001", limit: "1000" });
    expect(getValues(integerField, "list", { list: "1\n12.5" })).toEqual({ code: "not_whole", value: "12.5" });
    expect(getValues(integerField, "range", { from: "1", to: "3", step: "0.5" })).toEqual({ code: "not_whole", value: "1.5" });
    expect(getValues(integerField, "list", { list: "-1" })).toEqual({ code: "too_small", value: "-1", limit: "0" });
  });

  it("accepts only integers within the limits for a colour", () => {
    const color = createField({ kind: "color" });
    expect(getValues(color, "list", { list: "0 16777215" })).toEqual([0, 16777215]);
    expect(getValues(color, "list", { list: "12.5" })).toEqual({ code: "not_whole", value: "12.5" });
    expect(getValues(color, "list", { list: "-1" })).toEqual({ code: "too_small", value: "-1", limit: "0" });
    expect(getValues(color, "range", { from: "16777214", to: "16777216", step: "1" })).toEqual({
      code: "too_big",
      value: "16777216",
      limit: "16777215",
    });
    expect(getValues(createField({ kind: "color", max: 4294967295 }), "list", { list: "4294967295" })).toEqual([4294967295]);
  });

  it("is rejected when empty", () => {
    expect(getValues(floatField, "list", { list: " \n" })).toEqual({ code: "none" });
  });
});

describe("random seeds", () => {
  it("are distinct and within the node's range", () => {
    const values = getValues(createField({ kind: "number", integer: true, min: 0, max: 18446744073709551615n }, "seed"), "random", {
      count: "500",
    });
    const seeds = Array.isArray(values) ? values.map(Number) : [];
    expect(new Set(seeds).size).toBe(500);
    expect(seeds.every((seed) => Number.isSafeInteger(seed) && seed >= 0)).toBe(true);
  });

  it.each(["", "0", "1.5", "many"])("are rejected for a count of %j", (count) => {
    expect(getValues(integerField, "random", { count })).toEqual({ code: "no_count" });
  });
});

it("returns chosen options, switch states and images in order", () => {
  expect(getValues(createField({ kind: "choice", options: ["a", "b", 3] }), "chosen", { chosen: [3, "a", "gone"] })).toEqual(["a", 3]);
  expect(getValues(createField({ kind: "switch" }), "chosen", { chosen: [false, true] })).toEqual([true, false]);
  expect(getValues(createField({ kind: "image" }), "pictures", { pictures: ["b.png", "a.png"] })).toEqual(["b.png", "a.png"]);
});

it("offers random values first for a seed and a range for other numbers", () => {
  expect(getVariationKinds(createField({ kind: "number", integer: true }, "noise_seed"))[0]).toBe("random");
  expect(getVariationKinds(integerField)[0]).toBe("range");
  expect(getVariationKinds(createField({ kind: "fixed" }))).toEqual([]);
});

it("labels a copy with its position and value, without secrets", () => {
  expect(getCopyLabel("seed", 18446744073709551615n, { index: 2, total: 12 })).toBe("3/12 · seed 18446744073709551615");
  expect(getCopyLabel("text", "a\n  b", { index: 0, total: 1 })).toBe("1/1 · text a b");
  expect(getCopyLabel("text", "x".repeat(500), { index: 0, total: 1 }).length).toBeLessThan(80);
  expect(getCopyLabel("api_key", "sk-very-secret", { index: 0, total: 2 })).toBe("1/2 · api_key");
});
