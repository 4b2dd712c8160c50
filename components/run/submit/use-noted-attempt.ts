import { useEffect, useEffectEvent } from "react";
import { ofTab } from "@/lib/browser/persisted";
import { type RunStore } from "../run-store";
import { type Attempt, notedAttempt } from "./attempt";

/** After a reload in the middle of a run: asks for the outcome, and sends nothing again. */
export function useNotedAttempt(store: RunStore, memberId: string, onFound: (attempt: Attempt) => void): void {
  const found = useEffectEvent(onFound);
  useEffect(() => {
    const attempt = notedAttempt(ofTab, memberId);
    const { isSending, submitError } = store.get();
    if (attempt && !isSending && submitError?.attempt?.key !== attempt.key) found(attempt);
  }, [store, memberId]);
}
