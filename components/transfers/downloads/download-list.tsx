import { RotateCw, Square, X } from "lucide-react";
import { useLocale, useTranslations } from "next-intl";
import { failureText } from "@/components/frame/failure/fault-owner";
import { notifyStoredAssets } from "@/components/frame/stored-assets";
import { cn } from "@/components/ui/cn";
import { type Tone } from "@/components/ui/status-badge";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { callApi } from "@/lib/browser/api";
import { useLive } from "@/lib/browser/live/use-live";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { useRequests } from "@/lib/browser/use-read";
import { type DownloadState, type DownloadTask, type DownloadTasks, getFileName } from "@/lib/contract/assets/file-refs";
import { isMissingOperation } from "@/lib/contract/failure";
import { formatBytes } from "@/lib/shared/text";
import { OpenAsset, TransferRow } from "../uploads/upload-list";

type DownloadListProps = { downloads: Downloads; connection?: string; canAdd: boolean };

const tones: Readonly<Record<DownloadState, Tone>> = {
  working: "run",
  completed: "ok",
  failed: "bad",
  cancelled: "off",
  gone: "unknown",
};

/** Files that the service downloads, including those started in other browsers or by other members. */
export function DownloadList({ downloads, connection, canAdd }: DownloadListProps) {
  const t = useTranslations("uploads.downloads");
  const errors = useTranslations("errors");
  const { list, failure, atMs } = downloads;
  const shownFailure = failure ?? list?.failure;
  return (
    <div role="region" aria-label={t("list")} tabIndex={0} className="max-h-[min(312px,46dvh)] overflow-y-auto">
      {shownFailure ? (
        <p role="status" className="border-b border-line px-3 py-2 text-sm text-bad">
          {failureText(errors, shownFailure)}
          {atMs === undefined ? null : <span className="text-ink-2"> {t("maybeOld")}</span>}
        </p>
      ) : null}
      <ul>
        {(list?.tasks ?? []).map((task) => (
          <li key={task.id} className="border-b border-line last:border-0">
            <DownloadRow task={task} connection={connection} downloads={downloads} canAdd={canAdd} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function DownloadRow({ task, connection, downloads, canAdd }: DownloadListProps & { task: DownloadTask }) {
  const t = useTranslations("uploads");
  const errors = useTranslations("errors");
  const locale = useLocale();
  const { id, state, source, share, assetId } = task;
  const tone = tones[state];
  const name = getName(task);
  const { busyWith, failure, send } = useRequests<"cancel" | "retry" | "forget">();
  const isBusy = busyWith !== undefined;
  // A late cancel returns the task's outcome.
  const refused = failure?.status === 409 && (state === "completed" || state === "cancelled") ? undefined : failure;
  const callTask = async (action: "cancel" | "retry" | "forget") => {
    const taskPath: `/${string}` = `/api/console/tasks/${encodeURIComponent(id)}`;
    const request = action === "forget" ? callApi(taskPath, { method: "DELETE" }) : callApi(`${taskPath}/${action}`, { method: "POST" });
    await send(
      action,
      request.then(async (result) => {
        await downloads.refresh();
        return result;
      }),
    );
  };
  return (
    <TransferRow
      tone={tone}
      name={name}
      title={source}
      note={
        <>
          {task.startedBy ? `${t("downloads.by", { name: task.startedBy })} · ` : null}
          <RelativeTime ms={task.createdAtMs} />
        </>
      }
      text={
        <span className={cn("min-w-0 flex-1 break-words", state === "failed" ? "text-bad" : "text-ink-2")}>
          {progressText(task, t, locale)}
        </span>
      }
      progress={state === "working" && share !== undefined ? { value: share, label: t("downloads.progress", { name }) } : undefined}
      link={assetId ? <OpenAsset assetId={assetId} name={name} connection={connection} /> : null}
      actions={[
        canAdd && task.canCancel && { icon: Square, label: t("act.cancel", { name }), onClick: () => void callTask("cancel"), isBusy },
        canAdd && task.canRetry && { icon: RotateCw, label: t("act.again", { name }), onClick: () => void callTask("retry"), isBusy },
        canAdd && state !== "working" && { icon: X, label: t("act.dismiss", { name }), onClick: () => void callTask("forget"), isBusy },
      ]}
      className="min-h-[52px] py-1.5"
    >
      {refused ? <p className="text-sm text-bad">{refusalText(refused, t, errors)}</p> : null}
    </TransferRow>
  );
}

type Words = ReturnType<typeof useTranslations<"uploads">>;

/** A percentage if the service reports progress; otherwise a plain "working". */
function progressText({ state, word, reason, bytesDone, bytesTotal }: DownloadTask, t: Words, locale: string): string {
  if (state === "failed") return reason ? t("downloads.failedWhy", { reason }) : t("downloads.failed");
  if (state !== "working") return t(`downloads.${state}`);
  if (bytesDone === undefined) return word === "created" ? t("downloads.waiting") : t("downloads.workingSince");
  if (word === "created" && bytesDone === 0) return t("downloads.waiting");
  const doneText = formatBytes(bytesDone, locale);
  const progressText = bytesTotal
    ? t("downloads.share", { done: doneText, total: formatBytes(bytesTotal, locale) })
    : t("downloads.bytes", { done: doneText });
  return `${t("downloads.working")} · ${progressText}`;
}

function refusalText(failure: ApiFailure, t: Words, errors: ReturnType<typeof useTranslations<"errors">>): string {
  return isMissingOperation(failure) ? t("downloads.cannotCancel") : failureText(errors, failure);
}

function getName({ fileName, source }: DownloadTask): string {
  return fileName || getFileName(source);
}

export type Downloads = ReturnType<typeof useDownloads>;

const workingIds = new Set<string>();

/** Notifies lists once per new asset, except for downloads that ended before this visit. */
function readDownloads(downloadTasks: DownloadTasks): DownloadTasks {
  for (const { id, state, assetId } of downloadTasks.tasks) {
    if (state === "working") workingIds.add(id);
    else if (workingIds.delete(id) && state === "completed" && assetId) notifyStoredAssets();
  }
  return downloadTasks;
}

/** The background downloads of a connection, by any member and from any browser. */
export function useDownloads(connection: string | undefined) {
  const path = connection === undefined ? undefined : withQuery("/api/console/tasks", { connection });
  const live = useLive<DownloadTasks, DownloadTasks>(path, { read: readDownloads });
  return { list: live.value, atMs: live.atMs, failure: live.failure, refresh: live.refresh };
}
