// Runs the bundled sample workflows. Two of them must be rejected.
import { readFile } from "node:fs/promises";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { isPngKeyword } from "@/lib/service/images/encode";
import { validatePrompt } from "@/lib/service/nodes/validate";
import { listFiles, openTestRunner, readGraph, readPixels, readPngText, runGraph, samplesDir } from "./support";

const testRunner = await openTestRunner();

const readSample = (name: string) => readGraph(`${samplesDir}${name}.json`);
const runSample = async (name: string) => runGraph(testRunner, await readSample(name), { imagesDir: samplesDir });

describe("a sample workflow", () => {
  it("inverts a canvas of one colour to the opposite colour", async () => {
    const { outcome, files } = await runSample("01-invert");
    expect(outcome).toEqual({ kind: "success" });
    expect(files).toMatchObject([
      {
        nodeId: "3",
        key: "images",
        index: 0,
        type: "output",
        displayName: "invert_00001_.png",
        mimeType: "image/png",
        width: 512,
        height: 384,
      },
    ]);
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

  it("is rejected with the name of a missing node class", async () => {
    const graph = await readSample("08-production-sdxl");
    const validation = validatePrompt(graph, { files: listFiles(graph) });
    expect(validation).toMatchObject({
      ok: false,
      error: { type: "missing_node_type", extra_info: { node_id: "1", class_type: "CheckpointLoaderSimple" } },
      nodeErrors: {},
    });
  });

  it("is rejected with errors on three nodes", async () => {
    const graph = await readSample("07-bad-graph");
    const validation = validatePrompt(graph, { files: listFiles(graph) });
    expect(validation.ok).toBe(false);
    expect(Object.keys(validation.nodeErrors)).toEqual(["1", "2", "4"]);
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
    expect(isPngKeyword("bad\0key")).toBe(false);
  });
});
