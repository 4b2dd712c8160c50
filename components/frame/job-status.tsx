import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { StatusBadge, type Tone } from "@/components/ui/status-badge";
import { useClampedNow } from "@/components/ui/time";
import { estimateTimeLeft, type ExpectedRun, getExpectedProgress, toSpan } from "@/lib/contract/jobs/expected-run";
import { type JobState, toJobState } from "@/lib/contract/jobs/job-list";
import { type RunningNode } from "@/lib/contract/views/job-view";

const jobTone: Readonly<Record<JobState, Tone>> = {
  completed: "ok",
  in_progress: "run",
  pending: "wait",
  failed: "bad",
  cancelled: "off",
  unknown: "unknown",
};

/** A job's state. An unknown state is shown unchanged. The tooltip shows the service's raw state. */
export function JobStatus({ word, state = toJobState(word) }: { word: string; state?: JobState }) {
  return renderStatusBadge(useTranslations("frame.states"), word, state);
}

/** Renders the same badge without a component, for long lists. */
export function renderStatusBadge(t: ReturnType<typeof useTranslations<"frame.states">>, rawState: string, state: JobState): ReactNode {
  return StatusBadge({ tone: jobTone[state], label: state === "unknown" ? rawState : t(state), title: t("raw", { word: rawState }) });
}

export function formatRunningNode(t: ReturnType<typeof useTranslations<"common.runningNode">>, { node, step, steps }: RunningNode): string {
  return step === undefined || steps === undefined ? t("node", { node }) : t("nodeStep", { node, step, steps });
}

/** `value`: the fraction of nodes that have ended. */
type RunProgress = { startedMs?: number; expected?: ExpectedRun; value?: number };

/** Returns a running job's progress, and the time left if it can be estimated. Progress is based on the expected duration, otherwise on nodes. */
export function useRunProgress({ startedMs, expected, value }: RunProgress): { share?: number; remaining?: string } {
  const t = useTranslations("common");
  const nowMs = useClampedNow();
  if (!expected || startedMs === undefined) return { share: value };
  const range = estimateTimeLeft(expected, nowMs - startedMs);
  return {
    share: getExpectedProgress(expected, nowMs - startedMs),
    remaining: range ? t("timeLeft", toSpan(range)) : t("longerThanUsual"),
  };
}
