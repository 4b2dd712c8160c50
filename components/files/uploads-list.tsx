import { X } from "lucide-react";
import { useTranslations } from "next-intl";
import { useState, useSyncExternalStore } from "react";
import { failureText } from "@/components/frame/failure/fault-owner";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { CheckField } from "@/components/ui/controls/fields";
import { ConfirmDialog } from "@/components/ui/dialog";
import { useCloseWarning } from "@/components/ui/hooks/use-close-warning";
import { ProgressBar } from "@/components/ui/skeleton";
import { type Tone, ToneIcon, toneInk } from "@/components/ui/status-badge";
import { FileName } from "@/components/ui/truncated";
import { type ConflictChoice, type FileUpload, type FileUploads, isUnderWay, needsRetry } from "./file-uploads";

const tones: Record<FileUpload["state"], Tone> = {
  waiting: "off",
  sending: "run",
  conflict: "wait",
  stored: "ok",
  skipped: "off",
  failed: "bad",
  stopped: "off",
};
const MAX_SHOWN = 50;
const noUploads: readonly FileUpload[] = [];

function getUrgency(fileUpload: FileUpload): number {
  if (fileUpload.state === "conflict" || needsRetry(fileUpload)) return 0;
  return isUnderWay(fileUpload) ? (fileUpload.state === "sending" ? 1 : 2) : 3;
}

/** The uploads: conflicts and failures first, newest last. */
export function UploadsList({ uploads }: { uploads: FileUploads }) {
  const t = useTranslations("files.upload");
  const all = useSyncExternalStore(uploads.subscribe, uploads.get, () => noUploads);
  const areAllDone = !all.some(isUnderWay);
  useCloseWarning(!areAllDone);
  if (all.length === 0) return null;
  const fileUploads = [...all].sort((fileUpload, other) => getUrgency(fileUpload) - getUrgency(other)).slice(0, MAX_SHOWN);
  const doneCount = all.filter(({ state }) => state === "stored" || state === "skipped").length;
  const retryCount = all.filter(needsRetry).length;
  return (
    <section aria-label={t("label")} className="border-b border-line bg-surface px-4 py-2.5 md:px-5">
      <div className="flex items-center gap-2">
        <p role="status" className="flex-1 text-ink-2">
          {t("progress", { done: doneCount, count: all.length })}
        </p>
        {areAllDone && retryCount > 1 ? (
          <Button size="small" onClick={uploads.allAgain}>
            {t("allAgain", { count: retryCount })}
          </Button>
        ) : null}
        <Button size="small" onClick={areAllDone ? uploads.clear : uploads.stopAll}>
          {t(areAllDone ? "clear" : "stop")}
        </Button>
      </div>
      <ul tabIndex={0} aria-label={t("label")} className="mt-1.5 max-h-52 overflow-y-auto">
        {fileUploads.map((upload) => (
          <UploadLine key={upload.key} upload={upload} uploads={uploads} />
        ))}
      </ul>
      {all.length > MAX_SHOWN ? <p className="text-sm text-ink-3">{t("more", { count: all.length - MAX_SHOWN })}</p> : null}
      <ReplaceDialog all={all} uploads={uploads} />
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
      <span className={toneInk[tones[state]]}>
        <ToneIcon tone={tones[state]} />
      </span>
      <span className={cn("flex min-w-0 flex-1 items-center gap-2", failure && "max-lg:flex-col max-lg:items-start max-lg:gap-0")}>
        <span title={path} className={cn("min-w-0 flex-1 truncate font-mono text-sm", failure && "max-lg:max-w-full max-lg:flex-none")}>
          <FileName name={path} />
        </span>
        {share === undefined ? null : <ProgressBar value={share} label={t("share", { path })} className="max-sm:hidden" />}
        <span className={cn("tabular-nums", state === "failed" ? "text-bad" : "text-ink-3")}>
          {failure ? failureText(errors, failure) : share === undefined ? t(`state.${state}`) : t("sending", { share })}
        </span>
      </span>
      {needsRetry(upload) ? (
        <Button size="small" onClick={() => uploads.again(key)}>
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

/** Asks for one file at a time; a choice can apply to the whole batch. Closing postpones the open batches. */
function ReplaceDialog({ all, uploads }: { all: readonly FileUpload[]; uploads: FileUploads }) {
  const t = useTranslations("files.replace");
  const [isForAll, setForAll] = useState(false);
  // Batches postponed by the user, whose other conflicts would reopen the dialog.
  const [postponedBatches, setPostponedBatches] = useState<ReadonlySet<number>>(new Set());
  const conflicts = all.filter(({ state }) => state === "conflict");
  const openConflicts = conflicts.filter(({ batch }) => !postponedBatches.has(batch));
  // The dialog keeps its file even if another conflict appears.
  const [key, setKey] = useState<number>();
  const file = openConflicts.find((fileUpload) => fileUpload.key === key) ?? openConflicts[0];
  if (file?.key !== key) {
    setKey(file?.key);
    setForAll(false);
  }
  const otherUploads = all.filter(
    (fileUpload) => fileUpload.batch === file?.batch && fileUpload.key !== file.key && isUnderWay(fileUpload),
  );
  function resolve(text: ConflictChoice) {
    if (file) uploads.resolveConflict(file.key, text, isForAll);
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
          // Without a file, the dialog closed because no conflict was left.
          if (file) setPostponedBatches((current) => new Set([...current, ...openConflicts.map(({ batch }) => batch)]));
        }}
        title={t("title", { path: file?.path ?? "" })}
        keep={t("keep")}
        onKeep={() => resolve("keep")}
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
