// The worker's side: packing and reading masks of many megapixels away from the page's own thread.

import { encodeMask } from "./encode-png";
import { readCoverage } from "./read-coverage";
import { type WorkerAnswer, type WorkerTask } from "./worker-client";

self.addEventListener("message", ({ data: task }: MessageEvent<WorkerTask>) => {
  perform(task).then(
    (answer) => self.postMessage(answer, { transfer: answer.do === "read" && answer.coverage ? [answer.coverage.data.buffer] : [] }),
    (error: unknown) =>
      self.postMessage({ do: "failed", reason: error instanceof Error ? error.message : String(error) } satisfies WorkerAnswer),
  );
});

async function perform(task: WorkerTask): Promise<WorkerAnswer> {
  const onProgress = (share: number) => self.postMessage({ do: "packing", share } satisfies WorkerAnswer);
  if (task.do === "encode") return { do: "encode", file: await encodeMask(task.coverage, onProgress, task.hold) };
  return { do: "read", coverage: await readCoverage(task.file, task.kind) };
}
