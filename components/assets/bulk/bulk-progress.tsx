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
import { assetLink } from "../asset-urls";
import { type AssetRights } from "../use-asset-rights";
import { AssetReceipt } from "./asset-receipt";
import { outcomes } from "./asset-acts";
import { toneOf } from "./outcome-looks";
import { type useAssetBulk } from "./use-asset-bulk";

type BulkProgressProps = {
  bulk: ReturnType<typeof useAssetBulk>;
  /** What links name. */
  connection: string | undefined;
  rights: AssetRights;
  /** The person has read what was done. */
  onDismiss: () => void;
};

/** Where the bar of the selection was: how far it is, what became of it. */
export function BulkProgress({ bulk, connection, rights, onDismiss }: BulkProgressProps) {
  const t = useTranslations("assets.bulk");
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
    const fixed = held.filter(({ immutable }) => immutable).length;
    const text = t("held", { count: held.length - fixed }) + (fixed > 0 ? ` ${t("ask.fixed", { count: fixed })}` : "");
    return (
      <WorkLine label={t("label")} tone="wait" text={text}>
        <Button size="small" onClick={bulk.undo}>
          {common("undo")}
        </Button>
      </WorkLine>
    );
  }
  if (phase.kind === "walking" || phase.kind === "working") {
    const isWorking = phase.kind === "working";
    const text = isWorking
      ? t(`working.${phase.act.kind}`, { done: phase.done, total: phase.total })
      : t("walking", { found: phase.found });
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
    const canUndo = phase.undo && (phase.undo.act.kind === "addTags" || rights.can("tags.remove"));
    return (
      <>
        <WorkLine label={t("label")} tone={first ? toneOf(first.outcome) : "off"} text={text} onDismiss={close}>
          {canUndo ? (
            <Button size="small" onClick={bulk.undo}>
              {common("undo")}
            </Button>
          ) : null}
          <Button size="small" onClick={() => setReading(true)}>
            {t("receipt.open")}
          </Button>
        </WorkLine>
        <AssetReceipt isOpen={isReading} entries={phase.entries} onClose={() => setReading(false)} />
      </>
    );
  }
  if (phase.kind === "collected") {
    const ids = phase.assets.map(({ id }) => id);
    return (
      <WorkLine
        label={t("label")}
        tone="ok"
        text={t("collected", { count: ids.length }) + (phase.isCut ? ` · ${t("cut")}` : "")}
        onDismiss={bulk.dismiss}
      >
        <CopyButton text={ids.join("\n")} label={t("copyIds")} className="size-6 text-inherit" />
        <CopyButton text={ids.map((id) => assetLink(id, connection)).join("\n")} label={t("copyLinks")} className="size-6 text-inherit" />
      </WorkLine>
    );
  }
  if (phase.kind !== "broken") return null;
  return <WorkLine label={t("label")} tone="bad" text={failureText(errors, phase.failure)} onDismiss={bulk.dismiss} />;
}
