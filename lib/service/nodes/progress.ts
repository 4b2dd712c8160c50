// Reports the progress of a run, at most ten times a second. The last report before a pause is always sent, a little later.

import { type RunEvent } from "./run";

type Progress = Extract<RunEvent, { kind: "progress" }>;

const INTERVAL_MS = 100;
const STEPS = 100;

export type ProgressReporter = {
  /** `part` of the running node, 0 to 1. Called for every row, so nothing is made until something is sent. */
  report(at: Pick<Progress, "nodesDone" | "nodesTotal" | "currentNode">, part?: number): void;
  stop(): void;
};

export function createProgressReporter(send: (progress: Progress) => void): ProgressReporter {
  let lastAt = -INTERVAL_MS;
  let latest: Parameters<ProgressReporter["report"]>[0] | undefined;
  let latestPart: number | undefined;
  let timer: NodeJS.Timeout | undefined;

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (latest === undefined) return;
    lastAt = performance.now();
    send({ kind: "progress", ...latest, ...(latestPart !== undefined && { step: Math.round(latestPart * STEPS), steps: STEPS }) });
    latest = undefined;
  };
  return {
    report(at, part) {
      latest = at;
      latestPart = part;
      if (performance.now() - lastAt >= INTERVAL_MS) flush();
      else timer ??= setTimeout(flush, INTERVAL_MS);
    },
    stop() {
      clearTimeout(timer);
      latest = undefined;
    },
  };
}
