"use client";

import { useTranslations } from "next-intl";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { failureText } from "@/components/frame/failure-text";
import { Button } from "@/components/ui/button";
import { CopyButton } from "@/components/ui/copy-button";
import { ProgressBar } from "@/components/ui/progress-bar";
import { ToneIcon } from "@/components/ui/tone-icon";
import { type Tone } from "@/components/ui/tone";
import { BulkReceipt } from "./bulk-receipt";
import { countOutcomes, toneOf } from "./receipt-entry";
import { type useBulk } from "./use-bulk";

type BulkProgressProps = {
  bulk: ReturnType<typeof useBulk>;
  /** The person has read what was done. */
  onDismiss: () => void;
};

/** Where the bar of the selection was: what is held, how far it is, what became of it. */
export function BulkProgress({ bulk, onDismiss }: BulkProgressProps) {
  const t = useTranslations("jobs.bulk");
  const common = useTranslations("common");
  const errors = useTranslations("errors");
  const [isReading, setReading] = useState(false);
  const { phase, held } = bulk;
  const isMoving = held !== undefined || phase.kind === "walking" || phase.kind === "working";
  useEffect(() => {
    if (!isMoving) return;
    // Esc lets go of the selection, and with it of this: not of what is under way.
    const keep = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !document.querySelector("dialog[open]")) event.preventDefault();
    };
    window.addEventListener("keydown", keep, true);
    return () => window.removeEventListener("keydown", keep, true);
  }, [isMoving]);
  const close = () => {
    bulk.dismiss();
    onDismiss();
  };
  if (held) {
    return (
      <Line tone="wait" text={t(`held.${held.act === "remove" ? "remove" : "cancel"}`, { count: held.jobs.length })}>
        <Button size="small" onClick={bulk.undo}>
          {common("undo")}
        </Button>
      </Line>
    );
  }
  if (phase.kind === "walking" || phase.kind === "working") {
    const isWorking = phase.kind === "working";
    const text = isWorking ? t(`working.${phase.act}`, { done: phase.done, total: phase.total }) : t("walking", { found: phase.found });
    const wait = phase.waitMs === undefined ? "" : ` · ${t("waiting", { seconds: Math.ceil(phase.waitMs / 1000) })}`;
    const isStopping = isWorking && phase.isStopping === true;
    return (
      <Line tone="run" text={text + wait}>
        {isWorking ? <ProgressBar value={phase.total === 0 ? 1 : phase.done / phase.total} label={t("progress")} /> : null}
        <Button size="small" busy={isStopping} onClick={bulk.stop}>
          {t(isStopping ? "stopping" : "stop")}
        </Button>
      </Line>
    );
  }
  if (phase.kind === "done") {
    const counts = countOutcomes(phase.entries);
    const first = counts[0];
    const text = counts.map((each) => t(`count.${each.outcome}`, each)).join(", ") + (phase.isCut ? ` · ${t("cut")}` : "");
    return (
      <>
        <Line tone={first ? toneOf(first.outcome) : "off"} text={text} onDismiss={close}>
          <Button size="small" onClick={() => setReading(true)}>
            {t("receipt.open")}
          </Button>
        </Line>
        <BulkReceipt isOpen={isReading} entries={phase.entries} onClose={() => setReading(false)} />
      </>
    );
  }
  if (phase.kind === "collected") {
    return (
      <Line tone="ok" text={t("collected", { count: phase.ids.length }) + (phase.isCut ? ` · ${t("cut")}` : "")} onDismiss={bulk.dismiss}>
        <CopyButton text={phase.ids.join("\n")} label={t("copyIds")} className="size-6 text-inherit" />
      </Line>
    );
  }
  if (phase.kind === "broken") return <Line tone="bad" text={failureText(errors, phase.failure)} onDismiss={bulk.dismiss} />;
  return phase.kind === "nothing" ? <Line tone="off" text={t("nothing")} onDismiss={bulk.dismiss} /> : null;
}

type LineProps = { tone: Tone; text: string; children?: ReactNode; onDismiss?: () => void };

function Line({ tone, text, children, onDismiss }: LineProps) {
  const t = useTranslations("jobs.bulk");
  const common = useTranslations("common");
  const line = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The button that was pressed is gone: the next key would begin at the top of the page.
    if (document.activeElement === document.body) line.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div
      ref={line}
      tabIndex={-1}
      role="region"
      aria-label={t("label")}
      className="sticky bottom-16 z-30 mx-auto mt-auto flex w-fit max-w-[calc(100%-32px)] flex-wrap items-center gap-x-3 gap-y-1.5 rounded-lg border border-line-strong bg-surface px-3.5 py-2 text-ink shadow-xl md:bottom-6"
    >
      <ToneIcon tone={tone} />
      <span role="status" className="tabular-nums">
        {text}
      </span>
      {children}
      {onDismiss ? (
        <Button tone="quiet" size="small" onClick={onDismiss}>
          {common("dismiss")}
        </Button>
      ) : null}
    </div>
  );
}
