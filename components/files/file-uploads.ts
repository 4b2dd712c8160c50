// Uploads into the user data. Existing files are replaced only after confirmation, for one file or for the rest of its batch.

import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent } from "react";
import { showToast } from "@/components/ui/toast-store";
import { retryRateLimited } from "@/lib/browser/bulk/bulk-calls";
import { type DroppedFiles } from "@/lib/browser/files/dropped-files";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { upload } from "@/lib/browser/uploads/upload";
import { createUploadQueue } from "@/lib/browser/uploads/upload-queue";
import { coalesce } from "@/lib/shared/async";
import { type Result } from "@/lib/shared/result";
import { createUuid } from "@/lib/shared/text";
import { fileApiPath, within } from "./files-view";

export type FileUpload = {
  key: number;
  path: string;
  bytes: number;
  connection: string | undefined;
  /** Files added together: one choice can apply to all of them. */
  batch: number;
  /** `conflict`: a file of this name exists, and the user must choose. `stopped`: it is unknown how much was sent. */
  state: "waiting" | "sending" | "conflict" | "stored" | "skipped" | "failed" | "stopped";
  /** The share of bytes sent, from 0 to 1. */
  share?: number;
  failure?: ApiFailure;
};
export type ConflictChoice = "replace" | "keep";
export type SendFile = (
  upload: { path: string; file: File; connection: string | undefined; action: string },
  options: { overwrite: boolean; signal: AbortSignal; onProgress: (share: number) => void },
) => Promise<Result<unknown, ApiFailure>>;

type QueuedFile = FileUpload & { file: File; action: string; overwrite: boolean };

export const isUnderWay = ({ state }: FileUpload) => state === "waiting" || state === "sending" || state === "conflict";
/** Files that the user may want to send again. */
export const needsRetry = ({ state }: FileUpload) => state === "failed" || state === "stopped";

export type FileUploads = ReturnType<typeof createFileUploads>;

export function createFileUploads(send: SendFile, onStored: () => void = () => undefined) {
  let lastBatch = 0;
  const batchChoices = new Map<number, ConflictChoice>();
  const toState = (text: ConflictChoice): Partial<QueuedFile> =>
    text === "keep" ? { state: "skipped" } : { state: "waiting", overwrite: true };

  const { get, subscribe, find, keysOf, change, startPending, stop, add, remove } = createUploadQueue<QueuedFile>({
    nextItem: (items) => items.find(({ state }) => state === "waiting"),
    initialFields: { state: "sending", share: undefined, failure: undefined },
    async uploadFile(queuedFile, { signal, report, reportLasting }) {
      const { overwrite, batch } = queuedFile;
      const result = await send(queuedFile, { overwrite, signal, onProgress: (share) => report({ share }) });
      if (result.ok) {
        // The file is stored even if it was stopped after its last byte.
        reportLasting({ state: "stored" });
        onStored();
        return { state: "stored" };
      }
      if (result.failure.status !== 409 || overwrite) return { state: "failed", failure: result.failure };
      const batchAnswer = batchChoices.get(batch);
      return batchAnswer ? toState(batchAnswer) : { state: "conflict" };
    },
  });
  function changeAll(keys: ReadonlySet<number>, patch: Partial<QueuedFile>): void {
    for (const key of keys) change(key, patch);
    startPending();
  }

  return {
    get: (): readonly FileUpload[] => get().items,
    subscribe,
    add(files: readonly { path: string; file: File }[], connection: string | undefined): void {
      const common = { connection, action: createUuid(), batch: (lastBatch += 1), state: "waiting", overwrite: false } as const;
      add(files.map(({ path, file }) => (key) => ({ ...common, key, path, file, bytes: file.size })));
    },
    resolveConflict(key: number, text: ConflictChoice, isForAll: boolean): void {
      const upload = find(key);
      if (!upload) return;
      if (isForAll) batchChoices.set(upload.batch, text);
      const isIncluded = (queuedFile: QueuedFile) =>
        queuedFile.state === "conflict" && (queuedFile.key === key || (isForAll && queuedFile.batch === upload.batch));
      changeAll(keysOf(isIncluded), toState(text));
    },
    again: (key: number) => changeAll(new Set([key]), { state: "waiting" }),
    allAgain: () => changeAll(keysOf(needsRetry), { state: "waiting", failure: undefined }),
    /** Stops unfinished files. They remain in the list, to be sent again or cleared. */
    stopAll(): void {
      const keys = keysOf(isUnderWay);
      keys.forEach(stop);
      changeAll(keys, { state: "stopped" });
    },
    remove: (key: number) => remove(new Set([key])),
    /** Removes finished files from the list. */
    clear: () => remove(keysOf((queuedFile) => !isUnderWay(queuedFile))),
  };
}

const sendFile: SendFile = ({ path, file, connection, action }, { overwrite, signal, onProgress }) =>
  retryRateLimited(
    () => upload(fileApiPath(path, { connection, overwrite, full_info: true }), { bytes: file, onProgress, signal, act: action }),
    // Folders with many files may hit a rate limit.
    { signal, onWait: () => undefined },
  );

let uploads: FileUploads | undefined;
const storedListeners = new Set<() => void>();

/** The uploads of this tab, created on first use and kept across pages. */
function tabFileUploads(): FileUploads {
  return (uploads ??= createFileUploads(sendFile, () => storedListeners.forEach((notify) => notify())));
}

/** Takes files for upload, reports skipped ones, and refreshes the list while they are stored. */
export function useFileIntake({ connection, refresh }: { connection: string | undefined; refresh: () => Promise<unknown> }) {
  const t = useTranslations("files.upload");
  const uploads = tabFileUploads();
  const onStored = useEffectEvent(() => refresh());
  // Coalesced, since many files would otherwise refresh the list many times.
  useEffect(() => {
    const refreshOnce = coalesce(() => onStored());
    const notify = () => void refreshOnce();
    storedListeners.add(notify);
    return () => void storedListeners.delete(notify);
  }, []);
  function addFiles(dir: string, { files, unreadable, leftOut, isCut }: DroppedFiles) {
    uploads.add(
      files.map(({ path, file }) => ({ path: within(dir, path), file })),
      connection,
    );
    if (files.length + unreadable + leftOut === 0) showToast({ tone: "wait", text: t("nothing") });
    if (leftOut > 0) showToast({ tone: "wait", text: t("leftOut", { count: leftOut }) });
    if (unreadable > 0) showToast({ tone: "bad", text: t("unreadable", { count: unreadable }) });
    if (isCut) showToast({ tone: "bad", text: t("cut", { count: files.length }) });
  }
  return { uploads, addTo: addFiles };
}
