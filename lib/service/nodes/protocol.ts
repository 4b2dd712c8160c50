// The messages between the runner and a worker. The cancel flag is shared memory, so that a loop sees it without yielding.

import { type RunEvent, type RunOutcome, type RunRequest } from "./run";

export type ToWorker = { kind: "run"; request: RunRequest; cancelFlag: Int32Array } | { kind: "cancel" };

export type FromWorker = { kind: "event"; jobId: string; event: RunEvent } | { kind: "done"; jobId: string; outcome: RunOutcome };

export function createCancelFlag(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}
