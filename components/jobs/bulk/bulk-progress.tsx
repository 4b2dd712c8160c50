"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { countOutcomes } from "@/components/data-table/count-outcomes";
import { MovingLine } from "@/components/data-table/moving-line";
import { useKeepFromEscape } from "@/components/data-table/use-keep-from-escape";
import { WorkLine } from "@/components/data-table/work-line";
import { failureText } from "@/components/frame/failure-text";
import { Button } from "@/components/ui/button";
import { CopyButton } from "@/components/ui/copy-button";
import { BulkReceipt } from "./bulk-receipt";
import { outcomes, toneOf } from "./receipt-entry";
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
  useKeepFromEscape(isMoving);
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
    return (
      <MovingLine
        label={t("label")}
        text={text}
        share={isWorking ? (phase.total === 0 ? 1 : phase.done / phase.total) : undefined}
        waitMs={phase.waitMs}
        isStopping={isWorking && phase.isStopping === true}
        onStop={bulk.stop}
        words={{
          progress: t("progress"),
          stop: t("stop"),
          stopping: t("stopping"),
          waiting: (seconds) => t("waiting", { seconds }),
        }}
      />
    );
  }
  if (phase.kind === "done") {
    const counts = countOutcomes(outcomes, phase.entries);
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
