"use client";

import { X } from "lucide-react";
import { useTranslations } from "next-intl";
import { ToneIcon } from "@/components/ui/tone-icon";
import { type Receipt, receiptKey } from "./receipt";

/** The truth after the act, in the tool bar, where it moves nothing. It stays until it is dismissed or the next act begins. */
export function ReceiptLine({ receipt, onDismiss }: { receipt: Receipt; onDismiss: () => void }) {
  const t = useTranslations("queue");
  if (receipt.cancelled + receipt.tooLate === 0) return null;
  return (
    <div role="status" className="ml-auto flex shrink-0 items-center gap-1.5 rounded-md bg-off-soft py-0.5 pr-1 pl-2">
      <ToneIcon tone={receipt.cancelled > 0 ? "ok" : "off"} />
      <span>{t(`receipt.${receiptKey(receipt)}`, receipt)}</span>
      <button
        type="button"
        aria-label={t("dismiss")}
        onClick={onDismiss}
        className="grid size-6 place-items-center rounded-sm text-ink-2 hover:text-ink"
      >
        <X aria-hidden="true" className="size-3.5" />
      </button>
    </div>
  );
}
