import { useTranslations } from "next-intl";
import { useState } from "react";
import { BulkLines } from "@/components/data-table/bulk/bulk-lines";
import { useCapabilities } from "@/components/frame/connection/use-capabilities";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { failureText } from "@/components/frame/failure/fault-owner";
import { useConfirmed } from "@/components/frame/list/use-confirmed";
import { Button } from "@/components/ui/controls/button";
import { ConfirmDialog } from "@/components/ui/dialog";
import { useTimeFormat } from "@/components/ui/time/use-time-format";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { withQuery } from "@/lib/browser/urls";
import { findFailure, getOutcomeTone, isRetryable } from "./end-jobs";
import { type JobWork, useSummarizeEntries } from "./use-job-work";

type JobLinesProps = {
  actions: Pick<JobWork, "works" | "undo" | "stop" | "retry" | "dismiss">;
  connection: string | undefined;
  /** Called after Stop was requested for all running jobs. */
  onStopped: () => void;
};

export function JobLines({ actions, connection, onStopped }: JobLinesProps) {
  const t = useTranslations("acts");
  const errors = useTranslations("errors");
  const clock = useTimeFormat();
  const summarizeEntries = useSummarizeEntries();
  return (
    <BulkLines
      words="acts"
      actions={actions}
      undoableText={({ action, items }) => t(`undoable.${action === "remove" ? "remove" : "cancel"}`, { count: items.length })}
      readingText={(count) => t("walking", { found: count })}
      collectedText={(count) => t("collected", { count })}
      workingText={({ action, doneCount, items }) => t(`working.${action}`, { done: doneCount, total: items.length })}
      summarize={summarizeEntries}
      getCause={(entries) => {
        const cause = findFailure(entries);
        return cause && failureText(errors, cause);
      }}
      failureText={(failure) => failureText(errors, failure)}
      isRetryable={isRetryable}
      resultActions={({ entries }, dismiss) => {
        const count = Math.max(0, ...entries.map(({ together = 0 }) => together));
        const stopped = () => {
          dismiss();
          onStopped();
        };
        return count > 0 ? <StopAllButton count={count} connection={connection} onDone={stopped} /> : null;
      }}
      entryLook={{
        getTone: ({ outcome }) => getOutcomeTone(outcome),
        getText: ({ outcome, newId, failure }) =>
          [t(`outcome.${outcome}`), newId && t("outcome.as", { id: newId }), failure && failureText(errors, failure)]
            .filter(Boolean)
            .join(" "),
        getName: ({ workflow, label, createdMs }) =>
          [workflow, label, createdMs !== undefined && clock(createdMs, "until")].filter(Boolean).join(" · "),
      }}
      copies={(jobs) => [{ label: t("copyIds"), text: () => jobs.map(({ id }) => id).join("\n") }]}
    />
  );
}

/** For services that can't stop a single job: asks for confirmation with the number, since the other jobs stop too. */
function StopAllButton({ count, connection, onDone }: { count: number; connection: string | undefined; onDone: () => void }) {
  const t = useTranslations("acts.together");
  const [isConfirming, setConfirming] = useState(false);
  const confirmation = useConfirmed({
    isOpen: isConfirming,
    act: async () => {
      const result = await callApi(withQuery("/api/interrupt", { connection }), { method: "POST", json: {} });
      if (!result.ok) return result.failure;
      showToast({ tone: "run", text: t("stopRequested") });
      onDone();
      return undefined;
    },
    close: () => setConfirming(false),
  });
  return (
    <>
      <Button
        size="small"
        onClick={() => {
          confirmation.begin();
          setConfirming(true);
        }}
      >
        {t("stop", { count })}
      </Button>
      <ConfirmDialog
        isOpen={isConfirming}
        title={t("stop", { count })}
        keep={t("keep")}
        isBusy={confirmation.isBusy}
        onConfirm={() => void confirmation.confirm()}
        onClose={() => setConfirming(false)}
      >
        <p>{t("text")}</p>
        {confirmation.failure ? <FailureMessage failure={confirmation.failure} className="mt-3" /> : null}
      </ConfirmDialog>
    </>
  );
}

/** False if the service can't stop running jobs. If unknown, true, since the request will show it. Checked only while a job runs. */
export function useCanStop(connection: string | undefined, isRunning: boolean): boolean {
  return useCapabilities(isRunning ? connection : undefined, ["jobs.stop"]).has("jobs.stop") !== false;
}
