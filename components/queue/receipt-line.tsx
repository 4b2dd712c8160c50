"use client";

import { X } from "lucide-react";
import { useTranslations } from "next-intl";
import { ToneIcon } from "@/components/ui/tone-icon";
import { type Receipt, receiptKey } from "./receipt";

type ReceiptLineProps = {
  receipt: Receipt;
  /** How many of those that were meant still wait: all that is known where the service named none. */
  waiting: number;
  onDismiss: () => void;
};

/** The truth after the act, in the tool bar, where it moves nothing. It stays until it is dismissed or the next act begins. */
export function ReceiptLine({ receipt, waiting, onDismiss }: ReceiptLineProps) {
  const t = useTranslations("queue");
  const { cancelled, tooLate, asked } = { cancelled: 0, tooLate: 0, asked: 0, ...receipt };
  return (
    <div role="status" className="ml-auto flex shrink-0 items-center gap-1.5 rounded-md bg-off-soft py-0.5 pr-1 pl-2">
      <ToneIcon tone={cancelled > 0 ? "ok" : "off"} />
      <span>{t(`receipt.${receiptKey(receipt, waiting)}`, { cancelled, tooLate, asked, waiting })}</span>
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
