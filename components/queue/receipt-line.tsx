"use client";

import { X } from "lucide-react";
import { useTranslations } from "next-intl";
import { FailureMessage } from "@/components/frame/failure-message";
import { ToneIcon } from "@/components/ui/tone-icon";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type Receipt, receiptKey } from "./receipt";

type ReceiptLineProps = { answer: { receipt: Receipt; failure?: ApiFailure }; onDismiss: () => void };

/** The truth after the act: it stays until it is dismissed or the next act begins. */
export function ReceiptLine({ answer: { receipt, failure }, onDismiss }: ReceiptLineProps) {
  const t = useTranslations("queue");
  const hasWords = receipt.cancelled + receipt.tooLate > 0;
  return (
    <div className="flex flex-col gap-2 px-4 pt-3 md:px-5">
      {hasWords ? (
        <div role="status" className="flex items-center gap-2 rounded-lg border border-line bg-surface px-3 py-2">
          <ToneIcon tone={receipt.cancelled > 0 ? "ok" : "off"} />
          <span className="flex-1">{t(`receipt.${receiptKey(receipt)}`, receipt)}</span>
          <button type="button" aria-label={t("dismiss")} onClick={onDismiss} className="rounded-sm p-0.5 text-ink-3 hover:text-ink">
            <X aria-hidden="true" className="size-3.5" />
          </button>
        </div>
      ) : null}
      {failure ? <FailureMessage failure={failure} /> : null}
    </div>
  );
}
