"use client";

import Link from "next/link";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { FailureMessage } from "@/components/frame/failure-message";
import { toSaidCode } from "@/components/frame/whose";
import { Button, buttonStyle } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { ProgressBar } from "@/components/ui/progress-bar";
import { ReceiptLine } from "@/components/ui/receipt-line";
import { ToneIcon } from "@/components/ui/tone-icon";
import { type Tone } from "@/components/ui/tone";
import { useHeld } from "@/components/ui/use-held";
import { type CopiesSet, type Copy, countsOf, isOpen } from "./copies-state";

export type CopiesWork = { stop: () => void; goOn: () => Promise<void>; cancelWaiting: () => Promise<void>; leave: () => void };
type CopiesCardProps = { set: CopiesSet; fallbackName: string; canRun: boolean; work: CopiesWork };

const SHOWN_AT_FIRST = 20;

/** The copies of a run: how far they are, what became of each, and what can still be done. */
export function CopiesCard({ set, fallbackName, canRun, work }: CopiesCardProps) {
  const t = useTranslations("run.copies");
  const { held, hold, undo } = useHeld<"cancel">(() => void work.cancelWaiting());
  const total = set.copies.length;
  const counts = countsOf(set);
  const through = total - counts.left;
  const isSending = set.ending === undefined;
  const isFresh = !isSending && counts.accepted > 0;
  return (
    <Card
      title={t("card", { count: total, name: set.name || fallbackName })}
      actions={
        isSending ? (
          <Button size="small" busy={set.isStopping} onClick={work.stop}>
            {t(set.isStopping ? "stopping" : "stop")}
          </Button>
        ) : (
          <Button size="small" tone="quiet" onClick={work.leave}>
            {t("dismiss")}
          </Button>
        )
      }
      bodyClassName="flex flex-col gap-2.5"
    >
      <div role="status" className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <ProgressBar value={total === 0 ? 1 : through / total} label={t("progress")} className="w-[160px]" />
        <span>{isSending ? t("sent", { through, total }) : <Summary counts={counts} />}</span>
        {set.waitMs === undefined ? null : <span className="text-wait">{t("waiting", { seconds: Math.ceil(set.waitMs / 1000) })}</span>}
      </div>
      <EndingNote set={set} />
      {set.cancelFailure ? <FailureMessage failure={set.cancelFailure} /> : null}
      {held ? (
        <ReceiptLine tone="wait" text={t("held", { count: counts.accepted })}>
          <Button size="small" onClick={undo}>
            {t("undo")}
          </Button>
        </ReceiptLine>
      ) : null}
      {isSending || !canRun ? null : (
        <span className="flex flex-wrap gap-2">
          {set.canGoOn && set.copies.some(isOpen) ? (
            <Button onClick={() => void work.goOn()}>{t("goOn", { count: set.copies.filter(isOpen).length })}</Button>
          ) : null}
          {isFresh && !held ? (
            <Button tone="danger" busy={set.isCancelling} onClick={() => hold("cancel")}>
              {t("cancelWaiting")}
            </Button>
          ) : null}
          <Link href="/jobs" className={buttonStyle({ tone: "quiet" })}>
            {t("allJobs")}
          </Link>
        </span>
      )}
      <CopyList copies={set.copies} />
    </Card>
  );
}

function Summary({ counts }: { counts: ReturnType<typeof countsOf> }) {
  const t = useTranslations("run.copies.tally");
  const words = (["accepted", "cancelled", "tooLate", "asked", "unknown", "refused", "left"] as const).filter((kind) => counts[kind] > 0);
  return words.map((kind) => t(kind, { count: counts[kind] })).join(" · ");
}

function EndingNote({ set: { ending } }: { set: CopiesSet }) {
  const t = useTranslations("run.copies.ending");
  if (!ending || ending.kind === "done" || ending.kind === "stopped") return null;
  if (ending.kind === "left") return <p className="text-ink-2">{t("left")}</p>;
  return (
    <div className="flex flex-col gap-1">
      <p className="text-ink-2">{t(ending.kind)}</p>
      {ending.failure ? <FailureMessage failure={ending.failure} /> : null}
    </div>
  );
}

function CopyList({ copies }: { copies: readonly Copy[] }) {
  const t = useTranslations("run.copies");
  const [isAll, setAll] = useState(false);
  const shown = isAll ? copies : copies.slice(0, SHOWN_AT_FIRST);
  return (
    <>
      <ul aria-label={t("list")} className="max-h-80 divide-y divide-line overflow-y-auto">
        {shown.map((copy) => (
          <CopyLine key={copy.key} copy={copy} />
        ))}
      </ul>
      {copies.length > shown.length ? (
        <Button size="small" className="self-start" onClick={() => setAll(true)}>
          {t("showAll", { count: copies.length })}
        </Button>
      ) : null}
    </>
  );
}

const tones: Record<"accepted" | "unknown" | "refused" | "invalid" | "lost", Tone> = {
  accepted: "ok",
  unknown: "unknown",
  refused: "bad",
  invalid: "bad",
  lost: "off",
};

const inks: Record<Tone, string> = {
  ok: "text-ok",
  run: "text-run",
  wait: "text-wait",
  bad: "text-bad",
  off: "text-off",
  unknown: "text-ink-2",
};

function CopyLine({ copy: { label, isBegun, outcome } }: { copy: Copy }) {
  const t = useTranslations("run.copies");
  const errors = useTranslations("errors");
  const isCancelled = outcome?.kind === "accepted" && outcome.cancel === "cancelled";
  const tone = !outcome ? (isBegun ? "run" : "off") : isCancelled ? "off" : tones[outcome.kind];
  const word = !outcome
    ? t(isBegun ? "line.sending" : "line.left")
    : outcome.kind !== "accepted"
      ? t(`line.${outcome.kind}`)
      : outcome.cancel
        ? t(`line.${outcome.cancel}`)
        : outcome.nodesRefused > 0
          ? t("line.partial", { count: outcome.nodesRefused })
          : t("line.accepted");
  const said =
    outcome && outcome.kind !== "accepted" ? outcome.failure.message || errors(`${toSaidCode(outcome.failure.code)}.title`) : undefined;
  return (
    <li className="flex min-h-8 items-center gap-2.5 py-1 [content-visibility:auto]">
      <span className={inks[tone]}>
        <ToneIcon tone={tone} />
      </span>
      <span title={label} className="min-w-0 flex-1 truncate tabular-nums">
        {label}
      </span>
      {said ? (
        <span title={said} className="max-w-[40%] min-w-0 truncate text-sm text-ink-3 max-sm:hidden">
          {said}
        </span>
      ) : null}
      <span className="shrink-0 text-sm text-ink-2">{word}</span>
      {outcome?.kind === "accepted" ? (
        <Link
          href={`/jobs/${encodeURIComponent(outcome.jobId)}`}
          prefetch={false}
          title={outcome.jobId}
          className="shrink-0 font-mono text-sm text-accent underline-offset-2 hover:underline"
        >
          {outcome.jobId.slice(0, 8)}
        </Link>
      ) : null}
    </li>
  );
}
