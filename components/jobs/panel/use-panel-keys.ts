"use client";

import { type RefObject, useEffect, useEffectEvent } from "react";
import { isFreeKey } from "@/components/ui/free-key";

type PanelKeys = { onClose: () => void; onNext?: () => void; onPrevious?: () => void };

/** Heard before the list's own keys: while a job is open beside it, j and k go from job to job, and Esc closes the job before it lets go of a selection. */
export function usePanelKeys(panel: RefObject<HTMLElement | null>, { onClose, onNext, onPrevious }: PanelKeys): void {
  const act = useEffectEvent((event: KeyboardEvent): boolean => {
    if (event.key === "Escape") {
      onClose();
      return true;
    }
    if (!isFreeKey(event)) return false;
    // Arrows up and down scroll the panel; the others are free inside it.
    const isInside = panel.current?.contains(document.activeElement) ?? false;
    const step =
      event.key === "j" || (isInside && event.key === "ArrowRight")
        ? onNext
        : event.key === "k" || (isInside && event.key === "ArrowLeft")
          ? onPrevious
          : undefined;
    step?.();
    return step !== undefined || event.key === "j" || event.key === "k";
  });
  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      if (event.defaultPrevented || document.querySelector("dialog[open]") || !act(event)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    }
    window.addEventListener("keydown", onKey, true);
    return () => window.removeEventListener("keydown", onKey, true);
  }, []);
}
