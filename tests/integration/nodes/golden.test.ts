// Every case recorded from a real server, run through the real worker and compared sample by sample.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { graphSchema } from "@/lib/contract/schemas/graph";
import { type Bench, goldenDir, mostDifference, openBench, readJson, readPixels, runGraph } from "./support";

const cases = z
  .record(z.string(), z.object({ graph: graphSchema, outputs: z.array(z.string()) }))
  .parse(await readJson(`${goldenDir}cases.json`));

/** Blur and sharpen may differ by one; everything else must be exact. */
const nearlyExact = /^(blur_|sharpen_)/;

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
      expect(mostDifference(ours, theirs)).toBeLessThanOrEqual(nearlyExact.test(name) ? 1 : 0);
    }
  });
});
