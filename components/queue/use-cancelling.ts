"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { failureText } from "@/components/frame/failure-text";
import { showToast } from "@/components/ui/toast-store";
import { useHeld } from "@/components/ui/use-held";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type QueueRow } from "./queue-rows";
import { hasDone, receiptSentences } from "./receipt";
import { type Cancelled, type Meant, useCancel } from "./use-cancel";

/** What was done, and to whom: every job that waits where `meant` is absent. */
type Done = Cancelled & { meant?: Meant };

type Choices = {
  connection: string | undefined;
  running: readonly QueueRow[];
  pending: readonly QueueRow[];
  /** Called after each act; resolves when the list is new. */
  refresh: () => Promise<unknown>;
};

/** Cancelling from the queue: named jobs are held for a moment and can be taken back, clearing all of it is not. */
export function useCancelling({ connection, running, pending, refresh }: Choices) {
  const t = useTranslations("queue");
  const errors = useTranslations("errors");
  const { busyIds, cancel, clear, interruptAll } = useCancel(connection);
  const [done, setDone] = useState<Done>();
  const { held, hold, undo } = useHeld<Meant>((meant, isLeaving) => void send(meant, isLeaving));
  const listed = pending.map(({ id }) => id);

  async function send(meant: Meant, isLeaving: boolean) {
    const cancelled = await cancel(meant, isLeaving);
    if (isLeaving) {
      const text = wordsOf(cancelled, 0);
      if (cancelled.failure) {
        showToast({
          tone: "bad",
          text: [t("failed", { count: countOf(cancelled.left) }), failureText(errors, cancelled.failure)].join(": "),
        });
      }
      if (text) showToast({ tone: hasDone(cancelled.receipt, cancelled.stop) ? "ok" : "off", text });
      return;
    }
    await answer({ ...cancelled, meant });
  }
  async function answer(next: Done) {
    const refreshed = refresh();
    // Where the service names nothing, the list after it is all that is known.
    if (next.receipt?.kind === "untold") await refreshed;
    setDone(next);
    await refreshed;
  }
  /** Behind a question, which says itself why there is no answer. */
  async function answered(next: Cancelled): Promise<ApiFailure | undefined> {
    if (next.failure) return next.failure;
    await answer(next);
    return undefined;
  }
  function wordsOf({ receipt, stop }: Cancelled, waiting: number): string {
    return receiptSentences(receipt, stop, waiting)
      .map(({ key, values }) => t(`receipt.${key}`, values))
      .join(", ");
  }

  const waiting = done?.meant ? listed.filter((id) => done.meant?.pending.includes(id)).length : listed.length;
  const heldIds = new Set(held ? [...held.pending, ...held.running] : []);
  return {
    busyIds,
    heldIds,
    undo,
    done,
    text: done ? wordsOf(done, waiting) : "",
    dismiss: () => setDone(undefined),
    /** What failed: whom it was meant for, and the way to try it again with those that are still there. */
    failed: done?.failure && {
      failure: done.failure,
      count: countOf(done.left),
      again: () => {
        const stillThere = (ids: readonly string[], rows: readonly QueueRow[]) => ids.filter((id) => rows.some((row) => row.id === id));
        const left = { pending: stillThere(done.left?.pending ?? [], pending), running: stillThere(done.left?.running ?? [], running) };
        setDone(undefined);
        if (countOf(left) > 0) void send(left, false);
      },
    },
    cancel: (ids: readonly string[]) => {
      setDone(undefined);
      const isMeant = ({ id }: QueueRow) => ids.includes(id);
      hold({ pending: pending.filter(isMeant).map(({ id }) => id), running: running.filter(isMeant).map(({ id }) => id) });
    },
    clearAll: async (count: number) => answered(await clear(listed, count)),
    stopTogether: async () => answered(await interruptAll()),
  };
}

function countOf(meant: Meant | undefined): number {
  return meant ? meant.pending.length + meant.running.length : 0;
}
