// Progress out of a run, ten times a second at most. The last word before a silence is always said, a little later.

import { type RunEvent } from "./run";

type Progress = Extract<RunEvent, { kind: "progress" }>;

const INTERVAL_MS = 100;

export type ProgressReporter = { report(progress: Omit<Progress, "kind">): void; stop(): void };

export function createProgressReporter(send: (progress: Progress) => void): ProgressReporter {
  let lastAt = -INTERVAL_MS;
  let latest: Progress | undefined;
  let timer: NodeJS.Timeout | undefined;

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (latest === undefined) return;
    lastAt = performance.now();
    send(latest);
    latest = undefined;
  };
  return {
    report(progress) {
      latest = { kind: "progress", ...progress };
      if (performance.now() - lastAt >= INTERVAL_MS) flush();
      else timer ??= setTimeout(flush, INTERVAL_MS);
    },
    stop() {
      clearTimeout(timer);
      latest = undefined;
    },
  };
}
