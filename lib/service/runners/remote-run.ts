// One attempt to run a job on a runner: its inputs are sent, it is submitted once and watched until it ends or is lost; its outputs come
// back.
// Guarantees: it is submitted only after the attempt is stored, and once; everything that it writes about itself is fenced (attempts.ts);
// it always ends in an outcome.

import { sleep } from "@/lib/shared/async";
import { ok } from "@/lib/shared/result";
import { type RunEvent, type RunOutcome } from "../nodes/run";
import { type Run } from "../nodes/runner";
import { bringOutputs } from "./bring-outputs";
import { listenTo } from "./events-of";
import { lost, type Order, type RemoteJob, type RemoteParts } from "./remote-job";
import { overLimits } from "./speak";
import { submitThere } from "./submit-there";
import { watchThere } from "./watch-there";

export function runRemotely(parts: RemoteParts, order: Order, on: (event: RunEvent) => void): Run & { leave(): void } {
  const leaving = new AbortController();
  let isOver = false;
  let settleEarly: (outcome: RunOutcome) => void = () => undefined;
  const early = new Promise<RunOutcome>((resolve) => (settleEarly = resolve));
  const report = (event: RunEvent) => {
    if (!isOver) on(event);
  };
  /** rounds.ts removes what is left at the runner. */
  const exceeded = (message: string) => {
    order.reportProblem(overLimits(message));
    end(lost(`${order.runner.label}: ${message}`));
  };
  const work = attempt({ ...parts, ...order, on: report, signal: leaving.signal }, exceeded).catch((error: unknown): RunOutcome => {
    if (leaving.signal.aborted) return { kind: "left" };
    const { jobId: job, attempt, runner } = order;
    parts.log.error({ err: error, job, attempt: attempt.number, runner: runner.label }, "an attempt on a runner failed inside the service");
    return lost("The service failed to follow the job there.");
  });
  const end = (outcome: RunOutcome) => {
    settleEarly(outcome);
    leaving.abort();
  };
  const done = Promise.race([work, early]).then((outcome) => {
    isOver = true;
    return outcome;
  });
  return {
    done,
    // The rounds (rounds.ts) clear away what is left at the runner: the cancel stores the attempt as lost.
    cancel: () => end({ kind: "cancelled" }),
    leave: () => end({ kind: "left" }),
  };
}

async function attempt(job: RemoteJob, exceeded: (message: string) => void): Promise<RunOutcome> {
  const { runner, attempt: own, graph, nodesTotal, limits, now, on, signal, traffic } = job;
  const pause = createPause();
  let lastReportMs = now();
  const listening = listenTo(
    { address: runner.address, clientId: own.clientId, traffic },
    { promptId: own.promptId, graph, nodesTotal },
    {
      reported: () => (lastReportMs = now()),
      executed: (nodeId, output) => outputs.executed(nodeId, output),
      ended: pause.end,
      exceeded,
      on,
    },
  );
  const outputs = bringOutputs(job, listening.timesOf);
  signal.addEventListener("abort", () => listening.stop(), { once: true });
  try {
    const submitted = job.isResumed ? ok(own.promptId) : await submitThere(job, listening);
    if (!submitted.ok) return submitted.failure;
    return await watchThere(job, {
      promptId: submitted.value,
      listening,
      outputs,
      lastReportMs: () => lastReportMs,
      pause: () => pause.within(limits.pollMs, signal),
    });
  } finally {
    listening.stop();
  }
}

/** A pause that can be ended early, also before it begins. */
function createPause() {
  let endNow: (() => void) | undefined;
  let isDue = false;
  return {
    end: () => {
      isDue = true;
      endNow?.();
    },
    async within(ms: number, signal: AbortSignal): Promise<void> {
      if (!isDue) {
        const ended = new AbortController();
        endNow = () => ended.abort();
        await sleep(ms, { signal: AbortSignal.any([signal, ended.signal]) });
      }
      isDue = false;
      endNow = undefined;
    },
  };
}
