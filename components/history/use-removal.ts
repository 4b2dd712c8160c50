"use client";

import { useState } from "react";
import { showToast } from "@/components/ui/toast-store";
import { useHeld } from "@/components/ui/use-held";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";

export type Removal = { kind: "removed"; ids: readonly string[] } | { kind: "cleared" };

type Choices = { connection: string | undefined; refresh: () => Promise<unknown>; words: (removed: number) => string };

/** Removing named entries is held for a moment and can be taken back; clearing is sent at once. */
export function useRemoval({ connection, refresh, words }: Choices) {
  const [isBusy, setBusy] = useState(false);
  const [done, setDone] = useState<Removal>();
  const [failure, setFailure] = useState<ApiFailure>();

  async function send(json: unknown, then: Removal, isLeaving: boolean) {
    setBusy(true);
    const path = withQuery("/api/history", { connection });
    const result = await callApi(path, { method: "POST", json, ...(isLeaving && { keepalive: true }) });
    setBusy(false);
    if (!result.ok) return setFailure(result.failure);
    if (isLeaving && then.kind === "removed") return showToast({ tone: "ok", text: words(then.ids.length) });
    // The service names nothing that it removed: the list after it is the receipt.
    await refresh();
    setDone(then);
  }
  function remove(ids: readonly string[], isLeaving: boolean) {
    return send({ delete: ids }, { kind: "removed", ids }, isLeaving);
  }
  const { held, hold, undo } = useHeld<readonly string[]>((ids, isLeaving) => void remove(ids, isLeaving));
  function begin() {
    setDone(undefined);
    setFailure(undefined);
  }

  return {
    isBusy,
    done,
    failure,
    heldIds: new Set(held),
    undo,
    dismiss: () => setDone(undefined),
    remove: (ids: readonly string[]) => {
      begin();
      hold(ids);
    },
    clear: async () => {
      begin();
      await send({ clear: true }, { kind: "cleared" }, false);
    },
  };
}
