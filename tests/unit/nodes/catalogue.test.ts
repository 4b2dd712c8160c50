// The node catalogue.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { describeLibrary } from "@/lib/service/nodes/library";

const recordedClasses = Object.fromEntries(
  Object.entries(toRecord(parseExactJson(readFileSync("tests/fixtures/golden/object-info.json", "utf8")))).map(([name, info]) => [
    name,
    toRecord(info),
  ]),
);
const library: Record<string, Record<string, unknown>> = describeLibrary();

function toRecord(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null) throw new Error("not an object");
  return { ...value };
}

describe("the catalogue", () => {
  it.each(Object.keys(recordedClasses))("describes %s with the recorded names, types, defaults, ranges and choices", (name) => {
    expect(library[name]).toEqual({ ...library[name], ...recordedClasses[name] });
    expect(library[name]).toMatchObject({ deprecated: recordedClasses[name]?.deprecated ?? false, experimental: false });
    expect(library[name]?.description).not.toBe("");
  });

  it("describes ImageAddNoise like the original source", () => {
    expect(library.ImageAddNoise).toMatchObject({
      display_name: "Add Noise to Image",
      category: "image/filters",
      input: {
        required: {
          image: ["IMAGE", {}],
          seed: ["INT", { default: 0, min: 0, max: 0xffffffffffffffffn, control_after_generate: true }],
          strength: ["FLOAT", { default: 0.5, min: 0, max: 1, step: 0.01 }],
        },
      },
      output: ["IMAGE"],
    });
  });

  it("includes Wait and Fail, which pass values through", () => {
    const passThrough = { input: { optional: { anything: ["*", {}] } }, output: ["*"] };
    expect([library.Wait, library.Fail]).toMatchObject([passThrough, passThrough]);
    expect(Object.keys(library).filter((name) => !Object.hasOwn(recordedClasses, name))).toEqual(["ImageAddNoise", "Wait", "Fail"]);
  });

  it("offers the passed images as LoadImage's choices", () => {
    expect(describeLibrary({ images: ["a.png"] }).LoadImage).toMatchObject({
      input: { required: { image: [["a.png"], { image_upload: true }] } },
    });
  });

  it("matches the contract's catalogue schema", () => {
    expect(objectInfoSchema.safeParse(parseExactJson(writeExactJson(library))).success).toBe(true);
  });
});
