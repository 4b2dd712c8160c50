"use client";

import Link from "next/link";
import { useTranslations } from "next-intl";
import { buttonStyle } from "@/components/ui/button";
import { RelativeTime } from "@/components/ui/relative-time";
import { ToneIcon } from "@/components/ui/tone-icon";
import { type Receipt } from "./run-state";

const SHORT_ID = 8;

/** The newest job that this page started. The region stands from the start, so that a screen reader hears it fill. */
export function NewestReceipt({ receipt, fallbackName }: { receipt?: Receipt; fallbackName: string }) {
  const t = useTranslations("run.answer");
  return (
    <div role="status" className="empty:-mb-3.5">
      {receipt ? (
        <div
          className="flex flex-wrap items-center gap-x-2.5 gap-y-2 rounded-lg border border-ok bg-ok-soft px-3.5 py-2.5"
          data-job={receipt.jobId}
        >
          <span className="text-ok">
            <ToneIcon tone="ok" />
          </span>
          <div className="min-w-0 flex-1 basis-64">
            <p className="font-semibold">{t("accepted")}</p>
            <p className="text-ink-2">
              {t("acceptedText", { name: receipt.name || fallbackName, id: receipt.jobId.slice(0, SHORT_ID) })}
              {receipt.nodesRefused > 0 ? ` ${t("partial", { count: receipt.nodesRefused })}` : null}
            </p>
          </div>
          <Link href="/jobs" className={buttonStyle({ tone: "quiet" })}>
            {t("allJobs")}
          </Link>
          <Link href={`/jobs/${encodeURIComponent(receipt.jobId)}`} className={buttonStyle()}>
            {t("openJob", { id: receipt.jobId.slice(0, SHORT_ID) })}
          </Link>
        </div>
      ) : null}
    </div>
  );
}

export function EarlierReceipts({ receipts, fallbackName }: { receipts: readonly Receipt[]; fallbackName: string }) {
  return (
    <ul className="flex flex-col">
      {receipts.map(({ jobId, name, atMs }) => (
        <li key={jobId} className="flex items-center gap-2 py-1">
          <Link
            href={`/jobs/${encodeURIComponent(jobId)}`}
            title={jobId}
            className="font-mono text-sm text-accent underline-offset-2 hover:underline"
          >
            {jobId.slice(0, SHORT_ID)}
          </Link>
          <span className="min-w-0 flex-1 truncate">{name || fallbackName}</span>
          <RelativeTime ms={atMs} className="text-sm whitespace-nowrap text-ink-3" />
        </li>
      ))}
    </ul>
  );
}
