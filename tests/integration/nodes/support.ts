// Runs jobs on a runner with the real worker bundle.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Blake3Hasher } from "@napi-rs/blake-hash";
import sharp from "sharp";
import { type Graph, graphSchema } from "@/lib/contract/schemas/graph";
import { nodeClasses } from "@/lib/service/nodes/library";
import { type ProducedFile, type RunEvent, type RunOutcome, type RunRequest } from "@/lib/service/nodes/run";
import { createRunner, type Runner } from "@/lib/service/nodes/runner";
import { findFileNames, validatePrompt } from "@/lib/service/nodes/validate";
import { closeAfterwards } from "@/tests/support/close-afterwards";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const workerPath = `${root}dist/node-worker.mjs`;
export const samplesDir = `${root}public/samples/`;
export const goldenDir = `${root}tests/fixtures/golden/`;

export async function readJson(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, "utf8"));
}

export async function readGraph(path: string): Promise<Graph> {
  return graphSchema.parse(await readJson(path));
}

export type TestRunner = { runner: Runner; folder: string; close(): Promise<void> };

export async function openTestRunner(worker = workerPath): Promise<TestRunner> {
  const folder = await mkdtemp(join(tmpdir(), "nodes-"));
  const runner = createRunner({ workerPath: worker });
  return {
    runner,
    folder,
    close: closeAfterwards(async () => {
      await runner.stop();
      await rm(folder, { recursive: true, force: true });
    }),
  };
}

export type GraphRun = { outcome: RunOutcome; events: RunEvent[]; files: ProducedFile[]; texts: string[] };

export type JobOptions = Partial<RunRequest> & { imagesDir?: string; targets?: string[] };

let jobCount = 0;

/** Treats each file name in the graph as an image. */
export const listFiles = (graph: Record<string, unknown>) =>
  new Map(findFileNames(graph, nodeClasses).map((name) => [name, { mediaType: "image/png", isImage: true }]));

/** Validates the graph like the service and returns the runner's input. */
export async function toRequest(testRunner: TestRunner, graph: Graph, options: JobOptions = {}): Promise<RunRequest> {
  const validation = validatePrompt(graph, { files: listFiles(graph), ...(options.targets ? { targets: options.targets } : {}) });
  if (!validation.ok) throw new Error(JSON.stringify(validation));
  const { imagesDir = goldenDir, targets: _targets, ...requestOptions } = options;
  const outputDir = await mkdtemp(join(testRunner.folder, "job-"));
  return {
    jobId: `job-${++jobCount}`,
    graph: validation.graph,
    outputs: validation.outputs,
    images: Object.fromEntries(
      await Promise.all(validation.images.map(async (name) => [name, await readImageInput(join(imagesDir, name))] as const)),
    ),
    outputDir,
    maxPixels: 100_000_000,
    pngText: { prompt: JSON.stringify(graph) },
    ...requestOptions,
  };
}

async function readImageInput(path: string): Promise<{ path: string; hash: string }> {
  const bytes = await readFile(path).catch(() => Buffer.alloc(0));
  return { path, hash: new Blake3Hasher().update(bytes).digest("hex") };
}

export async function runGraph(testRunner: TestRunner, graph: Graph, options: JobOptions = {}): Promise<GraphRun> {
  const events: RunEvent[] = [];
  const outcome = await testRunner.runner.run(await toRequest(testRunner, graph, options), (event) => events.push(event)).done;
  return { outcome, events, ...collectOutputs(events) };
}

export function collectOutputs(events: readonly RunEvent[]): { files: ProducedFile[]; texts: string[] } {
  const nodes = events.filter((event) => event.kind === "node");
  return { files: nodes.flatMap((event) => event.files), texts: nodes.flatMap((event) => event.texts ?? []) };
}

export type Pixels = { width: number; height: number; bytes: Buffer };

export async function readPixels(path: string): Promise<Pixels> {
  const { data, info } = await sharp(path).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, bytes: data };
}

/** Returns the largest difference between two corresponding samples. */
export function getMaxDifference(a: Pixels, b: Pixels): number {
  return a.bytes.reduce((max, byte, index) => Math.max(max, Math.abs(byte - (b.bytes[index] ?? 0))), 0);
}

/** Polls until `isReady` returns true. Throws after 30 seconds. */
export async function until(isReady: () => boolean): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!isReady()) {
    if (performance.now() > deadline) throw new Error("The condition was not met within 30 seconds.");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Returns the tEXt chunks of a PNG by keyword, without parsing the values. */
export function readPngText(png: Buffer): Record<string, string> {
  const entries: [string, string][] = [];
  for (let offset = 8; offset + 12 <= png.length;) {
    const length = png.readUInt32BE(offset);
    const type = png.toString("latin1", offset + 4, offset + 8);
    if (type === "tEXt") {
      const content = png.toString("latin1", offset + 8, offset + 8 + length);
      const end = content.indexOf("\0");
      entries.push([content.slice(0, end), content.slice(end + 1)]);
    }
    offset += length + 12;
  }
  return Object.fromEntries(entries);
}
