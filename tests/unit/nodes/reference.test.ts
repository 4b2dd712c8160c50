// Small cases, recorded from the public functions behind the family's nodes: odd sizes, batches, masks, edges.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { frameOfBytes, type Raster } from "@/lib/service/images/raster";
import { type NodeContext } from "@/lib/service/nodes/definition";
import { createInputs, type GivenInput } from "@/lib/service/nodes/failure-report";
import { classes } from "@/lib/service/nodes/library";

const rasterSchema = z.object({
  width: z.number(),
  height: z.number(),
  channels: z.union([z.literal(1), z.literal(3)]),
  frames: z.array(z.string()),
});
const cases = z
  .array(
    z.object({
      class: z.string(),
      exact: z.boolean(),
      inputs: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), rasterSchema])),
      outputs: z.array(rasterSchema),
    }),
  )
  .parse(JSON.parse(readFileSync("tests/fixtures/reference/nodes.json", "utf8")));

const toRaster = ({ frames, ...rest }: z.infer<typeof rasterSchema>): Raster => ({
  ...rest,
  frames: frames.map((frame) => frameOfBytes(Buffer.from(frame, "base64"))),
});

const unused = () => {
  throw new Error("These nodes need nothing of the job but room and ticks.");
};
const context: NodeContext = {
  claim: () => undefined,
  tick: () => undefined,
  wait: unused,
  imagePath: unused,
  readPixels: unused,
  pngText: {},
  nextNumber: unused,
  save: unused,
  now: unused,
};

function furthest(ours: Raster, theirs: z.infer<typeof rasterSchema>): number {
  const distances = theirs.frames.flatMap((frame, index) => {
    const bytes = ours.frames[index]?.bytes() ?? new Uint8Array();
    return [...Buffer.from(frame, "base64")].map((byte, i) => Math.abs(byte - (bytes[i] ?? Number.NaN)));
  });
  return Math.max(...distances);
}

describe("a node makes of a small image what its reference makes of it", () => {
  const named = cases.map((each, index) => ({ ...each, title: `${each.class} ${index}` }));
  it.each(named)("$title", async ({ class: name, inputs, outputs, exact }) => {
    const definition = classes.get(name);
    if (!definition) throw new Error(`There is no class ${name}.`);
    const given = new Map<string, GivenInput>(
      Object.entries(inputs).map(([input, value]) => [input, { value: typeof value === "object" ? toRaster(value) : value, type: "*" }]),
    );
    const { values } = await definition.run(createInputs(definition, given), context);
    expect(values).toHaveLength(outputs.length);
    for (const [index, theirs] of outputs.entries()) {
      const ours = values[index];
      if (typeof ours !== "object") throw new Error("It answered no raster.");
      const { frames, ...size } = ours;
      expect({ ...size, count: frames.length }).toEqual({
        width: theirs.width,
        height: theirs.height,
        channels: theirs.channels,
        count: theirs.frames.length,
      });
      expect(furthest(ours, theirs)).toBeLessThanOrEqual(exact ? 0 : 1);
    }
  });
});
