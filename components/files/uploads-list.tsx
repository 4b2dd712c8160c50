import { X } from "lucide-react";
import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent, useState, useSyncExternalStore } from "react";
import { formatFailure } from "@/components/frame/failure/failure-message";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { CheckField } from "@/components/ui/controls/fields";
import { ConfirmDialog } from "@/components/ui/dialog";
import { useCloseWarning } from "@/components/ui/hooks/page-events";
import { ProgressBar } from "@/components/ui/skeleton";
import { type Tone, ToneIcon, toneInk } from "@/components/ui/status-badge";
import { showToast } from "@/components/ui/toast-store";
import { FileName } from "@/components/ui/truncated";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { retryRateLimited } from "@/lib/browser/bulk/bulk-calls";
import { type DroppedFiles } from "@/lib/browser/files/dropped-files";
import { upload } from "@/lib/browser/uploads/upload";
import { createUploadQueue } from "@/lib/browser/uploads/upload-queue";
import { coalesce } from "@/lib/shared/async";
import { type Result } from "@/lib/shared/result";
import { createUuid } from "@/lib/shared/text";
import { getFileApiPath, joinPath } from "./files-view";

// Uploads to the user data. Existing files are replaced only after confirmation, per file or for the rest of the batch.

export type FileUpload = {
  key: number;
  path: string;
  bytes: number;
  connection: string | undefined;
  /** Files added together share a batch, so that one choice can apply to all of them. */
  batch: number;
  /** `conflict`: a file of this name exists, and the user must choose. `stopped`: it is unknown how much was sent. */
  state: "waiting" | "sending" | "conflict" | "stored" | "skipped" | "failed" | "stopped";
  /** The fraction of bytes sent, from 0 to 1. */
  share?: number;
  failure?: ApiFailure;
};
export type ConflictChoice = "replace" | "keep";
export type SendFile = (
  upload: { path: string; file: File; connection: string | undefined; action: string },
  options: { overwrite: boolean; signal: AbortSignal; onProgress: (share: number) => void },
) => Promise<Result<unknown, ApiFailure>>;

type QueuedFile = FileUpload & { file: File; action: string; overwrite: boolean };

const isActive = ({ state }: FileUpload) => state === "waiting" || state === "sending" || state === "conflict";
/** Files that the user may want to send again. */
const needsRetry = ({ state }: FileUpload) => state === "failed" || state === "stopped";

export type FileUploads = ReturnType<typeof createFileUploads>;

export function createFileUploads(send: SendFile, onStored: () => void = () => undefined) {
  let lastBatch = 0;
  const batchChoices = new Map<number, ConflictChoice>();
  const toState = (choice: ConflictChoice): Partial<QueuedFile> =>
    choice === "keep" ? { state: "skipped" } : { state: "waiting", overwrite: true };

  const { get, subscribe, find, findKeys, updateItem, startPending, stop, add, remove } = createUploadQueue<QueuedFile>({
    getNextItem: (items) => items.find(({ state }) => state === "waiting"),
    initialFields: { state: "sending", share: undefined, failure: undefined },
    async uploadFile(queuedFile, { signal, report, reportPersistent }) {
      const { overwrite, batch } = queuedFile;
      const result = await send(queuedFile, { overwrite, signal, onProgress: (share) => report({ share }) });
      if (result.ok) {
        // The file is stored even if it was stopped after its last byte.
        reportPersistent({ state: "stored" });
        onStored();
        return { state: "stored" };
      }
      if (result.failure.status !== 409 || overwrite) return { state: "failed", failure: result.failure };
      const batchChoice = batchChoices.get(batch);
      return batchChoice ? toState(batchChoice) : { state: "conflict" };
    },
  });
  function changeAll(keys: ReadonlySet<number>, changes: Partial<QueuedFile>): void {
    for (const key of keys) updateItem(key, changes);
    startPending();
  }

  return {
    get: (): readonly FileUpload[] => get().items,
    subscribe,
    add(files: readonly { path: string; file: File }[], connection: string | undefined): void {
      const sharedFields = { connection, action: createUuid(), batch: (lastBatch += 1), state: "waiting", overwrite: false } as const;
      add(files.map(({ path, file }) => (key) => ({ ...sharedFields, key, path, file, bytes: file.size })));
    },
    resolveConflict(key: number, choice: ConflictChoice, isForAll: boolean): void {
      const upload = find(key);
      if (!upload) return;
      if (isForAll) batchChoices.set(upload.batch, choice);
      const isIncluded = (queuedFile: QueuedFile) =>
        queuedFile.state === "conflict" && (queuedFile.key === key || (isForAll && queuedFile.batch === upload.batch));
      changeAll(findKeys(isIncluded), toState(choice));
    },
    retry: (key: number) => changeAll(new Set([key]), { state: "waiting" }),
    retryAll: () => changeAll(findKeys(needsRetry), { state: "waiting", failure: undefined }),
    /** Stops unfinished files. They remain in the list, to be sent again or cleared. */
    stopAll(): void {
      const keys = findKeys(isActive);
      keys.forEach(stop);
      changeAll(keys, { state: "stopped" });
    },
    remove: (key: number) => remove(new Set([key])),
    /** Removes finished files from the list. */
    clear: () => remove(findKeys((queuedFile) => !isActive(queuedFile))),
  };
}

