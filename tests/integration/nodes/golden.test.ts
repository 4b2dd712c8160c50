// Runs every case recorded from a real server on the real worker and compares the pixels.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { graphSchema } from "@/lib/contract/schemas/graph";
import { getMaxDifference, goldenDir, openTestRunner, readJson, readPixels, runGraph } from "./support";

const cases = z
  .record(z.string(), z.object({ graph: graphSchema, outputs: z.array(z.string()) }))
  .parse(await readJson(`${goldenDir}cases.json`));

/** Blur and sharpen may differ by one. Everything else must be exact. */
const nearlyExactCases = /^(blur_|sharpen_)/;
const testRunner = await openTestRunner();

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
