import { Info, type LucideIcon, Pause, Play, RotateCw, Square, SquareArrowOutUpRight, X } from "lucide-react";
import { useLocale, useTranslations } from "next-intl";
import { memo, type ReactNode, useEffect, useRef, useState } from "react";
import { formatFailure } from "@/components/frame/failure/failure-message";
import { notifyStoredAssets } from "@/components/frame/stored-assets";
import { cn } from "@/components/ui/cn";
import { IconButton } from "@/components/ui/controls/button";
import { ButtonLink } from "@/components/ui/link";
import { ProgressBar } from "@/components/ui/skeleton";
import { type Tone, ToneIcon, toneInk } from "@/components/ui/status-badge";
import { RelativeTime } from "@/components/ui/time";
import { FileName } from "@/components/ui/truncated";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { useLive } from "@/lib/browser/live/use-live";
import { withQuery } from "@/lib/browser/urls";
import { useRequests } from "@/lib/browser/use-read";
import { type DownloadState, type DownloadTask, type DownloadTasks, getFileName } from "@/lib/contract/assets/file-refs";
import { isMissingOperation } from "@/lib/contract/failure";
import { formatBytes } from "@/lib/shared/text";
import { hasContentMismatch, hasFailedFieldsUpdate, isInProgress, isUnfinished, type UploadItem } from "./upload-item";
import { getStateText, getStepShare, getTone, isChangeUnsupported } from "./upload-state";
import { tabUploads } from "./upload-store";

/** Extra rows above and below the visible ones. */
const OVERSCAN_ROWS = 6;
const LIST_HEIGHT_PX = 312;

/** Renders only the rows near the viewport, since there may be thousands of files. */
export function UploadList({ items, onDetails }: { items: readonly UploadItem[]; onDetails: (key: number) => void }) {
  const t = useTranslations("uploads");
  const scroller = useRef<HTMLDivElement>(null);
  const [scrollTop, setScrollTop] = useState(0);
  const visibleRowCount = Math.ceil(LIST_HEIGHT_PX / ROW_HEIGHT_PX);
  const firstRow = Math.max(0, Math.min(Math.floor(scrollTop / ROW_HEIGHT_PX), items.length - visibleRowCount) - OVERSCAN_ROWS);
  const endRow = Math.min(items.length, firstRow + visibleRowCount + 2 * OVERSCAN_ROWS);
  // The scroll position changes when the list becomes shorter.
  useEffect(() => setScrollTop(scroller.current?.scrollTop ?? 0), [items.length]);
  if (items.length === 0) return <p className="px-3 py-4 text-center text-ink-3">{t("tray.none")}</p>;
  return (
    <div
      ref={scroller}
      tabIndex={0}
      role="region"
      aria-label={t("tray.list")}
      className="max-h-[min(312px,46dvh)] overflow-y-auto"
      onScroll={({ currentTarget }) => setScrollTop(currentTarget.scrollTop)}
    >
      <ul>
        <Spacer rows={firstRow} />
        {items.slice(firstRow, endRow).map((item, index) => (
          <li
            key={item.key}
            aria-setsize={items.length}
            aria-posinset={firstRow + index + 1}
            className="border-b border-line last:border-0"
          >
            <UploadRow item={item} onDetails={onDetails} />
          </li>
        ))}
        <Spacer rows={items.length - endRow} />
      </ul>
    </div>
  );
}

/** Uses an SVG, which can have a height without an inline style. */
function Spacer({ rows }: { rows: number }) {
  return rows > 0 ? (
    <li aria-hidden="true">
      <svg className="block" width="1" height={rows * ROW_HEIGHT_PX} />
    </li>
  ) : null;
}

const ROW_HEIGHT_PX = 56;

type UploadRowProps = { item: UploadItem; onDetails: (key: number) => void };

/** All rows have the same height, with two lines for the state. */
const UploadRow = memo(function UploadRow({ item, onDetails }: UploadRowProps) {
  const t = useTranslations("uploads");
  const errors = useTranslations("errors");
  const locale = useLocale();
  const { key, file, status } = item;
  const tone = getTone(item);
  const text = getStateText(item, { t, errors, locale });
  const share = getStepShare(item);
  const name = item.assetFields.name || file.name;
  const canPause = status.kind === "waiting" || (isInProgress(item) && status.kind !== "checking");
  const actions: (TransferAction | false)[] = [
    canPause && { icon: Pause, label: t("act.pause", { name }), onClick: () => tabUploads.pause(key) },
    status.kind === "paused" && { icon: Play, label: t("act.resume", { name }), onClick: () => tabUploads.retry(key) },
    (status.kind === "failed" || (hasFailedFieldsUpdate(item) && !isChangeUnsupported(item))) && {
      icon: RotateCw,
      label: t("act.again", { name }),
      onClick: () => tabUploads.retry(key),
    },
    { icon: Info, label: t("act.details", { name }), onClick: () => onDetails(key) },
    { icon: X, label: t(isUnfinished(item) ? "act.cancel" : "act.dismiss", { name }), onClick: () => tabUploads.remove(key) },
  ];
  return (
    <TransferRow
      tone={tone}
      name={name}
      note={formatBytes(file.size, locale)}
      actions={actions}
      text={
        <span
          className={cn("line-clamp-2 min-w-0 flex-1 leading-[15px] break-words", tone === "bad" ? "text-bad" : "text-ink-2")}
          title={text}
          role={hasContentMismatch(item) ? "alert" : undefined}
        >
          {text}
        </span>
      }
      progress={share === undefined ? undefined : { value: share, label: `${name}: ${text}` }}
      className="h-[56px]"
    />
  );
});

