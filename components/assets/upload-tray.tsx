"use client";

import { X } from "lucide-react";
import { useLocale, useTranslations } from "next-intl";
import { failureText } from "@/components/frame/failure-text";
import { Button } from "@/components/ui/button";
import { ProgressBar } from "@/components/ui/progress-bar";
import { ToneIcon } from "@/components/ui/tone-icon";
import { formatBytes } from "@/lib/shared/format";
import { type UploadItem } from "./upload-state";
import { type UploadStore } from "./upload-store";

type UploadTrayProps = { items: readonly UploadItem[]; store: UploadStore };

/** Every file that was chosen, what became of it, and the one thing to do where it failed. */
export function UploadTray({ items, store }: UploadTrayProps) {
  const t = useTranslations("assets.upload");
  if (items.length === 0) return null;
  const done = items.filter(({ status }) => status.kind === "done").length;
  const isResting = items.every(({ status }) => status.kind === "done" || status.kind === "failed");
  return (
    <section aria-label={t("label")} className="mx-4 mt-4 rounded-lg border border-line bg-surface md:mx-5">
      <div className="flex min-h-[38px] items-center gap-2 border-b border-line px-3.5 py-1.5">
        <h2 className="font-semibold">{t("label")}</h2>
        <span role="status" className="text-ink-3">
          {t("progress", { done, total: items.length })}
        </span>
        {isResting ? (
          <Button tone="quiet" size="small" className="ml-auto" onClick={store.clear}>
            {t("clear")}
          </Button>
        ) : null}
      </div>
      <ul className="max-h-60 overflow-y-auto px-3.5 py-1">
        {items.map((item) => (
          <UploadRow key={item.key} item={item} store={store} />
        ))}
      </ul>
    </section>
  );
}

function UploadRow({ item: { key, file, status }, store }: { item: UploadItem; store: UploadStore }) {
  const locale = useLocale();
  const t = useTranslations("assets.upload");
  const errors = useTranslations("errors");
  const isRunning = status.kind === "waiting" || status.kind === "sending";
  return (
    <li className="flex min-h-8 flex-wrap items-center gap-x-2.5 py-0.5">
      <span title={file.name} className="min-w-0 flex-1 truncate">
        {file.name}
      </span>
      {status.kind === "waiting" ? <span className="text-ink-3">{t("waiting")}</span> : null}
      {status.kind === "sending" ? <ProgressBar value={status.share} label={t("sending", { name: file.name })} /> : null}
      {status.kind === "done" ? (
        <span className="inline-flex items-center gap-1.5 text-ok">
          <ToneIcon tone="ok" />
          {t(status.isNew ? "done" : "known")}
        </span>
      ) : null}
      {status.kind === "failed" ? (
        <Button size="small" onClick={() => store.again(key)}>
          {t("again")}
        </Button>
      ) : null}
      <span className="w-16 text-right text-sm text-ink-3">{formatBytes(file.size, locale)}</span>
      <Button
        tone="quiet"
        size="icon"
        className="size-6"
        aria-label={t(isRunning ? "stop" : "dismiss", { name: file.name })}
        onClick={() => store.remove(key)}
      >
        <X aria-hidden="true" className="size-3.5" />
      </Button>
      {status.kind === "failed" ? (
        <p role="alert" className="basis-full pb-1 text-bad">
          {failureText(errors, status.failure)}
        </p>
      ) : null}
    </li>
  );
}
