"use client";

import { useState } from "react";
import { showToast } from "@/components/ui/toast-store";
import { useHeld } from "@/components/ui/use-held";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";

export type Removal = { kind: "removed"; ids: readonly string[] } | { kind: "cleared" };

type Choices = {
  connection: string | undefined;
  refresh: () => Promise<unknown>;
  /** For a toast, where the page is gone that would say it. */
  words: { removed: (count: number) => string; failed: (count: number, failure: ApiFailure) => string };
};
type Failed = { ids: readonly string[]; failure: ApiFailure };

/** Removing named entries is held for a moment and can be taken back; clearing is sent at once. */
export function useRemoval({ connection, refresh, words }: Choices) {
  const [isBusy, setBusy] = useState(false);
  const [done, setDone] = useState<Removal>();
  const [failed, setFailed] = useState<Failed>();

  async function send(json: unknown, isLeaving = false): Promise<ApiFailure | undefined> {
    setBusy(true);
    const path = withQuery("/api/history", { connection });
    const result = await callApi(path, { method: "POST", json, ...(isLeaving && { keepalive: true }) });
    setBusy(false);
    return result.ok ? undefined : result.failure;
  }
  /** The service names nothing that it removed: the list after it is the receipt. */
  async function tell(then: Removal) {
    await refresh();
    setDone(then);
  }
  async function remove(ids: readonly string[], isLeaving: boolean) {
    const failure = await send({ delete: ids }, isLeaving);
    const count = ids.length;
    if (isLeaving) {
      return showToast(failure ? { tone: "bad", text: words.failed(count, failure) } : { tone: "ok", text: words.removed(count) });
    }
    if (failure) setFailed({ ids, failure });
    else await tell({ kind: "removed", ids });
  }
  const { held, hold, undo } = useHeld<readonly string[]>((ids, isLeaving) => void remove(ids, isLeaving));
  function begin() {
    setDone(undefined);
    setFailed(undefined);
  }

  return {
    isBusy,
    done,
    failed: failed && {
      ...failed,
      again: () => {
        setFailed(undefined);
        void remove(failed.ids, false);
      },
      dismiss: () => setFailed(undefined),
    },
    heldIds: new Set(held),
    undo,
    dismiss: () => setDone(undefined),
    remove: (ids: readonly string[]) => {
      begin();
      hold(ids);
    },
    /** Behind a question, which says itself why there is no answer. */
    clear: async (): Promise<ApiFailure | undefined> => {
      begin();
      const failure = await send({ clear: true });
      if (!failure) await tell({ kind: "cleared" });
      return failure;
    },
  };
}
