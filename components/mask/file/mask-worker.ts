// The worker that encodes and reads masks outside the page's thread.

import { type Coverage, createCoverage } from "../drawing/coverage";
import { encodeMask } from "./encode-png";
import { type WorkerResponse, type WorkerTask } from "./open-mask";

/** The number of pixels drawn at a time. */
const STRIP_PIXELS = 4_000_000;

/** Reads the coverage of a file. For a `picture`, only alpha counts, and a fully opaque file has no mask. */
async function readCoverage(file: Blob, kind: "picture" | "layer"): Promise<Coverage | undefined> {
  const bitmap = await createImageBitmap(file, { colorSpaceConversion: "none" });
  try {
    const coverage = createCoverage(bitmap);
    const isOpaque = !readStrips(bitmap, coverage, (data, offset) => 255 - (data[offset + 3] ?? 255));
    if (!isOpaque) return coverage;
    if (kind === "picture") return undefined;
    readStrips(bitmap, coverage, (data, offset) => data[offset] ?? 0);
    return coverage;
  } finally {
    bitmap.close();
  }
}

/** Returns whether any pixel is painted. */
function readStrips(
  bitmap: ImageBitmap,
  { width, height, data }: Coverage,
  readValue: (data: Uint8ClampedArray, offset: number) => number,
): boolean {
  const stripHeight = Math.max(1, Math.min(height, Math.floor(STRIP_PIXELS / width)));
  const canvas = new OffscreenCanvas(width, stripHeight);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) throw new Error("The browser provides no canvas context.");
  let isPainted = false;
  for (let top = 0; top < height; top += stripHeight) {
    const rowCount = Math.min(stripHeight, height - top);
    context.clearRect(0, 0, width, stripHeight);
    context.drawImage(bitmap, 0, top, width, rowCount, 0, 0, width, rowCount);
    const pixels = context.getImageData(0, 0, width, rowCount).data;
    for (let offset = 0, targetIndex = top * width; offset < pixels.length; offset += 4, targetIndex += 1) {
      const value = readValue(pixels, offset);
      data[targetIndex] = value;
      isPainted ||= value > 0;
    }
  }
  return isPainted;
}

self.addEventListener("message", ({ data: task }: MessageEvent<WorkerTask>) => {
  runTask(task).then(
    (response) =>
      self.postMessage(response, {
        transfer: response.do === "read" && response.coverage ? [response.coverage.data.buffer] : [],
      }),
    (error: unknown) =>
      self.postMessage({ do: "failed", reason: error instanceof Error ? error.message : String(error) } satisfies WorkerResponse),
  );
});

async function runTask(task: WorkerTask): Promise<WorkerResponse> {
  const onProgress = (share: number) => self.postMessage({ do: "packing", share } satisfies WorkerResponse);
  if (task.do === "encode") return { do: "encode", file: await encodeMask(task.coverage, onProgress, task.hold) };
  return { do: "read", coverage: await readCoverage(task.file, task.kind) };
}
