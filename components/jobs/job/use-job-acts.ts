import { useTranslations } from "next-intl";
import { useState } from "react";
import { useBusyJobs } from "@/components/jobs/actions/busy-jobs";
import { useJobWork } from "@/components/jobs/actions/use-job-work";
import { type Tone } from "@/components/ui/tone";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type JobState } from "@/lib/contract/jobs/job-list";
import { type MaskedInput, someSeed } from "../actions/resubmission";
import { runAgain } from "../actions/run-again";

/** The outcome of running it again. */
type Receipt = { tone: Tone; text: string; jobId?: string };
type Again = { isBusy?: boolean; receipt?: Receipt; failure?: ApiFailure; masked?: MaskedInput[] };

type Job = { jobId: string; connection: string | undefined; onDone: () => void };

/** Ends a job, which can be undone for a moment, and runs its workflow again. */
export function useJobActs({ jobId, connection, onDone }: Job) {
  const t = useTranslations("jobs.job.acts");
  const [again, setAgain] = useState<Again>({});
  const work = useJobWork({ connection, onDone });

  async function run(withNewSeeds: boolean) {
    setAgain({ isBusy: true });
    const ran = await runAgain(jobId, connection, { newSeed: withNewSeeds ? someSeed : undefined });
    if (ran.kind === "submitted") setAgain({ receipt: { tone: "ok", text: t("submitted"), jobId: ran.id } });
    else if (ran.kind === "masked") setAgain({ masked: ran.inputs });
    else if (ran.kind === "no-graph") setAgain({ receipt: { tone: "off", text: t("noGraph") } });
    else if (ran.kind === "unread" || ran.kind === "refused") setAgain({ failure: ran.failure });
    else setAgain({ receipt: { tone: "unknown", text: t("outcomeUnknown") } });
  }

  return {
    connection,
    work,
    again,
    isEnding: useBusyJobs().has(jobId),
    end: (state: JobState) => {
      setAgain({});
      work.dismissEnded();
      work.schedule({ act: "cancel", items: [{ id: jobId, state }] });
    },
    refresh: onDone,
    runAgain: run,
    dismiss: () => setAgain({}),
  };
}
