// One worker for one task: it is made, asked and ended, so that nothing of a large picture stays behind.

import { type Coverage } from "../drawing/coverage";

export type WorkerTask = { do: "encode"; coverage: Coverage } | { do: "read"; file: Blob; kind: "picture" | "layer" };
export type WorkerAnswer = { do: "encode"; file: Blob } | { do: "read"; coverage: Coverage | undefined } | { do: "failed"; reason: string };

function ask(task: WorkerTask, transfer: Transferable[]): Promise<WorkerAnswer> {
  return new Promise((resolve) => {
    const worker = new Worker(new URL("./mask-worker.ts", import.meta.url), { type: "module" });
    const finish = (answer: WorkerAnswer) => {
      worker.terminate();
      resolve(answer);
    };
    worker.addEventListener("message", ({ data }: MessageEvent<WorkerAnswer>) => finish(data));
    worker.addEventListener("error", ({ message }) => finish({ do: "failed", reason: message }));
    worker.postMessage(task, { transfer });
  });
}

/** Of a copy: drawing may go on meanwhile. */
export async function encodeInWorker({ width, height, data }: Coverage): Promise<Blob> {
  const copy = data.slice();
  const answer = await ask({ do: "encode", coverage: { width, height, data: copy } }, [copy.buffer]);
  if (answer.do === "encode") return answer.file;
  throw new Error(answer.do === "failed" ? answer.reason : "the worker answered another task");
}

export async function readInWorker(file: Blob, kind: "picture" | "layer"): Promise<Coverage | undefined> {
  const answer = await ask({ do: "read", file, kind }, []);
  if (answer.do === "read") return answer.coverage;
  throw new Error(answer.do === "failed" ? answer.reason : "the worker answered another task");
}
