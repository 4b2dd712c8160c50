// Large and hostile prompts: checked in bounded time, with an answer of bounded length.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { empty, errorsOf, invert, save, validate } from "./prompts";

describe("a large graph", () => {
  const chain = (length: number, first: object) =>
    Object.fromEntries([["n0", first], ...Array.from({ length }, (_, i) => [`n${i + 1}`, invert([`n${i}`, 0])])]);

  it("of 4,999 nodes in a row is checked without running out of stack", () => {
    expect(validate({ ...chain(4997, empty), o: save(["n4997", 0]) }).ok).toBe(true);
  });

  it("that is one loop of thousands is refused in few words", () => {
    const refused = validate({ ...chain(4997, invert(["n4997", 0])), o: save(["n4997", 0]) });
    expect(errorsOf(refused, "n0")).toMatchObject([{ type: "dependency_cycle" }]);
    expect(refused.nodeErrors.n0?.dependent_outputs).toEqual(["o"]);
    expect(JSON.stringify(refused).length).toBeLessThan(200_000);
  });

  it("of thousands of loops that share their nodes is refused in few words", () => {
    const blend = (a: string, b: string) => ({
      class_type: "ImageBlend",
      inputs: { image1: [a, 0], image2: [b, 0], blend_factor: 0.5, blend_mode: "normal" },
    });
    for (const back of [(i: number) => `n${i % 2}`, (i: number) => `n${Math.max(0, i - 50)}`]) {
      const loops = Object.fromEntries(Array.from({ length: 4990 }, (_, i) => [`n${i}`, blend(`n${(i + 1) % 4990}`, back(i))]));
      const refused = validate({ ...loops, o: save(["n0", 0]) });
      expect(refused.ok).toBe(false);
      expect(JSON.stringify(refused).length).toBeLessThan(2_000_000);
    }
  });

  it("names every one of many small loops, with the output that it spoils", () => {
    const pairs = Object.fromEntries(
      Array.from({ length: 300 }, (_, i) => [
        [`a${i}`, invert([`b${i}`, 0])] as const,
        [`b${i}`, invert([`a${i}`, 0])] as const,
        [`o${i}`, save([`a${i}`, 0])] as const,
      ]).flat(),
    );
    const { nodeErrors } = validate({ ...pairs, e: empty, good: save(["e", 0]) });
    expect(new Set(Object.values(nodeErrors).flatMap((node) => node.dependent_outputs)).size).toBe(300);
  });

  it("with thousands of bad nodes names every one", () => {
    const bad = { ...empty, inputs: { ...empty.inputs, width: -1 } };
    const many = Object.fromEntries(
      Array.from({ length: 1600 }, (_, i) => [
        [`e${i}`, bad] as const,
        [`i${i}`, invert([`e${i}`, 0])] as const,
        [`o${i}`, save([`i${i}`, 0])] as const,
      ]).flat(),
    );
    expect(Object.keys(validate(many).nodeErrors)).toHaveLength(1600);
  });
});

describe("any prompt", () => {
  it("gets an answer: accepted, or refused with a type and a message", () => {
    const input = fc.oneof(fc.jsonValue(), fc.tuple(fc.constantFrom("a", "b", "c", "__proto__"), fc.integer({ min: -1, max: 3 })));
    const node = fc.record({
      class_type: fc.constantFrom("EmptyImage", "ImageInvert", "ImageBlend", "SaveImage", "Wait", "PreviewAny", "LoadImage"),
      inputs: fc.dictionary(
        fc.constantFrom("image", "images", "image1", "image2", "width", "source", "anything", "seconds", "filename_prefix"),
        input,
      ),
    });
    const prompt = fc.dictionary(
      fc.constantFrom("a", "b", "c", "__proto__", "constructor"),
      fc.oneof({ weight: 9, arbitrary: node }, fc.jsonValue()),
    );
    fc.assert(
      fc.property(prompt, (value) => {
        const validation = validate(value);
        if (validation.ok) expect(validation.outputs.length).toBeGreaterThan(0);
        else expect(validation.error.message).not.toBe("");
      }),
    );
  });
});
