// Reads real picture files ahead.
import { readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { beforeEach, describe, expect, it } from "vitest";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { readPixels } from "@/lib/service/images/decode";
import { describeLibrary } from "@/lib/service/nodes/library";
import { createImageFiles } from "@/lib/service/nodes/reuse";
import { temporaryFolder } from "@/tests/support/temporary-folder";

describe("image files", () => {
  let folder = "";
  beforeEach(async () => {
    folder = temporaryFolder();
  });

  const free = () => undefined;
  const createJob = (...paths: string[]) => ({ images: Object.fromEntries(paths.map((path) => [path, { path, hash: "" }])) });

  async function picture(name: string, red: number, width = 4, channels: 3 | 4 = 3): Promise<string> {
    const path = join(folder, name);
    await sharp({ create: { width, height: 2, channels, background: { r: red, g: 0, b: 0, alpha: 0.5 } } })
      .png()
      .toFile(path);
    return path;
  }

  it("returns a preloaded picture even if its file was deleted", async () => {
    const path = await picture("a.png", 200);
    const files = createImageFiles();
    await files.lookAhead({ ...createJob(), nextImage: path });
    await rm(path);
    await files.lookAhead(createJob(path));
    const { data, size } = await files.read(path, free);
    expect([size, data[0]]).toEqual([{ width: 4, height: 2 }, 200]);
    await expect(files.read(path, free)).rejects.toThrow();
  });

  it("hands preloaded frames over to their reader, alpha included", async () => {
    const path = await picture("a.png", 200, 4, 4);
    const files = createImageFiles();
    const claimed: unknown[] = [];
    for (const ahead of [true, false]) {
      if (ahead) await files.lookAhead({ ...createJob(), nextImage: path });
      await files.read(path, (size, frames) => claimed.push([size, frames]));
    }
    const once = [{ width: 4, height: 2 }, 2];
    expect(claimed).toEqual([once, once]);

    const refusing = createImageFiles();
    await refusing.lookAhead({ ...createJob(), nextImage: path });
    const refuse = () => {
      throw new Error("no room");
    };
    await expect(refusing.read(path, refuse)).rejects.toThrow("no room");
  });

  it("drops preloaded pictures of another job", async () => {
    const [first, second] = [await picture("a.png", 200), await picture("b.png", 100)];
    const files = createImageFiles();
    await files.lookAhead({ ...createJob(), nextImage: first });
    await files.lookAhead(createJob(second));
    await rm(first);
    await expect(files.read(first, free)).rejects.toThrow();
  });

  it("reads a picture too large for the cache in its job", async () => {
    const path = await picture("wide.png", 200, 4_200_000);
    const files = createImageFiles();
    await files.lookAhead({ ...createJob(), nextImage: path });
    await picture("wide.png", 100);
    expect((await files.read(path, free)).data[0]).toBe(100);
  });

  it("reports an unreadable preloaded file in its job", async () => {
    const path = join(folder, "broken.png");
    await writeFile(path, "no picture");
    const files = createImageFiles();
    await files.lookAhead({ ...createJob(), nextImage: path });
    await expect(files.read(path, free)).rejects.toThrow(/unsupported image format/);
    await picture("broken.png", 100);
    expect((await files.read(path, free)).data[0]).toBe(100);
  });

  it("doesn't preload a picture twice", async () => {
    const path = await picture("a.png", 200);
    const files = createImageFiles();
    await files.read(path, free);
    await files.lookAhead({ ...createJob(), nextImage: path });
    await picture("a.png", 100);
    expect((await files.read(path, free)).data[0]).toBe(100);
  });
});

const recorded = Object.fromEntries(
  Object.entries(record(parseExactJson(readFileSync("tests/fixtures/golden/object-info.json", "utf8")))).map(([name, info]) => [
    name,
    record(info),
  ]),
);
const library: Record<string, Record<string, unknown>> = describeLibrary();

function record(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null) throw new Error("no object");
  return { ...value };
}

describe("the catalogue", () => {
  it.each(Object.keys(recorded))("describes %s with the recorded names, types, defaults, ranges and choices", (name) => {
    expect(library[name]).toEqual({ ...library[name], ...recorded[name] });
    expect(library[name]).toMatchObject({ deprecated: recorded[name]?.deprecated ?? false, experimental: false });
    expect(library[name]?.description).not.toBe("");
  });

  it("describes ImageAddNoise as the family's source declares it", () => {
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
    expect(library.Wait).toMatchObject({
      input: { required: { seconds: ["FLOAT", { min: 0, max: 3600 }] }, optional: { anything: ["*", {}] } },
      output: ["*"],
    });
    expect(library.Fail).toMatchObject({
      input: { required: { message: ["STRING", {}] }, optional: { anything: ["*", {}] } },
      output: ["*"],
    });
    expect(Object.keys(library).filter((name) => !Object.hasOwn(recorded, name))).toEqual(["ImageAddNoise", "Wait", "Fail"]);
  });

  it("offers the passed images as LoadImage's choices", () => {
    expect(describeLibrary({ images: ["a.png"] }).LoadImage).toMatchObject({
      input: { required: { image: [["a.png"], { image_upload: true }] } },
    });
  });

  it("reads as the contract's catalogue", () => {
    expect(objectInfoSchema.safeParse(parseExactJson(writeExactJson(library))).success).toBe(true);
  });
});

it("draws no SVG under any file name", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "drawn.png");
  await writeFile(path, "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'/>");
  const nothing = () => undefined;
  await expect(readPixels(path, nothing)).rejects.toThrow("The file has an unsupported image format.");
});
