import { type StopReceipt } from "@/lib/contract/console";
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

export type ReceiptSentence = {
  key: "all" | "some" | "none" | "untoldGone" | "untoldWaiting" | "stopped" | "stopping" | "over" | "unable" | "together";
  values: Record<string, number>;
};

/** Which sentences say it, in their order. `waiting`: how many of those that were meant still wait. */
export function receiptSentences(receipt: Receipt | undefined, stop: StopReceipt | undefined, waiting: number): ReceiptSentence[] {
  return [...(receipt ? [queueSentence(receipt, waiting)] : []), ...(stop ? stopSentences(stop) : [])];
}

function queueSentence(receipt: Receipt, waiting: number): ReceiptSentence {
  if (receipt.kind === "untold") return { key: waiting === 0 ? "untoldGone" : "untoldWaiting", values: { asked: receipt.asked, waiting } };
  const { cancelled, tooLate } = receipt;
  return { key: tooLate === 0 ? "all" : cancelled === 0 ? "none" : "some", values: { cancelled, tooLate } };
}

function stopSentences({ stopped, stopping, over, unable, together }: StopReceipt): ReceiptSentence[] {
  const counted: ReceiptSentence[] = [
    { key: "stopped", values: { stopped: stopped.length } },
    { key: "stopping", values: { stopping: stopping.length } },
    { key: "over", values: { over: over.length } },
    together > 0 ? { key: "together", values: { together } } : { key: "unable", values: { unable: unable.length } },
  ];
  return counted.filter(({ values }) => Object.values(values).some((count) => count > 0));
}

export function hasDone(receipt: Receipt | undefined, stop: StopReceipt | undefined): boolean {
  const cancelled = receipt?.kind === "told" ? receipt.cancelled : 0;
  return cancelled + (stop?.stopped.length ?? 0) > 0;
}
