// The page's description of the samples agrees with their files.
import { existsSync, readFileSync } from "node:fs";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { pictureSamples, sampleClasses, samples } from "@/components/frame/samples/samples";
import { sampleGraph } from "./files";

describe.each(samples)("sample %s", (name) => {
  const nodes = Object.values(sampleGraph(name));

  it("names the classes that its file uses", () => {
    expect([...sampleClasses[name]]).toEqual([...new Set(nodes.map((node) => node.class_type))].sort());
    expect(pictureSamples.some((one) => one === name)).toBe(nodes.some((node) => node.class_type === "LoadImage"));
  });

  it("has a small picture of its result", async () => {
    const path = `public/samples/pictures/${name}.webp`;
    expect(existsSync(path)).toBe(true);
    expect(await sharp(path).metadata()).toMatchObject({ format: "webp", width: 480, height: 360 });
    expect(readFileSync(path).byteLength).toBeLessThan(25_000);
  });
});

it("at least two samples have a seed, so that one more press gives another picture", () => {
  const seeded = samples.filter((name) => Object.values(sampleGraph(name)).some(({ inputs }) => typeof inputs.seed === "number"));
  expect(seeded.length).toBeGreaterThanOrEqual(2);
});
