"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { failureText } from "@/components/frame/failure-text";
import { Button } from "@/components/ui/button";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { withQuery } from "@/lib/browser/urls";
import { type QueueAnswer } from "@/lib/contract/schemas/queue";

type CancelJobProps = { jobId: string; connection?: string; onDone: () => void };

/** Only a pending job can be cancelled through the queue; the receipt says whether it was in time. */
export function CancelJob({ jobId, connection, onDone }: CancelJobProps) {
  const t = useTranslations("jobs.job");
  const errors = useTranslations("errors");
  const [isBusy, setBusy] = useState(false);
  async function cancel() {
    setBusy(true);
    const result = await callApi<QueueAnswer>(withQuery("/api/queue", { connection }), { method: "POST", json: { delete: [jobId] } });
    setBusy(false);
    if (!result.ok) showToast({ tone: "bad", text: failureText(errors, result.failure) });
    else if (!result.value.deleted) showToast({ tone: "off", text: t("cancelSent") });
    else if (result.value.deleted.includes(jobId)) showToast({ tone: "off", text: t("cancelled") });
    else showToast({ tone: "run", text: t("tooLate") });
    onDone();
  }
  return (
    <Button tone="danger" busy={isBusy} onClick={() => void cancel()}>
      {isBusy ? t("cancelling") : t("cancel")}
    </Button>
  );
}
