"use client";

import { useEffect, useEffectEvent } from "react";
import { type AssetsSource } from "./assets-source";
import { type Picking } from "./use-picking";

type AllKey = {
  source: Pick<AssetsSource, "at">;
  picking: Pick<Picking, "store" | "band" | "all">;
  inView: () => number[];
  /** Whether somebody stands in the list: elsewhere the key is the browser's. */
  isHere: () => boolean;
};

/** Ctrl or ⌘ A takes what is in view; whoever presses again means all that match. */
export function useAllKey({ source, picking, inView, isHere }: AllKey): void {
  const act = useEffectEvent((event: KeyboardEvent) => {
    const { key, metaKey, ctrlKey, shiftKey, altKey } = event;
    if (key.toLowerCase() !== "a" || metaKey === ctrlKey || shiftKey || altKey || event.defaultPrevented || !isHere()) return;
    event.preventDefault();
    const shown = inView();
    if (shown.every((index) => picking.store.has(source.at(index)?.id ?? ""))) picking.all();
    else picking.band(shown, picking.store.ids());
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => act(event);
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}
