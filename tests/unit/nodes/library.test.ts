// The catalogue describes each class as a real server does.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { describeLibrary } from "@/lib/service/nodes/library";

const recorded = Object.fromEntries(
  Object.entries(record(parseExactJson(readFileSync("tests/fixtures/golden/object-info.json", "utf8")))).map(([name, info]) => [
    name,
    record(info),
  ]),
);
const ours: Record<string, Record<string, unknown>> = describeLibrary();

function record(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null) throw new Error("no object");
  return { ...value };
}

describe("the catalogue", () => {
  it.each(Object.keys(recorded))("describes %s with the recorded names, types, defaults, ranges and choices", (name) => {
    expect(ours[name]).toEqual({ ...ours[name], ...recorded[name] });
    expect(ours[name]).toMatchObject({ deprecated: recorded[name]?.deprecated ?? false, experimental: false });
    expect(ours[name]?.description).not.toBe("");
  });

  it("describes ImageAddNoise as the family's source declares it", () => {
    expect(ours.ImageAddNoise).toMatchObject({
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

  it("adds Wait and Fail, which pass anything through", () => {
    expect(ours.Wait).toMatchObject({
      input: { required: { seconds: ["FLOAT", { min: 0, max: 3600 }] }, optional: { anything: ["*", {}] } },
      output: ["*"],
    });
    expect(ours.Fail).toMatchObject({ input: { required: { message: ["STRING", {}] }, optional: { anything: ["*", {}] } }, output: ["*"] });
    expect(Object.keys(ours).filter((name) => !Object.hasOwn(recorded, name))).toEqual(["ImageAddNoise", "Wait", "Fail"]);
  });

  it("offers the given images as the choices of LoadImage", () => {
    expect(describeLibrary({ images: ["a.png"] }).LoadImage).toMatchObject({
      input: { required: { image: [["a.png"], { image_upload: true }] } },
    });
  });

  it("reads as the contract's catalogue", () => {
    expect(objectInfoSchema.safeParse(parseExactJson(writeExactJson(ours))).success).toBe(true);
  });
});