type TransferAction = { icon: LucideIcon; label: string; onClick: () => void; isBusy?: boolean };
type TransferRowProps = {
  tone: Tone;
  name: string;
  title?: string;
  note: ReactNode;
  text: ReactNode;
  progress?: { value: number; label: string };
  /** Shown before the actions. */
  link?: ReactNode;
  actions: readonly (TransferAction | false)[];
  className?: string;
  children?: ReactNode;
};

/** A row of the tray: an upload or a download. */
function TransferRow({ tone, name, title = name, note, text, progress, link, actions, className, children }: TransferRowProps) {
  return (
    <div className={cn("flex items-center gap-2 px-3", className)}>
      <span className={cn("shrink-0", toneInk[tone])}>
        <ToneIcon tone={tone} />
      </span>
      <div className="min-w-0 flex-1">
        <p className="flex items-baseline gap-2">
          <span className="min-w-0 flex-1 truncate" title={title}>
            <FileName name={name} />
          </span>
          <span className="shrink-0 text-sm text-ink-3">{note}</span>
        </p>
        <p className="flex items-center gap-2 text-sm">
          {text}
          {progress ? <ProgressBar {...progress} className="w-16 shrink-0" /> : null}
        </p>
        {children}
      </div>
      <span className="flex shrink-0">
        {link}
        {actions.map((action) => {
          if (!action) return null;
          const { isBusy, ...button } = action;
          return <IconButton key={action.label} size="small-icon" tone="quiet" busy={isBusy} {...button} />;
        })}
      </span>
    </div>
  );
}

/** A link to the stored asset. */
function OpenAsset({ assetId, name, connection }: { assetId: string; name: string; connection?: string }) {
  const t = useTranslations("uploads.act");
  return (
    <ButtonLink
      href={withQuery(`/assets/${encodeURIComponent(assetId)}`, { connection })}
      aria-label={`${t("open")}: ${name}`}
      title={t("open")}
      tone="quiet"
      size="small-icon"
    >
      <SquareArrowOutUpRight aria-hidden="true" className="size-3.5" />
    </ButtonLink>
  );
}

type DownloadListProps = { downloads: Downloads; connection?: string; canAdd: boolean };

const stateTones: Readonly<Record<DownloadState, Tone>> = {
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
          {formatFailure(errors, shownFailure)}
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
  const tone = stateTones[state];
  const name = getDownloadName(task);
  const { busyWith, failure, send } = useRequests<"cancel" | "retry" | "forget">();
  const isBusy = busyWith !== undefined;
  // Cancelling a finished task fails with a conflict, and the task's state already shows the outcome.
  const refusal = failure?.status === 409 && (state === "completed" || state === "cancelled") ? undefined : failure;
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
          {getProgressText(task, t, locale)}
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
      {refusal ? <p className="text-sm text-bad">{getRefusalText(refusal, t, errors)}</p> : null}
    </TransferRow>
  );
}

type UploadsTranslator = ReturnType<typeof useTranslations<"uploads">>;

/** Returns the downloaded bytes if the service reports them, otherwise a plain state. */
function getProgressText({ state, word, reason, bytesDone, bytesTotal }: DownloadTask, t: UploadsTranslator, locale: string): string {
  if (state === "failed") return reason ? t("downloads.failedWhy", { reason }) : t("downloads.failed");
  if (state !== "working") return t(`downloads.${state}`);
  if (bytesDone === undefined) return word === "created" ? t("downloads.waiting") : t("downloads.workingSince");
  if (word === "created" && bytesDone === 0) return t("downloads.waiting");
  const doneText = formatBytes(bytesDone, locale);
  const amountText = bytesTotal
    ? t("downloads.share", { done: doneText, total: formatBytes(bytesTotal, locale) })
    : t("downloads.bytes", { done: doneText });
  return `${t("downloads.working")} · ${amountText}`;
}

function getRefusalText(failure: ApiFailure, t: UploadsTranslator, errors: ReturnType<typeof useTranslations<"errors">>): string {
  return isMissingOperation(failure) ? t("downloads.cannotCancel") : formatFailure(errors, failure);
}

function getDownloadName({ fileName, source }: DownloadTask): string {
  return fileName || getFileName(source);
}

export type Downloads = ReturnType<typeof useDownloads>;

const workingIds = new Set<string>();

/** Notifies lists once per new asset, except for downloads that ended before this visit started. */
function trackDownloads(downloadTasks: DownloadTasks): DownloadTasks {
  for (const { id, state, assetId } of downloadTasks.tasks) {
    if (state === "working") workingIds.add(id);
    else if (workingIds.delete(id) && state === "completed" && assetId) notifyStoredAssets();
  }
  return downloadTasks;
}

/** Returns the background downloads of a connection, by any member and from any browser. */
export function useDownloads(connection: string | undefined) {
  const path = connection === undefined ? undefined : withQuery("/api/console/tasks", { connection });
  const live = useLive<DownloadTasks, DownloadTasks>(path, { read: trackDownloads });
  return { list: live.value, atMs: live.atMs, failure: live.failure, refresh: live.refresh };
}
