"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { showToast } from "@/components/ui/toast-store";
import { useHeld } from "@/components/ui/use-held";
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
  const { busyIds, cancel, clear, interruptAll } = useCancel(connection);
  const [done, setDone] = useState<Done>();
  const { held, hold, undo } = useHeld<Meant>((meant, isLeaving) => void send(meant, isLeaving));
  const listed = pending.map(({ id }) => id);

  async function send(meant: Meant, isLeaving: boolean) {
    const cancelled = await cancel(meant, isLeaving);
    if (isLeaving) {
      const text = wordsOf(cancelled, 0);
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
    cancel: (ids: readonly string[]) => {
      setDone(undefined);
      const isMeant = ({ id }: QueueRow) => ids.includes(id);
      hold({ pending: pending.filter(isMeant).map(({ id }) => id), running: running.filter(isMeant).map(({ id }) => id) });
    },
    clearAll: async (count: number) => {
      setDone(undefined);
      await answer(await clear(listed, count));
    },
    stopTogether: async () => {
      setDone(undefined);
      await answer(await interruptAll());
    },
  };
}
