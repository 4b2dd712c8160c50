import { RotateCw, Square, X } from "lucide-react";
import { useLocale, useTranslations } from "next-intl";
import { useCallback, useState } from "react";
import { failureText } from "@/components/frame/failure/fault-owner";
import { tellStored } from "@/components/frame/stored-assets";
import { cn } from "@/components/ui/cn";
import { FileName } from "@/components/ui/cut";
import { ProgressBar } from "@/components/ui/skeleton";
import { type Tone, ToneIcon } from "@/components/ui/status-badge";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { callApi } from "@/lib/browser/api";
import { usePoll } from "@/lib/browser/poll/use-poll";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type DownloadState, type DownloadTask, type DownloadTasks, fileOfAddress } from "@/lib/contract/assets/file-refs";
import { lacksOperation } from "@/lib/contract/failure";
import { formatBytes } from "@/lib/shared/format";
import { Act, OpenAsset } from "../uploads/upload-list";

type DownloadListProps = { downloads: Downloads; connection?: string; canAdd: boolean };

const looks: Readonly<Record<DownloadState, { tone: Tone; ink: string }>> = {
  working: { tone: "run", ink: "text-run" },
  completed: { tone: "ok", ink: "text-ok" },
  failed: { tone: "bad", ink: "text-bad" },
  cancelled: { tone: "off", ink: "text-off" },
  gone: { tone: "unknown", ink: "text-ink-2" },
};

/** Files that the service fetches itself, including those started before a reload, in another browser, or by another member. */
export function DownloadList({ downloads, connection, canAdd }: DownloadListProps) {
  const t = useTranslations("uploads.downloads");
  const errors = useTranslations("errors");
  const { list, failure, atMs } = downloads;
  const shown = failure ?? list?.failure;
  return (
    <div role="region" aria-label={t("list")} tabIndex={0} className="max-h-[min(312px,46dvh)] overflow-y-auto">
      {shown ? (
        <p role="status" className="border-b border-line px-3 py-2 text-sm text-bad">
          {failureText(errors, shown)}
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
  const { tone, ink } = looks[state];
  const name = nameOf(task);
  const isBusy = downloads.busy.has(id);
  const failure = downloads.failures.get(id);
  // A cancel that came too late is answered by how the task ended.
  const refused = failure?.status === 409 && (state === "completed" || state === "cancelled") ? undefined : failure;
  const act = (verb: "cancel" | "retry" | "forget") => () => void downloads.act(id, verb);
  return (
    <div className="flex min-h-[52px] items-center gap-2 px-3 py-1.5">
      <span className={cn("shrink-0", ink)}>
        <ToneIcon tone={tone} />
      </span>
      <div className="min-w-0 flex-1">
        <p className="flex items-baseline gap-2">
          <span className="min-w-0 flex-1 truncate" title={source}>
            <FileName name={name} />
          </span>
          <span className="shrink-0 text-sm text-ink-3">
            {task.startedBy ? `${t("downloads.by", { name: task.startedBy })} · ` : null}
            <RelativeTime ms={task.createdAtMs} />
          </span>
        </p>
        <p className="flex items-center gap-2 text-sm">
          <span className={cn("min-w-0 flex-1 break-words", state === "failed" ? "text-bad" : "text-ink-2")}>
            {progressText(task, t, locale)}
          </span>
          {state === "working" && share !== undefined ? (
            <ProgressBar value={share} label={t("downloads.progress", { name })} className="w-16 shrink-0" />
          ) : null}
        </p>
        {refused ? <p className="text-sm text-bad">{refusalText(refused, t, errors)}</p> : null}
      </div>
      <span className="flex shrink-0">
        {assetId ? <OpenAsset assetId={assetId} name={name} connection={connection} /> : null}
        {canAdd && task.canCancel ? <Act icon={Square} label={t("act.cancel", { name })} busy={isBusy} onClick={act("cancel")} /> : null}
        {canAdd && task.canRetry ? <Act icon={RotateCw} label={t("act.again", { name })} busy={isBusy} onClick={act("retry")} /> : null}
        {canAdd && state !== "working" ? <Act icon={X} label={t("act.dismiss", { name })} busy={isBusy} onClick={act("forget")} /> : null}
      </span>
    </div>
  );
}

type Words = ReturnType<typeof useTranslations<"uploads">>;

/** A percentage where the service reports progress; a plain "working" where it does not. */
function progressText({ state, word, reason, bytesDone, bytesTotal }: DownloadTask, t: Words, locale: string): string {
  if (state === "failed") return reason ? t("downloads.failedWhy", { reason }) : t("downloads.failed");
  if (state !== "working") return t(`downloads.${state}`);
  if (bytesDone === undefined) return word === "created" ? t("downloads.waiting") : t("downloads.workingSince");
  if (word === "created" && bytesDone === 0) return t("downloads.waiting");
  const done = formatBytes(bytesDone, locale);
  const known = bytesTotal ? t("downloads.share", { done, total: formatBytes(bytesTotal, locale) }) : t("downloads.bytes", { done });
  return `${t("downloads.working")} · ${known}`;
}

function refusalText(failure: ApiFailure, t: Words, errors: ReturnType<typeof useTranslations<"errors">>): string {
  return lacksOperation(failure) ? t("downloads.cannotCancel") : failureText(errors, failure);
}

function nameOf({ fileName, source }: DownloadTask): string {
  return fileName || fileOfAddress(source);
}

export type Downloads = ReturnType<typeof useDownloads>;

const working = new Set<string>();

/** Announces each new asset to the lists once, but not those of an earlier visit. */
function readDownloads(answer: DownloadTasks): DownloadTasks {
  for (const { id, state, assetId } of answer.tasks) {
    if (state === "working") working.add(id);
    else if (working.delete(id) && state === "completed" && assetId) tellStored();
  }
  return answer;
}

const motion = ({ underWay }: DownloadTasks) => (underWay > 0 ? ("moving" as const) : ("background" as const));

/** The background downloads of a connection, by any member and from any browser. */
export function useDownloads(connection: string | undefined) {
  const path = connection === undefined ? undefined : withQuery("/api/console/tasks", { connection });
  const poll = usePoll<DownloadTasks, DownloadTasks>(path, { read: readDownloads, motion });
  const [busy, setBusy] = useState<ReadonlySet<string>>(new Set());
  const [failures, setFailures] = useState<ReadonlyMap<string, ApiFailure>>(new Map());
  const { refresh } = poll;

  const act = useCallback(
    async (id: string, verb: "cancel" | "retry" | "forget") => {
      setBusy((now) => new Set(now).add(id));
      const own: `/${string}` = `/api/console/tasks/${encodeURIComponent(id)}`;
      const result =
        verb === "forget" ? await callApi(own, { method: "DELETE" }) : await callApi<DownloadTask>(`${own}/${verb}`, { method: "POST" });
      setFailures((now) => {
        const next = new Map(now);
        if (result.ok) next.delete(id);
        else next.set(id, result.failure);
        return next;
      });
      await refresh();
      setBusy((now) => new Set([...now].filter((one) => one !== id)));
    },
    [refresh],
  );

  return { list: poll.value, atMs: poll.atMs, failure: poll.failure, refresh, act, busy, failures };
}
