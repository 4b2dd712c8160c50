import { useTranslations } from "next-intl";
import { BulkLines } from "@/components/data-table/bulk/bulk-lines";
import { useFeature } from "@/components/frame/connection/connection-context";
import { failureText } from "@/components/frame/failure/failure-text";
import { Button } from "@/components/ui/controls/button";
import { assetLink } from "../asset-urls";
import { type AssetRights } from "../use-asset-rights";
import { reverseOf } from "./asset-acts";
import { isWorthAgain, toneOf } from "./outcome-looks";
import { type useAssetBulk } from "./use-asset-bulk";
import { useAssetSummary } from "./use-asset-summary";

type AssetLinesProps = {
  bulk: ReturnType<typeof useAssetBulk>;
  /** The connection that links name. */
  connection: string | undefined;
  rights: AssetRights;
};

/** A line for each act on assets, with the outcome of every asset. */
export function AssetLines({ bulk, connection, rights }: AssetLinesProps) {
  const t = useTranslations("assets.bulk");
  const removesFiles = useFeature("fileRemoval");
  const common = useTranslations("common");
  const errors = useTranslations("errors");
  const summaryOf = useAssetSummary();
  return (
    <BulkLines
      words="assets.bulk"
      acts={bulk}
      undoableText={({ items }) => {
        const fixed = items.filter(({ immutable }) => immutable).length;
        const undoable = t("undoable", { count: items.length - fixed });
        return [undoable, !removesFiles && t("ask.onDisk"), fixed > 0 && t("ask.fixed", { count: fixed })].filter(Boolean).join(" ");
      }}
      workingText={({ act, done, items }) => t(`working.${act.kind}`, { done, total: items.length })}
      summaryOf={summaryOf}
      failureText={(failure) => failureText(errors, failure)}
      isWorthAgain={isWorthAgain}
      actions={({ act, entries }, dismiss) => {
        const reverse = reverseOf(act, entries);
        if (!reverse || (reverse.act.kind === "removeTags" && !rights.can("tags.remove"))) return null;
        return (
          <Button
            size="small"
            onClick={() => {
              dismiss();
              void bulk.run(reverse);
            }}
          >
            {common("undo")}
          </Button>
        );
      }}
      entryLook={{
        toneOf: ({ outcome }) => toneOf(outcome),
        // Includes the tags that were really added or removed.
        textOf: ({ outcome, changed, before, failure }) =>
          [
            t(`outcome.${outcome}`, { tags: changed?.join(", ") ?? "" }),
            (outcome === "tagged" || outcome === "untagged") &&
              before?.length &&
              `· ${t(`outcome.beside.${outcome}`, { tags: before.join(", ") })}`,
            failure && outcome !== "unable" && failureText(errors, failure),
          ]
            .filter(Boolean)
            .join(" "),
        nameOf: ({ name }) => name,
      }}
      copies={(items) => [
        { label: t("copyIds"), text: () => items.map(({ id }) => id).join("\n") },
        { label: t("copyLinks"), text: () => items.map(({ id }) => assetLink(id, connection)).join("\n") },
      ]}
    />
  );
}
