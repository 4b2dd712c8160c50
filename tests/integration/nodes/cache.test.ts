// The same work for the same user is done once; its results are reused as files of the new job.
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { type Graph } from "@/lib/contract/schemas/graph";
import { createFolderBackend } from "@/lib/service/assets/blobs/folder-backend";
import { stageFile } from "@/lib/service/assets/staged-file";
import { goldenDir, type GraphRun, openTestRunner, runGraph } from "./support";

const testRunner = await openTestRunner();

const graph = (sigma: number, prefix = "x"): Graph => ({
  l: { class_type: "LoadImage", inputs: { image: "g_rgb.png" } },
  i: { class_type: "ImageInvert", inputs: { image: ["l", 0] } },
  b: { class_type: "ImageBlur", inputs: { image: ["i", 0], blur_radius: 3, sigma } },
  o: { class_type: "SaveImage", inputs: { images: ["b", 0], filename_prefix: prefix } },
});

const cachedNodes = ({ events }: GraphRun) =>
  events.flatMap((event) => (event.kind === "node" && event.cached ? [event.nodeId] : [])).sort();
const runFor = async (user: string, prompt: Graph, imagesDir = goldenDir) => {
  const [cacheDir, blobsDir] = [join(testRunner.folder, user), join(testRunner.folder, `${user}-blobs`)];
  for (const folder of [cacheDir, blobsDir]) await mkdir(folder, { recursive: true });
  const result = await runGraph(testRunner, prompt, { cacheDir, blobsDir, imagesDir });
  // As the service does when a job has ended: its outputs become blobs.
  for (const file of result.files) await createFolderBackend(blobsDir).adopt(await stageFile(file.path));
  return { ...result, blobsDir };
};

describe("the cache", () => {
  it("restores every node of the same graph, with equal files in the new folder", async () => {
    const first = await runFor("anna", graph(1));
    const second = await runFor("anna", graph(1));
    expect(cachedNodes(first)).toEqual([]);
    expect(cachedNodes(second)).toEqual(["b", "i", "l", "o"]);
    expect(second.outcome).toEqual({ kind: "success" });
    const [before, after] = [first.files[0], second.files[0]];
    expect(after?.path).not.toBe(before?.path);
    expect({ ...after, path: "" }).toEqual({ ...before, path: "" });
    expect(await readFile(after?.path ?? "")).toEqual(await readFile(before?.path ?? ""));
  });

  it("recreates a file whose bytes are missing", async () => {
    const { blobsDir } = await runFor("gina", graph(1));
    await rm(blobsDir, { recursive: true });
    expect(cachedNodes(await runFor("gina", graph(1)))).toEqual(["b", "i", "l"]);
    expect(cachedNodes(await runFor("gina", graph(1)))).toEqual(["b", "i", "l", "o"]);
  });

  it("recreates a file whose bytes changed on disk", async () => {
    const first = await runFor("ivan", graph(1));
    const [file] = first.files;
    if (!file) throw new Error("nothing was put out");
    const bytes = await readFile(file.path);
    // The blob and the job's file share their bytes, so this damages both.
    await writeFile(file.path, Buffer.concat([bytes.subarray(0, -1), Buffer.from([1])]));
    const second = await runFor("ivan", graph(1));
    expect(cachedNodes(second)).toEqual(["b", "i", "l"]);
    expect(await readFile(second.files[0]?.path ?? "")).toEqual(bytes);
    expect(cachedNodes(await runFor("ivan", graph(1)))).toEqual(["b", "i", "l", "o"]);
  });

  it("numbers cached files among a job's new ones", async () => {
    const twoSaves = (sigma: number): Graph => ({
      ...graph(1),
      other: { class_type: "ImageBlur", inputs: { image: ["i", 0], blur_radius: 3, sigma } },
      second: { class_type: "SaveImage", inputs: { images: ["other", 0], filename_prefix: "x" } },
    });
    // Metadata without the graph: files contain it, so another graph would make other files.
    const pngText = {};
    const [cacheDir, blobsDir] = [join(testRunner.folder, "hans"), join(testRunner.folder, "hans-blobs")];
    for (const folder of [cacheDir, blobsDir]) await mkdir(folder, { recursive: true });
    const run = (sigma: number) => runGraph(testRunner, twoSaves(sigma), { cacheDir, blobsDir, pngText });
    const first = await run(2);
    for (const file of first.files) await createFolderBackend(blobsDir).adopt(await stageFile(file.path));
    const second = await run(3);
    expect(cachedNodes(second)).toEqual(["b", "i", "l", "o"]);
    expect(second.files.map((file) => file.displayName)).toEqual(["x_00001_.png", "x_00002_.png"]);
  });

  it("reruns only nodes affected by a changed input", async () => {
    await runFor("bert", graph(1));
    expect(cachedNodes(await runFor("bert", graph(2)))).toEqual(["i", "l"]);
  });

  it("is per user and disabled without one", async () => {
    await runFor("carl", graph(1));
    expect(cachedNodes(await runFor("dora", graph(1)))).toEqual([]);
    expect(cachedNodes(await runGraph(testRunner, graph(1)))).toEqual([]);
  });

  it("detects a changed file of the same name", async () => {
    await copyFile(`${goldenDir}g_rgb.png`, join(testRunner.folder, "g_rgb.png"));
    const first = await runFor("emil", graph(1), testRunner.folder);
    await writeFile(join(testRunner.folder, "g_rgb.png"), await sharp(`${goldenDir}g_small.png`).png().toBuffer());
    const second = await runFor("emil", graph(1), testRunner.folder);
    expect(cachedNodes(second)).toEqual([]);
    expect(second.files[0]?.width).not.toBe(first.files[0]?.width);
  });

  it("never caches Wait, Fail and nodes that depend on them", async () => {
    const waiting: Graph = {
      ...graph(1),
      w: { class_type: "Wait", inputs: { seconds: 0, anything: ["b", 0] } },
      o: { class_type: "SaveImage", inputs: { images: ["w", 0], filename_prefix: "x" } },
    };
    await runFor("fred", waiting);
    expect(cachedNodes(await runFor("fred", waiting))).toEqual(["b", "i", "l"]);
  });
});
