"use client";

import { useEffect, useEffectEvent } from "react";
import { tabStorage } from "./tab-storage";
import { notedPress, type Press } from "./press";
import { type RunStore } from "./run-store";

/** A reload in the middle of a run: what became of it is asked for, and nothing is sent again. */
export function useNotedPress(store: RunStore, memberId: string, onFound: (press: Press) => void): void {
  const found = useEffectEvent(onFound);
  useEffect(() => {
    const press = notedPress(tabStorage, memberId);
    const { isSending, trouble } = store.get();
    if (press && !isSending && trouble?.press?.key !== press.key) found(press);
  }, [store, memberId]);
}
