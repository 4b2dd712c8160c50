"use client";

import { useTranslations } from "next-intl";
import { BulkProgress } from "@/components/data-table/bulk-progress";
import { failureText } from "@/components/frame/failure-text";
import { Button } from "@/components/ui/button";
import { assetLink } from "../asset-urls";
import { type AssetRights } from "../use-asset-rights";
import { AssetReceipt } from "./asset-receipt";
import { isWorthAgain } from "./outcome-looks";
import { type useAssetBulk } from "./use-asset-bulk";
import { useTold } from "./use-told";

type AssetProgressProps = {
  bulk: ReturnType<typeof useAssetBulk>;
  /** What links name. */
  connection: string | undefined;
  rights: AssetRights;
  onDismiss: () => void;
};

export function AssetProgress({ bulk, connection, rights, onDismiss }: AssetProgressProps) {
  const t = useTranslations("assets.bulk");
  const common = useTranslations("common");
  const errors = useTranslations("errors");
  const told = useTold();
  const { held, reverse } = bulk;
  const fixed = held?.items.filter(({ immutable }) => immutable).length ?? 0;
  const heldText = held && t("held", { count: held.items.length - fixed }) + (fixed > 0 ? ` ${t("ask.fixed", { count: fixed })}` : "");
  const canReverse = reverse && (reverse.act.kind === "addTags" || rights.can("tags.remove"));
  return (
    <BulkProgress
      words="assets.bulk"
      work={bulk}
      heldText={heldText}
      workingText={({ act, done, total }) => t(`working.${act.kind}`, { done, total })}
      told={told}
      failureText={(failure) => failureText(errors, failure)}
      isWorthAgain={isWorthAgain}
      actions={() =>
        canReverse ? (
          <Button size="small" onClick={() => void bulk.run(reverse)}>
            {common("undo")}
          </Button>
        ) : null
      }
      receipt={(props) => <AssetReceipt {...props} />}
      copies={(items) => [
        { label: t("copyIds"), text: () => items.map(({ id }) => id).join("\n") },
        { label: t("copyLinks"), text: () => items.map(({ id }) => assetLink(id, connection)).join("\n") },
      ]}
      onDismiss={onDismiss}
    />
  );
}
