"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { useJobWork } from "@/components/jobs/actions/use-job-work";
import { type Tone } from "@/components/ui/tone";
import { callApi } from "@/lib/browser/api";
import { newIdempotencyKey } from "@/lib/browser/idempotency-key";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { mayHaveStarted, IDEMPOTENCY_HEADER } from "@/lib/contract/submission";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { type JobState } from "@/lib/contract/states";
import { type MaskedInput, someSeed, toResubmission } from "../actions/run-again";

/** What became of running it again. */
type Receipt = { tone: Tone; text: string; jobId?: string };
type Again = { isBusy?: boolean; receipt?: Receipt; failure?: ApiFailure; masked?: MaskedInput[] };

type Place = { jobId: string; connection: string | undefined; onDone: () => void };

/** Ending a job, which is held for a moment and can be taken back, and running what it was made from once more. */
export function useJobActs({ jobId, connection, onDone }: Place) {
  const t = useTranslations("jobs.job.acts");
  const [again, setAgain] = useState<Again>({});
  const work = useJobWork({ connection, onDone });

  /** The workflow as the service holds it now: the page itself never kept it. */
  async function runAgain(withNewSeeds: boolean) {
    setAgain({ isBusy: true });
    const detail = await callApi<JobDetail>(withQuery(`/api/jobs/${encodeURIComponent(jobId)}`, { connection }));
    if (!detail.ok) return setAgain({ failure: detail.failure });
    const next = toResubmission(detail.value.workflow, withNewSeeds ? someSeed : undefined);
    if (next.kind === "masked") return setAgain({ masked: next.inputs });
    if (next.kind === "no-graph") return setAgain({ receipt: { tone: "off", text: t("noGraph") } });
    const init = { method: "POST", json: next.submission, headers: { [IDEMPOTENCY_HEADER]: newIdempotencyKey() } };
    const answer = await callApi<{ prompt_id?: string }>(withQuery("/api/prompt", { connection }), init);
    if (answer.ok) {
      const id = answer.value.prompt_id;
      return setAgain({ receipt: id ? { tone: "ok", text: t("submitted"), jobId: id } : { tone: "unknown", text: t("outcomeUnknown") } });
    }
    const isUnknown = answer.failure.status === 0 || answer.failure.code === "CONSOLE_UNREACHABLE" || mayHaveStarted(answer.failure);
    setAgain(isUnknown ? { receipt: { tone: "unknown", text: t("outcomeUnknown") } } : { failure: answer.failure });
  }

  return {
    connection,
    work,
    again,
    isEnding: work.heldIds.has(jobId) || work.busyIds.has(jobId),
    end: (state: JobState) => {
      setAgain({});
      work.dismissEnded();
      work.hold({ act: "cancel", items: [{ id: jobId, state }] });
    },
    refresh: onDone,
    runAgain,
    dismiss: () => setAgain({}),
  };
}
