// Passed from another page to the Run page: a sample to run at once, or files to open. Kept in memory only: if an address could run
// something on opening, it could be sent as a link.

import { type SampleName } from "./samples";

type RunRequest = { sample: SampleName } | { files: readonly File[] };

let waiting: RunRequest | undefined;

export function requestRun(request: RunRequest): void {
  waiting = request;
}

/** Returns the request once. */
export function takeRunRequest(): RunRequest | undefined {
  const taken = waiting;
  waiting = undefined;
  return taken;
}
