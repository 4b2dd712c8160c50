// Runs the cases recorded from a real server, comparing their pixels, and the bundled sample workflows.
import { readFile } from "node:fs/promises";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { graphSchema } from "@/lib/contract/schemas/graph";
import { getMaxDifference, goldenDir, openTestRunner, readPixels, readPngText, runGraph, samplesDir } from "./support";

const readJson = async (path: string): Promise<unknown> => JSON.parse(await readFile(path, "utf8"));
const cases = z
  .record(z.string(), z.object({ graph: graphSchema, outputs: z.array(z.string()) }))
  .parse(await readJson(`${goldenDir}cases.json`));
/** Blur and sharpen may differ by one. Everything else must be exact. */
const nearlyExactCases = /^(blur_|sharpen_)/;
const testRunner = openTestRunner();

describe("a node produces the reference pixels", () => {
  it.each(Object.entries(cases))("%s", async (name, { graph, outputs }) => {
    const { outcome, files } = await runGraph(testRunner, graph);
    expect(outcome).toEqual({ kind: "success" });
    expect(files).toHaveLength(outputs.length);
    for (const [index, output] of outputs.entries()) {
      const actualPixels = await readPixels(files[index]?.path ?? "");
      const expectedPixels = await readPixels(goldenDir + output);
      expect([actualPixels.width, actualPixels.height]).toEqual([expectedPixels.width, expectedPixels.height]);
      expect(getMaxDifference(actualPixels, expectedPixels)).toBeLessThanOrEqual(nearlyExactCases.test(name) ? 1 : 0);
    }
  });
});

const readSample = async (name: string) => graphSchema.parse(await readJson(`${samplesDir}${name}.json`));
const runSample = async (name: string) => runGraph(testRunner, await readSample(name), { imagesDir: samplesDir });

describe("a sample workflow", () => {
  it("inverts a canvas of one colour to the opposite colour", async () => {
    const { outcome, files } = await runSample("01-invert");
    expect(outcome).toEqual({ kind: "success" });
    const names = { nodeId: "3", key: "images", index: 0, type: "output", displayName: "invert_00001_.png" };
    expect(files).toMatchObject([{ ...names, mimeType: "image/png", width: 512, height: 384 }]);
    const { bytes } = await readPixels(files[0]?.path ?? "");
    // In float32, 1 - 204/255 is slightly below 51/255, and saving truncates the value to 50.
    expect([...bytes.subarray(0, 3)]).toEqual([204, 153, 50]);
  });

  it("makes a poster of the bundled photo", async () => {
    const { outcome, files } = await runSample("02-poster-from-photo");
    expect(outcome).toEqual({ kind: "success" });
    expect(files).toMatchObject([{ width: 1024, height: 768, displayName: "poster_00001_.png" }]);
  });

  it("places the product by its own alpha, and previews the mask as a temporary file", async () => {
    const { outcome, files } = await runSample("03-composite-with-mask");
    expect(outcome).toEqual({ kind: "success" });
    expect(files.map(({ nodeId, type }) => [nodeId, type])).toEqual([
      ["4", "output"],
      ["6", "temp"],
    ]);
    const pixels = await readPixels(files[0]?.path ?? "");
    expect([...pixels.bytes.subarray(0, 3)]).toEqual([245, 245, 244]);
    const middle = ((90 + 360) * 1200 + 120 + 250) * 3;
    expect([...pixels.bytes.subarray(middle, middle + 3)]).not.toEqual([245, 245, 244]);
  });

  it("makes four variants, numbered in order", async () => {
    const { outcome, files } = await runSample("04-four-variants");
    expect(outcome).toEqual({ kind: "success" });
    expect(files.map(({ displayName, index }) => [displayName, index])).toEqual([
      ["variant_00001_.png", 0],
      ["variant_00002_.png", 1],
      ["variant_00003_.png", 2],
      ["variant_00004_.png", 3],
    ]);
  });

  it.each(["09-colour-field", "10-light-leaks"])("renders %s differently per seed and equally for the same seed", async (name) => {
    const getPixels = async (seed: number) => {
      const graph = await readSample(name);
      for (const { inputs } of Object.values(graph)) if ("seed" in inputs) inputs.seed = seed;
      const { outcome, files } = await runGraph(testRunner, graph, { imagesDir: samplesDir });
      expect(outcome).toEqual({ kind: "success" });
      return (await readPixels(files[0]?.path ?? "")).bytes;
    };
    const [firstPixels, samePixels, otherPixels] = [await getPixels(1), await getPixels(1), await getPixels(2)];
    expect(firstPixels.equals(samePixels)).toBe(true);
    // Most pixels must differ visibly.
    const changedRatio = firstPixels.filter((value, index) => Math.abs(value - (otherPixels[index] ?? 0)) > 8).length / firstPixels.length;
    expect(changedRatio).toBeGreaterThan(0.5);
  });

  it("fails half way with a structured error and keeps earlier outputs", async () => {
    const { outcome, files } = await runSample("06-fails-half-way");
    expect(outcome).toMatchObject({
      kind: "error",
      error: {
        node_id: "4",
        node_type: "Fail",
        exception_type: "RuntimeError",
        exception_message: "the sampler ran out of memory",
        current_inputs: { message: ["the sampler ran out of memory"], anything: ["Image 256x256 x1"] },
      },
    });
    const traceback = outcome.kind === "error" ? outcome.error.traceback.join("\n") : "";
    expect(traceback).toContain('In node 4 (Fail "Breaks here"):');
    expect(traceback).not.toMatch(/\/(home|work|tmp)\//);
    expect(files.map(({ nodeId, type }) => [nodeId, type])).toEqual([["2", "temp"]]);
  });
});

describe("a saved PNG", () => {
  it("contains the graph as ASCII JSON in text chunks and stays readable", async () => {
    const graph = await readSample("01-invert");
    const workflow = { name: "Grüße 🖼", nodes: [] };
    const pngText = { prompt: JSON.stringify(graph), workflow: JSON.stringify(workflow), "bad\0key": "1" };
    const { files } = await runGraph(testRunner, graph, { pngText });
    const png = await readFile(files[0]?.path ?? "");
    const texts = readPngText(png);
    expect(Object.keys(texts)).toEqual(["prompt", "workflow"]);
    expect(texts.workflow).toMatch(/^[\x20-\x7e]*$/);
    expect(JSON.parse(texts.workflow ?? "")).toEqual(workflow);
    expect(JSON.parse(texts.prompt ?? "")).toEqual(graph);
    expect(await sharp(png).metadata()).toMatchObject({ width: 512, height: 384, channels: 3 });
  });
});
