// Preloading image files, and the node catalogue.
import { readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { beforeEach, describe, expect, it } from "vitest";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { describeLibrary } from "@/lib/service/nodes/library";
import { createImageFiles } from "@/lib/service/nodes/node-cache";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";

describe("image files", () => {
  let folder = "";
  beforeEach(() => void (folder = createTemporaryFolder()));

  const claimNothing = () => undefined;
  const createJob = (...paths: string[]) => ({ images: Object.fromEntries(paths.map((path) => [path, { path, hash: "" }])) });

  async function writeImage(name: string, red: number, width = 4, channels: 3 | 4 = 3): Promise<string> {
    const path = join(folder, name);
    await sharp({ create: { width, height: 2, channels, background: { r: red, g: 0, b: 0, alpha: 0.5 } } })
      .png()
      .toFile(path);
    return path;
  }

  it("returns a preloaded image even if its file was deleted", async () => {
    const path = await writeImage("a.png", 200);
    const files = createImageFiles();
    await files.prefetch({ ...createJob(), nextImage: path });
    await rm(path);
    await files.prefetch(createJob(path));
    const { data, size } = await files.read(path, claimNothing);
    expect([size, data[0]]).toEqual([{ width: 4, height: 2 }, 200]);
    await expect(files.read(path, claimNothing)).rejects.toThrow();
  });

  it("passes preloaded frames to their reader, including alpha", async () => {
    const path = await writeImage("a.png", 200, 4, 4);
    const files = createImageFiles();
    const claims: unknown[] = [];
    for (const isPreloaded of [true, false]) {
      if (isPreloaded) await files.prefetch({ ...createJob(), nextImage: path });
      await files.read(path, (size, frames) => claims.push([size, frames]));
    }
    const expectedClaim = [{ width: 4, height: 2 }, 2];
    expect(claims).toEqual([expectedClaim, expectedClaim]);
    const rejectingFiles = createImageFiles();
    await rejectingFiles.prefetch({ ...createJob(), nextImage: path });
    const rejectClaim = () => {
      throw new Error("no memory");
    };
    await expect(rejectingFiles.read(path, rejectClaim)).rejects.toThrow("no memory");
  });

  it("drops preloaded images of another job", async () => {
    const [first, second] = [await writeImage("a.png", 200), await writeImage("b.png", 100)];
    const files = createImageFiles();
    await files.prefetch({ ...createJob(), nextImage: first });
    await files.prefetch(createJob(second));
    await rm(first);
    await expect(files.read(first, claimNothing)).rejects.toThrow();
  });

  it("reads an image that is too large for the cache in its job", async () => {
    const path = await writeImage("wide.png", 200, 4_200_000);
    const files = createImageFiles();
    await files.prefetch({ ...createJob(), nextImage: path });
    await writeImage("wide.png", 100);
    expect((await files.read(path, claimNothing)).data[0]).toBe(100);
  });

  it("reports an unreadable preloaded file in its job", async () => {
    const path = join(folder, "broken.png");
    await writeFile(path, "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'/>");
    const files = createImageFiles();
    await files.prefetch({ ...createJob(), nextImage: path });
    await expect(files.read(path, claimNothing)).rejects.toThrow(/unsupported image format/);
    await writeImage("broken.png", 100);
    expect((await files.read(path, claimNothing)).data[0]).toBe(100);
  });

  it("doesn't preload an image twice", async () => {
    const path = await writeImage("a.png", 200);
    const files = createImageFiles();
    await files.read(path, claimNothing);
    await files.prefetch({ ...createJob(), nextImage: path });
    await writeImage("a.png", 100);
    expect((await files.read(path, claimNothing)).data[0]).toBe(100);
  });
});

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
