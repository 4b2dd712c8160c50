import { useTranslations } from "next-intl";
import { type ReactNode, useState } from "react";
import { BulkLines } from "@/components/data-table/bulk/bulk-lines";
import { useCapabilities } from "@/components/frame/connection/use-capabilities";
import { FailureMessage, formatFailure } from "@/components/frame/failure/failure-message";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { ConfirmDialog } from "@/components/ui/dialog";
import { ToneIcon } from "@/components/ui/status-badge";
import { useTimeFormat } from "@/components/ui/time";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { withQuery } from "@/lib/browser/urls";
import { type SecretLocation } from "@/lib/contract/secrets/secret-locations";
import { findFailure, getOutcomeTone, isRetryable } from "./end-jobs";
import { useConfirmedAction } from "./use-confirmed-action";
import { type JobWork, useSummarizeEntries } from "./use-job-work";

type JobLinesProps = {
  actions: Pick<JobWork, "operations" | "undo" | "stop" | "retry" | "dismiss">;
  connection: string | undefined;
  /** Called after Stop was requested for all running jobs. */
  onStopped: () => void;
};

export function JobLines({ actions, connection, onStopped }: JobLinesProps) {
  const t = useTranslations("acts");
  const errors = useTranslations("errors");
  const formatTime = useTimeFormat();
  const summarizeEntries = useSummarizeEntries();
  return (
    <BulkLines
      namespace="acts"
      actions={actions}
      getUndoableText={({ action, items }) => t(`undoable.${action === "remove" ? "remove" : "cancel"}`, { count: items.length })}
      getReadingText={(count) => t("walking", { found: count })}
      getCollectedText={(count) => t("collected", { count })}
      getWorkingText={({ action, doneCount, items }) => t(`working.${action}`, { done: doneCount, total: items.length })}
      summarize={summarizeEntries}
      getCause={(entries) => {
        const cause = findFailure(entries);
        return cause && formatFailure(errors, cause);
      }}
      getFailureText={(failure) => formatFailure(errors, failure)}
      isRetryable={isRetryable}
      renderResultActions={({ entries }, dismiss) => {
        const count = Math.max(0, ...entries.map(({ otherRunningCount = 0 }) => otherRunningCount));
        const handleStopped = () => {
          dismiss();
          onStopped();
        };
        return count > 0 ? <StopAllButton count={count} connection={connection} onDone={handleStopped} /> : null;
      }}
      entryAppearance={{
        getTone: ({ outcome }) => getOutcomeTone(outcome),
        getText: ({ outcome, newId, failure }) =>
          [t(`outcome.${outcome}`), newId && t("outcome.as", { id: newId }), failure && formatFailure(errors, failure)]
            .filter(Boolean)
            .join(" "),
        getName: ({ workflow, label, createdMs }) =>
          [workflow, label, createdMs !== undefined && formatTime(createdMs, "until")].filter(Boolean).join(" · "),
      }}
      getCopyOptions={(jobs) => [{ label: t("copyIds"), text: () => jobs.map(({ id }) => id).join("\n") }]}
    />
  );
}

/** Stops all running jobs, for services that can't stop a single one. Requires confirmation. */
function StopAllButton({ count, connection, onDone }: { count: number; connection: string | undefined; onDone: () => void }) {
  const t = useTranslations("acts.together");
  const [isDialogOpen, setDialogOpen] = useState(false);
  const confirmation = useConfirmedAction({
    isOpen: isDialogOpen,
    action: async () => {
      const result = await callApi(withQuery("/api/interrupt", { connection }), { method: "POST", json: {} });
      if (!result.ok) return result.failure;
      showToast({ tone: "run", text: t("stopRequested") });
      onDone();
      return undefined;
    },
    close: () => setDialogOpen(false),
  });
  return (
    <>
      <Button
        size="small"
        onClick={() => {
          confirmation.reset();
          setDialogOpen(true);
        }}
      >
        {t("stop", { count })}
      </Button>
      <ConfirmDialog
        isOpen={isDialogOpen}
        title={t("stop", { count })}
        cancelLabel={t("keep")}
        isBusy={confirmation.isBusy}
        onConfirm={() => void confirmation.confirm()}
        onClose={() => setDialogOpen(false)}
      >
        <p>{t("text")}</p>
        {confirmation.failure ? <FailureMessage failure={confirmation.failure} className="mt-3" /> : null}
      </ConfirmDialog>
    </>
  );
}

/** Returns false only if the service certainly can't stop running jobs. Checked only while a job is running. */
export function useCanStop(connection: string | undefined, isRunning: boolean): boolean {
  return useCapabilities(isRunning ? connection : undefined, ["jobs.stop"]).has("jobs.stop") !== false;
}

type SecretsNoticeProps = { places: readonly SecretLocation[]; wasSent?: boolean; actions?: ReactNode; className?: string };

/** Shows the job's owner which node or field contained a key or token. The key itself is never sent to the browser. */
export function SecretsNotice({ places, wasSent = true, actions, className }: SecretsNoticeProps) {
  const t = useTranslations("acts.secrets");
  const title = t(wasSent ? "title" : "leftOut", { count: places.length });
  return (
    <section aria-label={title} className={cn("flex gap-2.5 rounded-lg border border-wait bg-surface px-3.5 py-3", className)}>
      <span className="mt-0.5 text-wait">
        <ToneIcon tone="wait" />
      </span>
      <div className="min-w-0 flex-1">
        <p className="font-semibold">{title}</p>
        <ul className="my-1 list-inside list-disc">
          {places.map((secretLocation) => (
            <li key={[secretLocation.kind, ...Object.values(secretLocation)].join("/")} className="break-words">
              {formatSecretLocation(secretLocation, t)}
            </li>
          ))}
        </ul>
        <p className="text-ink-2">{t(wasSent ? "advice" : "leftOutAdvice")}</p>
        {actions ? <div className="mt-2 flex flex-wrap gap-2">{actions}</div> : null}
      </div>
    </section>
  );
}

export function hasRemovableSecrets(secretLocations: readonly SecretLocation[]): boolean {
  return secretLocations.some(({ kind }) => kind === "input" || kind === "extra");
}

function formatSecretLocation(secretLocation: SecretLocation, t: ReturnType<typeof useTranslations<"acts.secrets">>): string {
  switch (secretLocation.kind) {
    case "input":
      return t("input", { node: secretLocation.node, id: secretLocation.node_id, input: secretLocation.input });
    case "extra":
      return t("extra", { path: secretLocation.path.join(".") });
    case "output":
      return t("output", { id: secretLocation.node_id });
    case "error":
      return t("error");
  }
}
