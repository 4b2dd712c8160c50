import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { StatusBadge, type Tone } from "@/components/ui/status-badge";
import { useClampedNow } from "@/components/ui/time";
import { estimateTimeLeft, type ExpectedRun, getExpectedShare, toSpan } from "@/lib/contract/jobs/expected-run";
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

/** A job's state. An unknown state is shown as it is; the tooltip shows the service's raw state. */
export function JobStatus({ word, state = toJobState(word) }: { word: string; state?: JobState }) {
  return statusBadge(useTranslations("frame.states"), word, state);
}

/** The same without a component, for long lists. */
export function statusBadge(t: ReturnType<typeof useTranslations<"frame.states">>, word: string, state: JobState): ReactNode {
  return StatusBadge({ tone: jobTone[state], word: state === "unknown" ? word : t(state), title: t("raw", { word }) });
}

export function formatRunningNode(t: ReturnType<typeof useTranslations<"common.runningNode">>, { node, step, steps }: RunningNode): string {
  return step === undefined || steps === undefined ? t("node", { node }) : t("nodeStep", { node, step, steps });
}

/** `value`: the share of nodes that have ended. */
type Run = { startedMs?: number; expected?: ExpectedRun; value?: number };

/** A running job's progress by the expected duration, otherwise by nodes; and the time left, if it can be estimated. */
export function useRunProgress({ startedMs, expected, value }: Run): { share?: number; remaining?: string } {
  const t = useTranslations("common");
  const nowMs = useClampedNow();
  if (!expected || startedMs === undefined) return { share: value };
  const range = estimateTimeLeft(expected, nowMs - startedMs);
  return { share: getExpectedShare(expected, nowMs - startedMs), remaining: range ? t("timeLeft", toSpan(range)) : t("longerThanUsual") };
}