const sendFile: SendFile = ({ path, file, connection, action }, { overwrite, signal, onProgress }) =>
  retryRateLimited(
    () => upload(getFileApiPath(path, { connection, overwrite, full_info: true }), { bytes: file, onProgress, signal, action }),
    // Folders with many files may hit a rate limit.
    { signal, onWait: () => undefined },
  );

let uploads: FileUploads | undefined;
const storedListeners = new Set<() => void>();

/** The uploads of this tab, created on first use and kept across pages. */
function getTabUploads(): FileUploads {
  return (uploads ??= createFileUploads(sendFile, () => storedListeners.forEach((listener) => listener())));
}

/** Queues files for upload, reports skipped ones, and refreshes the list as files are stored. */
export function useFileUploads({ connection, refresh }: { connection: string | undefined; refresh: () => Promise<unknown> }) {
  const t = useTranslations("files.upload");
  const uploads = getTabUploads();
  const onStored = useEffectEvent(() => refresh());
  // Coalesced, since many files would otherwise refresh the list many times.
  useEffect(() => {
    const refreshOnce = coalesce(() => onStored());
    const notify = () => void refreshOnce();
    storedListeners.add(notify);
    return () => void storedListeners.delete(notify);
  }, []);
  function uploadFiles(dir: string, { files, unreadableCount, skippedCount, isTruncated }: DroppedFiles) {
    uploads.add(
      files.map(({ path, file }) => ({ path: joinPath(dir, path), file })),
      connection,
    );
    if (files.length + unreadableCount + skippedCount === 0) showToast({ tone: "wait", text: t("nothing") });
    if (skippedCount > 0) showToast({ tone: "wait", text: t("leftOut", { count: skippedCount }) });
    if (unreadableCount > 0) showToast({ tone: "bad", text: t("unreadable", { count: unreadableCount }) });
    if (isTruncated) showToast({ tone: "bad", text: t("cut", { count: files.length }) });
  }
  return { uploads, uploadFiles };
}

const toneByState: Record<FileUpload["state"], Tone> = {
  waiting: "off",
  sending: "run",
  conflict: "wait",
  stored: "ok",
  skipped: "off",
  failed: "bad",
  stopped: "off",
};
const MAX_SHOWN_UPLOADS = 50;
const noUploads: readonly FileUpload[] = [];

function getUrgency(fileUpload: FileUpload): number {
  if (fileUpload.state === "conflict" || needsRetry(fileUpload)) return 0;
  return isActive(fileUpload) ? (fileUpload.state === "sending" ? 1 : 2) : 3;
}

/** Lists uploads: conflicts and failures first, newest last. */
export function UploadsList({ uploads }: { uploads: FileUploads }) {
  const t = useTranslations("files.upload");
  const allUploads = useSyncExternalStore(uploads.subscribe, uploads.get, () => noUploads);
  const areAllDone = !allUploads.some(isActive);
  useCloseWarning(!areAllDone);
  if (allUploads.length === 0) return null;
  const shownUploads = [...allUploads].sort((fileUpload, other) => getUrgency(fileUpload) - getUrgency(other)).slice(0, MAX_SHOWN_UPLOADS);
  const doneCount = allUploads.filter(({ state }) => state === "stored" || state === "skipped").length;
  const retryCount = allUploads.filter(needsRetry).length;
  return (
    <section aria-label={t("label")} className="border-b border-line bg-surface px-4 py-2.5 md:px-5">
      <div className="flex items-center gap-2">
        <p role="status" className="flex-1 text-ink-2">
          {t("progress", { done: doneCount, count: allUploads.length })}
        </p>
        {areAllDone && retryCount > 1 ? (
          <Button size="small" onClick={uploads.retryAll}>
            {t("allAgain", { count: retryCount })}
          </Button>
        ) : null}
        <Button size="small" onClick={areAllDone ? uploads.clear : uploads.stopAll}>
          {t(areAllDone ? "clear" : "stop")}
        </Button>
      </div>
      <ul tabIndex={0} aria-label={t("label")} className="mt-1.5 max-h-52 overflow-y-auto">
        {shownUploads.map((upload) => (
          <UploadLine key={upload.key} upload={upload} uploads={uploads} />
        ))}
      </ul>
      {allUploads.length > MAX_SHOWN_UPLOADS ? (
        <p className="text-sm text-ink-3">{t("more", { count: allUploads.length - MAX_SHOWN_UPLOADS })}</p>
      ) : null}
      <ReplaceDialog allUploads={allUploads} uploads={uploads} />
    </section>
  );
}

