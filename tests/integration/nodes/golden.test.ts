// Every case recorded from a real server, run through the real worker and compared sample by sample.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { graphSchema } from "@/lib/contract/schemas/graph";
import { type Bench, difference, goldenDir, openBench, readJson, readPixels, runGraph } from "./support";

const cases = z
  .record(z.string(), z.object({ graph: graphSchema, outputs: z.array(z.string()) }))
  .parse(await readJson(`${goldenDir}cases.json`));

/** Resampling, blur and sharpen may differ in the last bits of float32; everything else must be exact. */
const computed = /^(scale_up_(bilinear|area|bicubic|lanczos)|scale_by_half|blend_other_size|blur_|sharpen_)/;

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());

describe("a node gives the pixels that the family gives", () => {
  it.each(Object.entries(cases))("%s", async (name, { graph, outputs }) => {
    const { outcome, files } = await runGraph(bench, graph);
    expect(outcome).toEqual({ kind: "success" });
    expect(files).toHaveLength(outputs.length);
    for (const [index, output] of outputs.entries()) {
      const ours = await readPixels(files[index]?.path ?? "");
      const theirs = await readPixels(goldenDir + output);
      expect([ours.width, ours.height]).toEqual([theirs.width, theirs.height]);
      const { most, beyondTwo } = difference(ours, theirs);
      expect(most).toBeLessThanOrEqual(computed.test(name) ? 8 : 0);
      expect(beyondTwo).toBeLessThanOrEqual(0.01);
    }
  });
});
