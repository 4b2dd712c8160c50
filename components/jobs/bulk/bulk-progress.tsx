"use client";

import { useTranslations } from "next-intl";
import { useEffect, useState } from "react";
import { WorkLine } from "@/components/data-table/work-line";
import { failureText } from "@/components/frame/failure-text";
import { Button } from "@/components/ui/button";
import { CopyButton } from "@/components/ui/copy-button";
import { ProgressBar } from "@/components/ui/progress-bar";
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
      <WorkLine label={t("label")} tone="wait" text={t(`held.${held.act === "remove" ? "remove" : "cancel"}`, { count: held.jobs.length })}>
        <Button size="small" onClick={bulk.undo}>
          {common("undo")}
        </Button>
      </WorkLine>
    );
  }
  if (phase.kind === "walking" || phase.kind === "working") {
    const isWorking = phase.kind === "working";
    const text = isWorking ? t(`working.${phase.act}`, { done: phase.done, total: phase.total }) : t("walking", { found: phase.found });
    const wait = phase.waitMs === undefined ? "" : ` · ${t("waiting", { seconds: Math.ceil(phase.waitMs / 1000) })}`;
    const isStopping = isWorking && phase.isStopping === true;
    return (
      <WorkLine label={t("label")} tone="run" text={text + wait}>
        {isWorking ? <ProgressBar value={phase.total === 0 ? 1 : phase.done / phase.total} label={t("progress")} /> : null}
        <Button size="small" busy={isStopping} onClick={bulk.stop}>
          {t(isStopping ? "stopping" : "stop")}
        </Button>
      </WorkLine>
    );
  }
  if (phase.kind === "done") {
    const counts = countOutcomes(phase.entries);
    const first = counts[0];
    const text = counts.map((each) => t(`count.${each.outcome}`, each)).join(", ") + (phase.isCut ? ` · ${t("cut")}` : "");
    return (
      <>
        <WorkLine label={t("label")} tone={first ? toneOf(first.outcome) : "off"} text={text} onDismiss={close}>
          <Button size="small" onClick={() => setReading(true)}>
            {t("receipt.open")}
          </Button>
        </WorkLine>
        <BulkReceipt isOpen={isReading} entries={phase.entries} onClose={() => setReading(false)} />
      </>
    );
  }
  if (phase.kind === "collected") {
    return (
      <WorkLine
        label={t("label")}
        tone="ok"
        text={t("collected", { count: phase.ids.length }) + (phase.isCut ? ` · ${t("cut")}` : "")}
        onDismiss={bulk.dismiss}
      >
        <CopyButton text={phase.ids.join("\n")} label={t("copyIds")} className="size-6 text-inherit" />
      </WorkLine>
    );
  }
  if (phase.kind === "broken")
    return <WorkLine label={t("label")} tone="bad" text={failureText(errors, phase.failure)} onDismiss={bulk.dismiss} />;
  return phase.kind === "nothing" ? <WorkLine label={t("label")} tone="off" text={t("nothing")} onDismiss={bulk.dismiss} /> : null;
}
