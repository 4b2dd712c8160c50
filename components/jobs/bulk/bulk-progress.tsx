"use client";

import { useTranslations } from "next-intl";
import { BulkProgress } from "@/components/data-table/bulk-progress";
import { WorkLine } from "@/components/data-table/work-line";
import { failureText } from "@/components/frame/failure-text";
import { BulkReceipt } from "./bulk-receipt";
import { isWorthAgain } from "./receipt-entry";
import { type useBulk } from "./use-bulk";
import { useTold } from "./use-told";

export function JobsProgress({ bulk, onDismiss }: { bulk: ReturnType<typeof useBulk>; onDismiss: () => void }) {
  const t = useTranslations("jobs.bulk");
  const errors = useTranslations("errors");
  const told = useTold();
  const { held } = bulk;
  if (bulk.isNothing) return <WorkLine label={t("label")} tone="off" text={t("nothing")} onDismiss={bulk.dismiss} />;
  return (
    <BulkProgress
      words="jobs.bulk"
      work={bulk}
      heldText={held && t(`held.${held.act === "remove" ? "remove" : "cancel"}`, { count: held.items.length })}
      workingText={({ act, done, total }) => t(`working.${act}`, { done, total })}
      told={told}
      failureText={(failure) => failureText(errors, failure)}
      isWorthAgain={isWorthAgain}
      receipt={(props) => <BulkReceipt {...props} />}
      copies={(jobs) => [{ label: t("copyIds"), text: () => jobs.map(({ id }) => id).join("\n") }]}
      onDismiss={onDismiss}
    />
  );
}
