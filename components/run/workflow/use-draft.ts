import { useEffect, useEffectEvent } from "react";
import { askToStay } from "@/components/ui/hooks/use-close-warning";
import { ofTab } from "@/lib/browser/persisted";
import { type RunStore } from "../run-store";
import { forgetDraft, keepDraft, readDraft } from "./draft";
import { isUnsent } from "./opened";

const QUIET_MS = 500;

/** Restores the open workflow and what was typed after a reload; if it is too large to keep, the browser asks before the page is left. */
export function useDraft(store: RunStore, memberId: string): void {
  const keep = useEffectEvent((): boolean => {
    const { opened } = store.get();
    return opened !== undefined && keepDraft(ofTab, memberId, opened);
  });
  useEffect(() => {
    // After hydration, as the server rendered the page without a draft.
    const draft = store.get().opened ? undefined : readDraft(ofTab, memberId);
    if (draft) store.dispatch({ type: "restored", ...draft });

    let last = store.get().opened;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      if (timer === undefined) return;
      clearTimeout(timer);
      timer = undefined;
      keep();
    };
    const onLeave = (event: BeforeUnloadEvent) => {
      flush();
      if (isUnsent(store.get().opened) && !keep()) askToStay(event);
    };
    // Only while something could be lost: a page with this listener may be excluded from the browser's back and forward cache.
    const guard = () => {
      window.removeEventListener("beforeunload", onLeave);
      if (isUnsent(last)) window.addEventListener("beforeunload", onLeave);
    };
    const follow = () => {
      const { opened } = store.get();
      if (opened === last) return;
      last = opened;
      clearTimeout(timer);
      timer = opened ? setTimeout(flush, QUIET_MS) : undefined;
      if (!opened) forgetDraft(ofTab);
      guard();
    };
    guard();
    const unsubscribe = store.subscribe(follow);
    window.addEventListener("pagehide", flush);
    return () => {
      flush();
      unsubscribe();
      window.removeEventListener("pagehide", flush);
      window.removeEventListener("beforeunload", onLeave);
    };
  }, [store, memberId]);
}
