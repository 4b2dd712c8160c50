import { useTranslations } from "next-intl";
import { ReceiptLine } from "@/components/ui/receipt-line";
import { type Cleared } from "@/lib/browser/bulk/bulk-calls";
import { type QueueAnswer } from "@/lib/contract/schemas/job";

type ClearReceiptProps = {
  /** How many waited when the person confirmed. */
  asked: number;
  outcome: Cleared<QueueAnswer>;
  /** How many still wait. */
  waiting: number;
  onDismiss: () => void;
};

/** The outcome of clearing the queue. Some services name what they cancelled; otherwise only what still waits is known. */
export function ClearReceipt({ asked, outcome, waiting, onDismiss }: ClearReceiptProps) {
  const t = useTranslations("queue.receipt");
  const cancelled = outcome.kind === "answered" ? (outcome.answer.deleted ?? []).length : 0;
  const tooLate = Math.max(0, asked - cancelled);
  const unknown = outcome.kind === "answered" ? "unnamed" : "lost";
  const key = cancelled === 0 ? (`${unknown}${waiting === 0 ? "Gone" : "Waiting"}` as const) : tooLate === 0 ? "all" : "some";
  return (
    <ReceiptLine isAnswer tone={cancelled > 0 ? "ok" : "off"} text={t(key, { asked, waiting, cancelled, tooLate })} onDismiss={onDismiss} />
  );
}
