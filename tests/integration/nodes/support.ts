// Runs jobs on a runner with the real worker bundle.
import { mkdtemp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Blake3Hasher } from "@napi-rs/blake-hash";
import sharp from "sharp";
import { type Graph } from "@/lib/contract/schemas/graph";
import { nodeClasses } from "@/lib/service/nodes/library";
import { type ProducedFile, type RunEvent, type RunOutcome, type RunRequest } from "@/lib/service/nodes/run";
import { createRunner, type Runner } from "@/lib/service/nodes/runner";
import { findFileNames, validatePrompt } from "@/lib/service/nodes/validate";
import { closeAfterwards } from "@/tests/support/close-afterwards";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const workerPath = `${root}dist/node-worker.mjs`;
export const samplesDir = `${root}public/samples/`;
export const goldenDir = `${root}tests/fixtures/golden/`;

export type TestRunner = { runner: Runner; folder: string };

export function openTestRunner(worker = workerPath): TestRunner {
  const folder = createTemporaryFolder();
  const runner = createRunner({ workerPath: worker });
  closeAfterwards(() => runner.stop());
  return { runner, folder };
}

export type GraphRun = { outcome: RunOutcome; events: RunEvent[]; files: ProducedFile[]; texts: string[] };

type JobOptions = Partial<RunRequest> & { imagesDir?: string; targets?: string[] };

let jobCount = 0;

/** Treats each file name in the graph as an image. */
const listFiles = (graph: Record<string, unknown>) =>
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
  const nodes = events.filter((event) => event.kind === "node");
  return { outcome, events, files: nodes.flatMap((event) => event.files), texts: nodes.flatMap((event) => event.texts ?? []) };
}

type Pixels = { width: number; height: number; bytes: Buffer };

export async function readPixels(path: string): Promise<Pixels> {
  const { data, info } = await sharp(path).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, bytes: data };
}

/** Returns the largest difference between two corresponding samples. */
export function getMaxDifference(a: Pixels, b: Pixels): number {
  return a.bytes.reduce((max, byte, index) => Math.max(max, Math.abs(byte - (b.bytes[index] ?? 0))), 0);
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
