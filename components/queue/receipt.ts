import { type QueueAnswer } from "@/lib/contract/schemas/queue";

/**
 * What became of a cancellation. `told`: the service named what it really cancelled, everything else had left the queue before.
 * `untold`: it named nothing; what still waits is all that is known.
 */
export type Receipt = { kind: "told"; cancelled: number; tooLate: number } | { kind: "untold"; asked: number };

/** Of jobs that were named. */
export function receiptOf(asked: readonly string[], { deleted }: QueueAnswer): Receipt {
  if (!deleted) return { kind: "untold", asked: asked.length };
  const named = new Set(deleted);
  const cancelled = asked.filter((id) => named.has(id)).length;
  return { kind: "told", cancelled, tooLate: asked.length - cancelled };
}

/** Of the whole queue, which held `asked` jobs when the person decided. Some services clear it without naming a job. */
export function receiptOfClear(asked: number, { deleted = [] }: QueueAnswer): Receipt {
  if (deleted.length === 0) return { kind: "untold", asked };
  return { kind: "told", cancelled: deleted.length, tooLate: Math.max(0, asked - deleted.length) };
}

/** Which sentence says it. */
export function receiptKey(receipt: Receipt, waiting: number): "all" | "some" | "none" | "untoldGone" | "untoldWaiting" {
  if (receipt.kind === "untold") return waiting === 0 ? "untoldGone" : "untoldWaiting";
  if (receipt.tooLate === 0) return "all";
  return receipt.cancelled === 0 ? "none" : "some";
}
