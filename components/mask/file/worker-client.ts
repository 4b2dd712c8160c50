// One worker per task, terminated afterwards to free the memory.

import { type Coverage } from "../drawing/coverage";
import { type MaskEncoding } from "./encode-png";

export type WorkerTask = { do: "encode"; coverage: Coverage; hold?: MaskEncoding } | { do: "read"; file: Blob; kind: "picture" | "layer" };
type Progress = { do: "packing"; share: number };
export type WorkerResponse =
  Progress | { do: "encode"; file: Blob } | { do: "read"; coverage: Coverage | undefined } | { do: "failed"; reason: string };

type RequestOptions = { transfer?: Transferable[]; onProgress?: (share: number) => void };

function sendTask(task: WorkerTask, { transfer = [], onProgress }: RequestOptions = {}): Promise<Exclude<WorkerResponse, Progress>> {
  return new Promise((resolve) => {
    const worker = new Worker(new URL("./mask-worker.ts", import.meta.url), { type: "module" });
    const finish = (response: Exclude<WorkerResponse, Progress>) => {
      worker.terminate();
      resolve(response);
    };
    worker.addEventListener("message", ({ data }: MessageEvent<WorkerResponse>) => {
      if (data.do === "packing") onProgress?.(data.share);
      else finish(data);
    });
    worker.addEventListener("error", ({ message }) => finish({ do: "failed", reason: message }));
    worker.postMessage(task, { transfer });
  });
}

/** The pixels are transferred to the worker: a caller that still needs them passes a copy. */
export async function encodeInWorker(coverage: Coverage, onProgress: (share: number) => void, hold?: MaskEncoding): Promise<Blob> {
  const response = await sendTask({ do: "encode", coverage, hold }, { transfer: [coverage.data.buffer], onProgress });
  if (response.do === "encode") return response.file;
  throw new Error(response.do === "failed" ? response.reason : "the worker answered another task");
}

export async function readInWorker(file: Blob, kind: "picture" | "layer"): Promise<Coverage | undefined> {
  const response = await sendTask({ do: "read", file, kind });
  if (response.do === "read") return response.coverage;
  throw new Error(response.do === "failed" ? response.reason : "the worker answered another task");
}
