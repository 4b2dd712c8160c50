"use client";

import { useEffect, useEffectEvent, useState } from "react";
import { type Dropped, droppedOf, filesOfDrop } from "@/lib/browser/dropped-files";
import { pastedName } from "./pasted-name";

/** Longer than the pause between two events of a drag, so that leaving the window in any way ends it. */
const STILL_OVER_MS = 250;

type WindowFiles = { isOn: boolean; onFiles: (files: Promise<Dropped>) => void };

/** Files dropped or pasted anywhere in the window; true while files hang over it. What a part of the page takes for itself never comes here. */
export function useWindowFiles({ isOn, onFiles }: WindowFiles): boolean {
  const [isOver, setOver] = useState(false);
  const take = useEffectEvent(onFiles);
  useEffect(() => {
    if (!isOn) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = () => {
      clearTimeout(timer);
      setOver(false);
    };
    const listening = new AbortController();
    const on = <K extends keyof WindowEventMap>(type: K, listener: (event: WindowEventMap[K]) => void) =>
      window.addEventListener(type, listener, { signal: listening.signal });
    on("dragover", (event) => {
      if (event.defaultPrevented || !event.dataTransfer?.types.includes("Files")) return end();
      // Without this the browser would leave the page and show the file.
      event.preventDefault();
      clearTimeout(timer);
      timer = setTimeout(end, STILL_OVER_MS);
      setOver(true);
    });
    on("drop", (event) => {
      end();
      if (event.defaultPrevented || !event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      take(filesOfDrop(event.dataTransfer));
    });
    on("paste", (event) => {
      const files = [...(event.clipboardData?.files ?? [])];
      if (event.defaultPrevented || files.length === 0 || isField(event.target)) return;
      event.preventDefault();
      const named = files.map((file) => pastedName(file, new Date()));
      take(Promise.resolve(droppedOf(named.map((file) => ({ path: file.name, file })))));
    });
    return () => {
      end();
      listening.abort();
    };
  }, [isOn]);
  return isOver;
}

/** A field under the cursor keeps its own paste. */
function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null;
}
