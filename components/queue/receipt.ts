import { type QueueAnswer } from "@/lib/contract/schemas/queue";

/** What became of a cancellation: `deleted` lists what was really cancelled, everything else had left the queue before. */
export type Receipt = { cancelled: number; tooLate: number };

export function receiptOf(asked: readonly string[], answer: QueueAnswer): Receipt {
  const deleted = new Set(answer.deleted);
  const cancelled = asked.filter((id) => deleted.has(id)).length;
  return { cancelled, tooLate: asked.length - cancelled };
}

export function addReceipts(one: Receipt, other: Receipt): Receipt {
  return { cancelled: one.cancelled + other.cancelled, tooLate: one.tooLate + other.tooLate };
}

/** Which sentence says it. */
export function receiptKey({ cancelled, tooLate }: Receipt): "all" | "some" | "none" {
  if (tooLate === 0) return "all";
  return cancelled === 0 ? "none" : "some";
}
