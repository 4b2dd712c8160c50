"use client";

import { X } from "lucide-react";
import { useTranslations } from "next-intl";
import { useSyncExternalStore } from "react";
import { failureText } from "@/components/frame/failure-text";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { ProgressBar } from "@/components/ui/progress-bar";
import { useCloseWarning } from "@/components/ui/use-close-warning";
import { ToneIcon } from "@/components/ui/tone-icon";
import { type Tone } from "@/components/ui/tone";
import { type FileUpload, type FileUploads } from "./file-uploads";
import { ReplaceDialog } from "./replace-dialog";

const tones: Record<FileUpload["state"], Tone> = {
  waiting: "off",
  sending: "run",
  asked: "wait",
  stored: "ok",
  kept: "off",
  failed: "bad",
};
const ink: Record<FileUpload["state"], string> = {
  waiting: "text-off",
  sending: "text-run",
  asked: "text-wait",
  stored: "text-ok",
  kept: "text-off",
  failed: "text-bad",
};
const SHOWN = 50;
const nothing: readonly FileUpload[] = [];

/** What is on its way, below the tool bar: the newest last, those with a question or a failure first. */
export function UploadsList({ uploads }: { uploads: FileUploads }) {
  const t = useTranslations("files.upload");
  const all = useSyncExternalStore(uploads.subscribe, uploads.get, () => nothing);
  useCloseWarning(all.some(({ state }) => state === "waiting" || state === "sending" || state === "asked"));
  if (all.length === 0) return null;
  const urgent = (one: FileUpload) => (one.state === "asked" || one.state === "failed" ? 0 : one.state === "sending" ? 1 : 2);
  const shown = [...all].sort((one, other) => urgent(one) - urgent(other)).slice(0, SHOWN);
  const done = all.filter(({ state }) => state === "stored" || state === "kept").length;
  const isOver = all.every(({ state }) => state === "stored" || state === "kept" || state === "failed");
  return (
    <section aria-label={t("label")} className="border-b border-line bg-surface px-4 py-2.5 md:px-5">
      <div className="flex items-center gap-2">
        <p role="status" className="flex-1 text-ink-2">
          {t("progress", { done, count: all.length })}
        </p>
        {isOver ? (
          <Button size="small" onClick={uploads.clear}>
            {t("clear")}
          </Button>
        ) : null}
      </div>
      <ul className="mt-1.5 max-h-52 overflow-y-auto">
        {shown.map((upload) => (
          <UploadLine key={upload.key} upload={upload} uploads={uploads} />
        ))}
      </ul>
      {all.length > SHOWN ? <p className="text-sm text-ink-3">{t("more", { count: all.length - SHOWN })}</p> : null}
      <ReplaceDialog asked={all.filter(({ state }) => state === "asked")} uploads={uploads} />
    </section>
  );
}

function UploadLine({ upload, uploads }: { upload: FileUpload; uploads: FileUploads }) {
  const t = useTranslations("files.upload");
  const errors = useTranslations("errors");
  const { key, path, state, failure } = upload;
  const share = state === "sending" ? upload.share : undefined;
  return (
    <li className="flex min-h-7 items-center gap-2">
      <span className={ink[state]}>
        <ToneIcon tone={tones[state]} />
      </span>
      <span title={path} className="min-w-0 flex-1 truncate font-mono text-sm">
        {path}
      </span>
      {share === undefined ? null : <ProgressBar value={share} label={t("share", { path })} className="max-sm:hidden" />}
      <span className={cn("tabular-nums", state === "failed" ? "text-bad" : "text-ink-3")}>
        {failure ? failureText(errors, failure) : share === undefined ? t(`state.${state}`) : t("sending", { share })}
      </span>
      {state === "failed" ? (
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
