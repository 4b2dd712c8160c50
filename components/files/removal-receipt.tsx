"use client";

import { useTranslations } from "next-intl";
import { failureText } from "@/components/frame/failure-text";
import { Button } from "@/components/ui/button";
import { ReceiptLine } from "@/components/ui/receipt-line";
import { type useFileRemoval } from "./use-file-removal";

/** First that it is held, then what became of it. */
export function RemovalReceipt({ removal }: { removal: ReturnType<typeof useFileRemoval> }) {
  const t = useTranslations("files.removal");
  const common = useTranslations("common");
  const errors = useTranslations("errors");
  const { held, done, undo, dismiss } = removal;
  if (held.size > 0) {
    return (
      <ReceiptLine tone="wait" text={t("held", { count: held.size })}>
        <Button size="small" onClick={undo}>
          {common("undo")}
        </Button>
      </ReceiptLine>
    );
  }
  if (!done) return null;
  const [refused] = done.failed;
  if (!refused) return <ReceiptLine tone="ok" text={t("done", { count: done.removed })} onDismiss={dismiss} />;
  const counts = { removed: done.removed, failed: done.failed.length, path: refused.path, why: failureText(errors, refused.failure) };
  return <ReceiptLine tone="bad" text={t("some", counts)} onDismiss={dismiss} />;
}