function UploadLine({ upload, uploads }: { upload: FileUpload; uploads: FileUploads }) {
  const t = useTranslations("files.upload");
  const errors = useTranslations("errors");
  const { key, path, state, failure } = upload;
  const share = state === "sending" ? upload.share : undefined;
  return (
    <li className={cn("flex min-h-7 items-center gap-2", failure && "max-lg:py-1")}>
      <span className={toneInk[toneByState[state]]}>
        <ToneIcon tone={toneByState[state]} />
      </span>
      <span className={cn("flex min-w-0 flex-1 items-center gap-2", failure && "max-lg:flex-col max-lg:items-start max-lg:gap-0")}>
        <span title={path} className={cn("min-w-0 flex-1 truncate font-mono text-sm", failure && "max-lg:max-w-full max-lg:flex-none")}>
          <FileName name={path} />
        </span>
        {share === undefined ? null : <ProgressBar value={share} label={t("share", { path })} className="max-sm:hidden" />}
        <span className={cn("tabular-nums", state === "failed" ? "text-bad" : "text-ink-3")}>
          {failure ? formatFailure(errors, failure) : share === undefined ? t(`state.${state}`) : t("sending", { share })}
        </span>
      </span>
      {needsRetry(upload) ? (
        <Button size="small" onClick={() => uploads.retry(key)}>
          {t("again")}
        </Button>
      ) : null}
      <button
        type="button"
        aria-label={t("remove", { path })}
        onClick={() => uploads.remove(key)}
        className="grid size-6 place-items-center rounded-sm text-ink-2 hover:text-ink"
      >
        <X aria-hidden="true" className="size-3.5" />
      </button>
    </li>
  );
}

/** Asks about one file at a time. A choice can apply to the whole batch. Closing the dialog postpones the open batches. */
function ReplaceDialog({ allUploads, uploads }: { allUploads: readonly FileUpload[]; uploads: FileUploads }) {
  const t = useTranslations("files.replace");
  const [isForAll, setForAll] = useState(false);
  // Batches postponed by the user, whose other conflicts would reopen the dialog.
  const [postponedBatches, setPostponedBatches] = useState<ReadonlySet<number>>(new Set());
  const conflicts = allUploads.filter(({ state }) => state === "conflict");
  const openConflicts = conflicts.filter(({ batch }) => !postponedBatches.has(batch));
  // The dialog keeps its file even if another conflict appears.
  const [key, setKey] = useState<number>();
  const file = openConflicts.find((fileUpload) => fileUpload.key === key) ?? openConflicts[0];
  if (file?.key !== key) {
    setKey(file?.key);
    setForAll(false);
  }
  const otherUploads = allUploads.filter(
    (fileUpload) => fileUpload.batch === file?.batch && fileUpload.key !== file.key && isActive(fileUpload),
  );
  function resolve(choice: ConflictChoice) {
    if (file) uploads.resolveConflict(file.key, choice, isForAll);
  }
  return (
    <>
      {conflicts.some(({ batch }) => postponedBatches.has(batch)) ? (
        <Button size="small" className="mt-1.5" onClick={() => setPostponedBatches(new Set())}>
          {t("ask", { count: conflicts.length })}
        </Button>
      ) : null}
      <ConfirmDialog
        isOpen={file !== undefined}
        onClose={() => {
          // Without a file, the dialog closed because no conflict remained.
          if (file) setPostponedBatches((current) => new Set([...current, ...openConflicts.map(({ batch }) => batch)]));
        }}
        title={t("title", { path: file?.path ?? "" })}
        cancelLabel={t("keep")}
        onCancel={() => resolve("keep")}
        label={t(isForAll ? "replaceAll" : "replace")}
        onConfirm={() => resolve("replace")}
      >
        <p>{t("text")}</p>
        {otherUploads.length > 0 ? (
          <CheckField
            label={t("all", { count: conflicts.filter(({ batch }) => batch === file?.batch).length })}
            className="mt-3 text-ink"
            checked={isForAll}
            onChange={(event) => setForAll(event.currentTarget.checked)}
          />
        ) : null}
      </ConfirmDialog>
    </>
  );
}
