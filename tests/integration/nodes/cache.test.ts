// Node results are cached per user and reused as files of the new job.
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { type Graph } from "@/lib/contract/schemas/graph";
import { createFolderBackend } from "@/lib/service/assets/blobs/folder-backend";
import { stageFile } from "@/lib/service/assets/staged-file";
import { goldenDir, type GraphRun, openTestRunner, runGraph } from "./support";

const testRunner = openTestRunner();

const createGraph = (sigma: number, prefix = "x"): Graph => ({
  l: { class_type: "LoadImage", inputs: { image: "g_rgb.png" } },
  i: { class_type: "ImageInvert", inputs: { image: ["l", 0] } },
  b: { class_type: "ImageBlur", inputs: { image: ["i", 0], blur_radius: 3, sigma } },
  o: { class_type: "SaveImage", inputs: { images: ["b", 0], filename_prefix: prefix } },
});

const listCachedNodes = ({ events }: GraphRun) =>
  events.flatMap((event) => (event.kind === "node" && event.cached ? [event.nodeId] : [])).sort();
const runForUser = async (user: string, prompt: Graph, options: { imagesDir?: string; pngText?: Record<string, string> } = {}) => {
  const [cacheDir, blobsDir] = [join(testRunner.folder, user), join(testRunner.folder, `${user}-blobs`)];
  for (const folder of [cacheDir, blobsDir]) await mkdir(folder, { recursive: true });
  const result = await runGraph(testRunner, prompt, { cacheDir, blobsDir, ...options });
  // Stores the outputs as blobs, like the service after a job.
  for (const file of result.files) await createFolderBackend(blobsDir).adopt(await stageFile(file.path));
  return { ...result, blobsDir };
};

describe("the cache", () => {
  it("restores every node of the same graph, with equal files in the new folder", async () => {
    const first = await runForUser("anna", createGraph(1));
    const second = await runForUser("anna", createGraph(1));
    expect(listCachedNodes(first)).toEqual([]);
    expect(listCachedNodes(second)).toEqual(["b", "i", "l", "o"]);
    expect(second.outcome).toEqual({ kind: "success" });
    const [before, after] = [first.files[0], second.files[0]];
    expect(after?.path).not.toBe(before?.path);
    expect({ ...after, path: "" }).toEqual({ ...before, path: "" });
    expect(await readFile(after?.path ?? "")).toEqual(await readFile(before?.path ?? ""));
  });

  it("recreates a file whose bytes are missing", async () => {
    const { blobsDir } = await runForUser("gina", createGraph(1));
    await rm(blobsDir, { recursive: true });
    expect(listCachedNodes(await runForUser("gina", createGraph(1)))).toEqual(["b", "i", "l"]);
    expect(listCachedNodes(await runForUser("gina", createGraph(1)))).toEqual(["b", "i", "l", "o"]);
  });

  it("recreates a file whose bytes changed on disk", async () => {
    const first = await runForUser("ivan", createGraph(1));
    const [file] = first.files;
    if (!file) throw new Error("the job produced no file");
    const bytes = await readFile(file.path);
    // The blob and the job's file share their bytes, so this damages both.
    await writeFile(file.path, Buffer.concat([bytes.subarray(0, -1), Buffer.from([1])]));
    const second = await runForUser("ivan", createGraph(1));
    expect(listCachedNodes(second)).toEqual(["b", "i", "l"]);
    expect(await readFile(second.files[0]?.path ?? "")).toEqual(bytes);
    expect(listCachedNodes(await runForUser("ivan", createGraph(1)))).toEqual(["b", "i", "l", "o"]);
  });

  it("numbers cached and new files of a job together", async () => {
    const createGraphWithTwoSaves = (sigma: number): Graph => ({
      ...createGraph(1),
      other: { class_type: "ImageBlur", inputs: { image: ["i", 0], blur_radius: 3, sigma } },
      second: { class_type: "SaveImage", inputs: { images: ["other", 0], filename_prefix: "x" } },
    });
    // Omits the graph from the metadata, because files with different graphs would differ.
    const options = { pngText: {} };
    await runForUser("hans", createGraphWithTwoSaves(2), options);
    const second = await runForUser("hans", createGraphWithTwoSaves(3), options);
    expect(listCachedNodes(second)).toEqual(["b", "i", "l", "o"]);
    expect(second.files.map((file) => file.displayName)).toEqual(["x_00001_.png", "x_00002_.png"]);
  });

  it("reruns only nodes affected by a changed input", async () => {
    await runForUser("bert", createGraph(1));
    expect(listCachedNodes(await runForUser("bert", createGraph(2)))).toEqual(["i", "l"]);
  });

  it("is separate for each user and disabled without a user", async () => {
    await runForUser("carl", createGraph(1));
    expect(listCachedNodes(await runForUser("dora", createGraph(1)))).toEqual([]);
    expect(listCachedNodes(await runGraph(testRunner, createGraph(1)))).toEqual([]);
  });

  it("detects a changed file of the same name", async () => {
    await copyFile(`${goldenDir}g_rgb.png`, join(testRunner.folder, "g_rgb.png"));
    const first = await runForUser("emil", createGraph(1), { imagesDir: testRunner.folder });
    await writeFile(join(testRunner.folder, "g_rgb.png"), await sharp(`${goldenDir}g_small.png`).png().toBuffer());
    const second = await runForUser("emil", createGraph(1), { imagesDir: testRunner.folder });
    expect(listCachedNodes(second)).toEqual([]);
    expect(second.files[0]?.width).not.toBe(first.files[0]?.width);
  });

  it("never caches Wait, Fail and nodes that depend on them", async () => {
    const waitGraph: Graph = {
      ...createGraph(1),
      w: { class_type: "Wait", inputs: { seconds: 0, anything: ["b", 0] } },
      o: { class_type: "SaveImage", inputs: { images: ["w", 0], filename_prefix: "x" } },
    };
    await runForUser("fred", waitGraph);
    expect(listCachedNodes(await runForUser("fred", waitGraph))).toEqual(["b", "i", "l"]);
  });
});
