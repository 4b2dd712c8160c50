"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { showToast } from "@/components/ui/toast-store";
import { type Tone } from "@/components/ui/tone";
import { useHeld } from "@/components/ui/use-held";
import { callApi, type CallInit } from "@/lib/browser/api";
import { newPressKey } from "@/lib/browser/press-key";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type StopReceipt } from "@/lib/contract/console";
import { mayHaveStarted, PRESS_HEADER } from "@/lib/contract/press";
import { type JobDetail } from "@/lib/contract/schemas/job";

import { type QueueAnswer } from "@/lib/contract/schemas/queue";
import { type Result } from "@/lib/shared/result";
import { type MaskedInput, someSeed, toResubmission } from "./job-again";

export type JobEnd = "cancel" | "stop";
/** What became of the newest act. `together`: so many jobs run that the service can stop only all at once. */
export type ActReceipt = { tone: Tone; text: string; together?: number; jobId?: string };
type ActState = { busy?: JobEnd | "again"; receipt?: ActReceipt; failure?: ApiFailure; masked?: MaskedInput[] };

type Place = { jobId: string; connection: string | undefined; onDone: () => void };

/** Ending a job, which is held for a moment and can be taken back, and running what it was made from once more. */
export function useJobActs({ jobId, connection, onDone }: Place) {
  const t = useTranslations("jobs.job.acts");
  const [state, setState] = useState<ActState>({});
  const post = <T>(path: `/${string}`, json: unknown, init?: CallInit) =>
    callApi<T>(withQuery(path, { connection }), { method: "POST", json, ...init });
  const { held, hold, undo } = useHeld<JobEnd>((end, isLeaving) => void send(end, isLeaving));

  async function send(end: JobEnd, isLeaving: boolean) {
    setState({ busy: end });
    const init = isLeaving ? { keepalive: true } : {};
    const result =
      end === "cancel"
        ? wordsOf(await post<QueueAnswer>("/api/queue", { delete: [jobId] }, init), cancelReceipt)
        : wordsOf(await post<StopReceipt>("/api/console/jobs/stop", { ids: [jobId] }, init), stopReceipt);
    settle(result);
    if (isLeaving && result.receipt) showToast(result.receipt);
  }
  function settle(next: ActState) {
    setState(next);
    onDone();
  }
  function cancelReceipt({ deleted }: QueueAnswer): ActReceipt {
    if (!deleted) return { tone: "off", text: t("untold") };
    return deleted.includes(jobId) ? { tone: "ok", text: t("cancelled") } : { tone: "run", text: t("tooLate") };
  }
  function stopReceipt({ stopped, stopping, over, together }: StopReceipt): ActReceipt {
    if (stopped.length > 0) return { tone: "ok", text: t("stopped") };
    if (stopping.length > 0) return { tone: "run", text: t("stopping") };
    if (over.length > 0) return { tone: "off", text: t("over") };
    return together > 0 ? { tone: "wait", text: t("notAlone"), together } : { tone: "wait", text: t("unable") };
  }

  async function stopTogether() {
    setState({ busy: "stop" });
    settle(wordsOf(await post<undefined>("/api/interrupt", {}), () => ({ tone: "run", text: t("stopping") })));
  }

  /** The workflow as the service holds it now: the page itself never kept it. */
  async function runAgain(withNewSeeds: boolean) {
    setState({ busy: "again" });
    const detail = await callApi<JobDetail>(withQuery(`/api/jobs/${encodeURIComponent(jobId)}`, { connection }));
    if (!detail.ok) return setState({ failure: detail.failure });
    const again = toResubmission(detail.value.workflow, withNewSeeds ? someSeed : undefined);
    if (again.kind === "masked") return setState({ masked: again.inputs });
    if (again.kind === "no-graph") return setState({ receipt: { tone: "off", text: t("noGraph") } });
    const answer = await post<{ prompt_id?: string }>("/api/prompt", again.submission, { headers: { [PRESS_HEADER]: newPressKey() } });
    if (answer.ok) {
      const id = answer.value.prompt_id;
      return setState({ receipt: id ? { tone: "ok", text: t("submitted"), jobId: id } : { tone: "unknown", text: t("outcomeUnknown") } });
    }
    const isUnknown = answer.failure.status === 0 || answer.failure.code === "CONSOLE_UNREACHABLE" || mayHaveStarted(answer.failure);
    setState(isUnknown ? { receipt: { tone: "unknown", text: t("outcomeUnknown") } } : { failure: answer.failure });
  }

  return {
    ...state,
    connection,
    held,
    undo,
    end: (end: JobEnd) => {
      setState({});
      hold(end);
    },
    stopTogether,
    runAgain,
    dismiss: () => setState({}),
  };
}

function wordsOf<T>(result: Result<T, ApiFailure>, receipt: (answer: T) => ActReceipt): ActState {
  return result.ok ? { receipt: receipt(result.value) } : { failure: result.failure };
}
