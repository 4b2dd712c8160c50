// The main thread's side of execution: a pool of worker threads that run graphs.
// A run always ends in an outcome: a worker that dies is an error of its job, never of the process.
// It must never compute pixels: that is the workers' part.

import { type RunEvent, type RunOutcome, type RunRequest } from "./run";

export type { ExecutionError, ProducedFile, RunEvent, RunOutcome, RunRequest } from "./run";

export type Run = { done: Promise<RunOutcome>; cancel(): void };
export type Runner = { run(request: RunRequest, on: (event: RunEvent) => void): Run; stop(): Promise<void> };

export function createRunner(_options: { workerPath: string; slots: number }): Runner {
  throw new Error("not built yet");
}
