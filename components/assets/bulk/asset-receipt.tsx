"use client";

import { useTranslations } from "next-intl";
import { ReceiptDialog } from "@/components/data-table/receipt-dialog";
import { failureText } from "@/components/frame/failure-text";
import { type Entry } from "./asset-acts";
import { toneOf } from "./outcome-looks";

type AssetReceiptProps = { isOpen: boolean; entries: readonly Entry[]; onClose: () => void };

/** Asset by asset what happened, with the tags that really came or went. */
export function AssetReceipt({ isOpen, entries, onClose }: AssetReceiptProps) {
  const t = useTranslations("assets.bulk.receipt");
  const outcomes = useTranslations("assets.bulk.outcome");
  const errors = useTranslations("errors");
  return (
    <ReceiptDialog
      isOpen={isOpen}
      entries={entries}
      words={{
        title: t("title", { count: entries.length }),
        copy: t("copy"),
        close: t("close"),
        table: t("table"),
        thing: t("asset"),
        happened: t("happened"),
        more: (count) => t("more", { count }),
      }}
      toneOf={({ outcome }) => toneOf(outcome)}
      textOf={({ outcome, changed, before, failure }) =>
        [
          outcomes(outcome, { tags: changed?.join(", ") ?? "" }),
          (outcome === "tagged" || outcome === "untagged") &&
            before?.length &&
            `· ${outcomes(`beside.${outcome}`, { tags: before.join(", ") })}`,
          failure && outcome !== "unable" && failureText(errors, failure),
        ]
          .filter(Boolean)
          .join(" ")
      }
      nameOf={({ name }) => name ?? ""}
      onClose={onClose}
    />
  );
}
