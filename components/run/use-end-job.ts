"use client";

import { useState } from "react";
import { useHeld } from "@/components/ui/use-held";
import { type Failure } from "@/lib/contract/failure";
import { type RunPorts } from "./run-ports";

type Ending = { told?: "tooLate" | "stopping" | "over" | "unable" | "notAlone"; failure?: Failure };

/** Cancels the job where it waits and stops it where it runs, after a moment to take it back; what the service answered is told. */
export function useEndJob(jobId: string, ports: Pick<RunPorts, "cancelJobs" | "stopJobs">) {
  const [state, setState] = useState<Ending & { isBusy?: boolean }>({});
  const { acts, hold, undo } = useHeld<"cancel" | "stop">((end) => {
    setState({ isBusy: true });
    void (end === "cancel" ? cancelled(jobId, ports) : stopped(jobId, ports)).then(setState);
  });
  // One at a time: while it is held there is no other button than Undo.
  const [act] = acts;
  return { ...state, held: act?.what, undo: () => (act ? undo(act.key) : undefined), hold };
}

async function cancelled(jobId: string, { cancelJobs }: Pick<RunPorts, "cancelJobs">): Promise<Ending> {
  const answer = await cancelJobs([jobId]);
  if (!answer.ok) return { failure: answer.failure };
  const { deleted } = answer.value;
  return { told: deleted && !deleted.includes(jobId) ? "tooLate" : "stopping" };
}

async function stopped(jobId: string, { stopJobs }: Pick<RunPorts, "stopJobs">): Promise<Ending> {
  const answer = await stopJobs([jobId]);
  if (!answer.ok) return { failure: answer.failure };
  const { stopped: done, stopping, over, together } = answer.value;
  if (done.length + stopping.length > 0) return { told: "stopping" };
  return { told: over.length > 0 ? "over" : together > 0 ? "notAlone" : "unable" };
}
