// Hashes files in workers, one for each file at a time, kept for the next. Every file gets an outcome.

import { type HashOptions, type HashOutcome } from "./hash-file";
import { type FromHashWorker, type ToHashWorker } from "./hash-worker";

export type HashWorker = {
  postMessage(message: ToHashWorker): void;
  onmessage: ((event: MessageEvent<FromHashWorker>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
  terminate(): void;
};
export type PoolOutcome = HashOutcome | { kind: "unavailable" };
export type HashPool = (file: Blob, options: Omit<HashOptions, "signal"> & { signal: AbortSignal }) => Promise<PoolOutcome>;

export function createHashPool(makeWorker: () => HashWorker): HashPool {
  const resting: HashWorker[] = [];
  let lastId = 0;

  return (file, { from, onProgress, signal }) =>
    new Promise((resolve) => {
      let worker: HashWorker;
      try {
        worker = resting.pop() ?? makeWorker();
      } catch {
        return resolve({ kind: "unavailable" });
      }
      const id = ++lastId;
      const stop = () => worker.postMessage({ id, stop: true });
      const end = (outcome: PoolOutcome) => {
        signal.removeEventListener("abort", stop);
        if (outcome.kind === "unavailable") worker.terminate();
        else resting.push(worker);
        resolve(outcome);
      };
      worker.onerror = () => end({ kind: "unavailable" });
      worker.onmessage = ({ data }) => {
        if (data.id !== id) return;
        if ("bytes" in data) onProgress?.(data.bytes);
        else end("outcome" in data ? data.outcome : { kind: "unavailable" });
      };
      worker.postMessage({ id, file, ...(from && { from }) });
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
    });
}

export const hashPool = createHashPool(makeHashWorker);

/** A real worker. The bundler finds the worker's file by exactly this expression. */
function makeHashWorker(): HashWorker {
  return new Worker(new URL("./hash-worker.ts", import.meta.url), { type: "module", name: "hash" });
}
