// Pictures that are read ahead, with real files.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createImageFiles } from "@/lib/service/nodes/reuse";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "lightdesk-ahead-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const free = () => undefined;
const jobOf = (...paths: string[]) => ({ images: Object.fromEntries(paths.map((path) => [path, { path, hash: "" }])) });

async function picture(name: string, red: number, width = 4, channels: 3 | 4 = 3): Promise<string> {
  const path = join(folder, name);
  await sharp({ create: { width, height: 2, channels, background: { r: red, g: 0, b: 0, alpha: 0.5 } } })
    .png()
    .toFile(path);
  return path;
}

it("a picture that was read ahead is there for its job, however the file has fared", async () => {
  const path = await picture("a.png", 200);
  const files = createImageFiles();
  await files.lookAhead({ ...jobOf(), nextImage: path });
  await rm(path);
  await files.lookAhead(jobOf(path));
  const { data, size } = await files.read(path, free);
  expect([size, data[0]]).toEqual([{ width: 4, height: 2 }, 200]);
  await expect(files.read(path, free)).rejects.toThrow();
});

it("what was read ahead is claimed by whoever reads it, alpha as frames of its own", async () => {
  const path = await picture("a.png", 200, 4, 4);
  const files = createImageFiles();
  const claimed: unknown[] = [];
  for (const ahead of [true, false]) {
    if (ahead) await files.lookAhead({ ...jobOf(), nextImage: path });
    await files.read(path, (size, frames) => claimed.push([size, frames]));
  }
  const once = [{ width: 4, height: 2 }, 2];
  expect(claimed).toEqual([once, once]);

  const refusing = createImageFiles();
  await refusing.lookAhead({ ...jobOf(), nextImage: path });
  const refuse = () => {
    throw new Error("no room");
  };
  await expect(refusing.read(path, refuse)).rejects.toThrow("no room");
});

it("a job that needs another picture lets go of what was read ahead", async () => {
  const [first, second] = [await picture("a.png", 200), await picture("b.png", 100)];
  const files = createImageFiles();
  await files.lookAhead({ ...jobOf(), nextImage: first });
  await files.lookAhead(jobOf(second));
  await rm(first);
  await expect(files.read(first, free)).rejects.toThrow();
});

it("a picture too large to be kept is read by its job", async () => {
  const path = await picture("wide.png", 200, 4_200_000);
  const files = createImageFiles();
  await files.lookAhead({ ...jobOf(), nextImage: path });
  await picture("wide.png", 100);
  expect((await files.read(path, free)).data[0]).toBe(100);
});

it("a file that could not be read ahead is read by its job, which says what is wrong with it", async () => {
  const path = join(folder, "broken.png");
  await writeFile(path, "no picture");
  const files = createImageFiles();
  await files.lookAhead({ ...jobOf(), nextImage: path });
  await expect(files.read(path, free)).rejects.toThrow(/unsupported image format/);
  await picture("broken.png", 100);
  expect((await files.read(path, free)).data[0]).toBe(100);
});

it("a picture that was read before is not read ahead again", async () => {
  const path = await picture("a.png", 200);
  const files = createImageFiles();
  await files.read(path, free);
  await files.lookAhead({ ...jobOf(), nextImage: path });
  await picture("a.png", 100);
  expect((await files.read(path, free)).data[0]).toBe(100);
});
