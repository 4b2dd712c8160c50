import { useTranslations } from "next-intl";
import { StatusBadge } from "@/components/ui/status-badge";
import { type Tone } from "@/components/ui/tone";
import { type JobState, toJobState } from "@/lib/contract/states";

const jobTone: Readonly<Record<JobState, Tone>> = {
  completed: "ok",
  in_progress: "run",
  pending: "wait",
  failed: "bad",
  cancelled: "off",
  unknown: "unknown",
};

/** The state of a job from the word that the service sent. A word nobody knows is shown as it is; the raw word is one hover away. */
export function JobStatus({ word, state = toJobState(word) }: { word: string; state?: JobState }) {
  const t = useTranslations("frame.states");
  return <StatusBadge tone={jobTone[state]} word={state === "unknown" ? word : t(state)} title={t("raw", { word })} />;
}
