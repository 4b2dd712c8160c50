"use client";

import { useTranslations } from "next-intl";
import { ReceiptDialog } from "@/components/data-table/receipt-dialog";
import { useClock } from "@/components/ui/use-clock";
import { failureText } from "@/components/frame/failure-text";
import { type ReceiptEntry, toneOf } from "./receipt-entry";

type JobReceiptProps = { isOpen: boolean; entries: readonly ReceiptEntry[]; onClose: () => void };

/** Job by job what happened, to read and to keep. */
export function JobReceipt({ isOpen, entries, onClose }: JobReceiptProps) {
  const t = useTranslations("acts.receipt");
  const outcomes = useTranslations("acts.outcome");
  const errors = useTranslations("errors");
  const clock = useClock();
  return (
    <ReceiptDialog
      isOpen={isOpen}
      entries={entries}
      words={{
        title: t("title", { count: entries.length }),
        copy: t("copy"),
        close: t("close"),
        table: t("table"),
        thing: t("job"),
        happened: t("happened"),
        more: (count) => t("more", { count }),
      }}
      toneOf={({ outcome }) => toneOf(outcome)}
      textOf={({ outcome, newId, failure }) =>
        [outcomes(outcome), newId && outcomes("as", { id: newId }), failure && failureText(errors, failure)].filter(Boolean).join(" ")
      }
      nameOf={({ workflow, label, createdMs }) =>
        [workflow, label, createdMs !== undefined && clock(createdMs, "until")].filter(Boolean).join(" · ")
      }
      onClose={onClose}
    />
  );
}
