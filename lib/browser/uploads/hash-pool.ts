// Hashes each file in its own worker. Idle workers are reused.

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

export function createHashPool(createWorker: () => HashWorker): HashPool {
  const idleWorkers: HashWorker[] = [];
  let lastId = 0;

  return (file, { from, onProgress, signal }) =>
    new Promise((resolve) => {
      let worker: HashWorker;
      try {
        worker = idleWorkers.pop() ?? createWorker();
      } catch {
        return resolve({ kind: "unavailable" });
      }
      const id = ++lastId;
      const stop = () => worker.postMessage({ id, stop: true });
      const end = (outcome: PoolOutcome) => {
        signal.removeEventListener("abort", stop);
        if (outcome.kind === "unavailable") worker.terminate();
        else idleWorkers.push(worker);
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

export const hashPool = createHashPool(createHashWorker);

/** The bundler needs exactly this expression to find the worker's file. */
function createHashWorker(): HashWorker {
  return new Worker(new URL("./hash-worker.ts", import.meta.url), { type: "module", name: "hash" });
}
