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

it.each<[string, FormField, Partial<VariationInput>, unknown]>([
  ["includes the end when a step reaches it", integerField, { from: "1", to: "10", step: "3" }, [1, 4, 7, 10]],
  ["excludes the end when no step reaches it", integerField, { from: "1", to: "9", step: "3" }, [1, 4, 7]],
  ["descends with a positive step", integerField, { from: "3", to: "1", step: "1" }, [3, 2, 1]],
  ["ascends with a negative step", integerField, { from: "1", to: "3", step: "-1" }, [1, 2, 3]],
  ["sums fractions exactly", floatField, { from: "0.1", to: "0.5", step: "0.1" }, [0.1, 0.2, 0.3, 0.4, 0.5]],
  ["rejects too many steps", floatField, { from: "0", to: "1000000", step: "1" }, { code: "too_many", max: 1000 }],
  ["rejects a step of 0", floatField, { from: "0", to: "1", step: "0" }, { code: "no_step" }],
  ["rejects a missing end", floatField, { from: "0", to: "", step: "1" }, { code: "no_range" }],
  ["rejects a fraction for an integer", integerField, { from: "1", to: "3", step: "0.5" }, { code: "not_whole", value: "1.5" }],
  [
    "keeps every digit of 64-bit integers",
    floatField,
    { from: "18446744073709551613", to: "18446744073709551615", step: "1" },
    [18446744073709551613n, 18446744073709551614n, 18446744073709551615n],
  ],
  [
    "keeps every digit of large safe integers",
    floatField,
    { from: "1125899906842002", to: "1125899906842001", step: "1" },
    [1125899906842002, 1125899906842001],
  ],
])("%s in a range", (_, field, typed, expected) => {
  expect(getValues(field, "range", typed)).toEqual(expected);
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

const textField = createField({ kind: "long-text" });
const colorField = createField({ kind: "color" });
it.each<[string, FormField, string, unknown]>([
  ["numbers by comma or line", floatField, "1, 2\n3.5\n\n", [1, 2, 3.5]],
  ["a number of twenty digits", floatField, "18446744073709551615", [18446744073709551615n]],
  ["an invalid line", floatField, "1\ntwo", { code: "no_number", line: 2, text: "two" }],
  ["nothing", floatField, " \n", { code: "none" }],
  ["text by line", textField, "a red fox\na blue fox\n", ["a red fox", "a blue fox"]],
  ["text by ---", textField, "one\ntwo\n---\nthree\n---\n", ["one\ntwo", "three"]],
  ["a number above the limit", integerField, "5 1001", { code: "too_big", value: "1001", limit: "1000" }],
  ["a number below the limit", integerField, "-1", { code: "too_small", value: "-1", limit: "0" }],
  ["a fraction for an integer", integerField, "1\n12.5", { code: "not_whole", value: "12.5" }],
  ["colours", colorField, "0 16777215", [0, 16777215]],
  ["a colour above the limit", colorField, "16777216", { code: "too_big", value: "16777216", limit: "16777215" }],
  ["a negative colour", colorField, "-1", { code: "too_small", value: "-1", limit: "0" }],
  ["a fraction for a colour", colorField, "12.5", { code: "not_whole", value: "12.5" }],
  ["a colour within the service's limit", createField({ kind: "color", max: 4294967295 }), "4294967295", [4294967295]],
])("reads %s in a list", (_, field, list, expected) => {
  expect(getValues(field, "list", { list })).toEqual(expected);
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
  const getProblem = (kind: "chosen" | "pictures") => parseVariation(createField({ kind: "image" }), kind, emptyInput);
  expect(getProblem("chosen")).toMatchObject({ problem: { code: "no_choice" } });
  expect(getProblem("pictures")).toMatchObject({ problem: { code: "no_pictures" } });
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
