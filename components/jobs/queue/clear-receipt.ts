import { type QueueAnswer } from "@/lib/contract/schemas/queue";

/**
 * What became of clearing the queue. `told`: the service named what it really cancelled, everything else had left the queue before.
 * `untold`: it named nothing; what still waits is all that is known. `lost`: nor is it where its answer did not come.
 */
export type Receipt = { kind: "told"; cancelled: number; tooLate: number } | { kind: "untold" | "lost"; asked: number };

/** The queue held `asked` jobs when the person decided. Some services clear it without naming a job. */
export function receiptOfClear(asked: number, { deleted = [] }: QueueAnswer): Receipt {
  if (deleted.length === 0) return { kind: "untold", asked };
  return { kind: "told", cancelled: deleted.length, tooLate: Math.max(0, asked - deleted.length) };
}

export type ReceiptSentence = {
  key: "all" | "some" | "none" | "untoldGone" | "untoldWaiting" | "lostGone" | "lostWaiting";
  values: Record<string, number>;
};

/** `waiting`: how many still wait. */
export function receiptSentence(receipt: Receipt, waiting: number): ReceiptSentence {
  if (receipt.kind !== "told")
    return { key: `${receipt.kind}${waiting === 0 ? "Gone" : "Waiting"}`, values: { asked: receipt.asked, waiting } };
  const { cancelled, tooLate } = receipt;
  return { key: tooLate === 0 ? "all" : cancelled === 0 ? "none" : "some", values: { cancelled, tooLate } };
}
