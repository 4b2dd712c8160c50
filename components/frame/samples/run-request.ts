// What another page hands to the Run page: a sample to be run at once, or files to be opened. In memory alone: an address that ran
// something by being opened could be sent as a link.

import { type SampleName } from "./samples";

type RunRequest = { sample: SampleName } | { files: readonly File[] };

let waiting: RunRequest | undefined;

export function requestRun(request: RunRequest): void {
  waiting = request;
}

/** Once. */
export function takeRunRequest(): RunRequest | undefined {
  const taken = waiting;
  waiting = undefined;
  return taken;
}
