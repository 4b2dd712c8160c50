import { useEffect, useEffectEvent, useState } from "react";

type Arrivals = { onFiles: (files: File[]) => void; onText: (text: string) => void };

/** Takes files dropped and texts pasted anywhere on the page; true while files are dragged over it. A focused field keeps its own paste. */
export function useArrivals({ onFiles, onText }: Arrivals): boolean {
  const [isOver, setOver] = useState(false);
  const takeFiles = useEffectEvent(onFiles);
  const takeText = useEffectEvent(onText);
  useEffect(() => {
    const listening = new AbortController();
    const { signal } = listening;
    const on = <K extends keyof WindowEventMap>(type: K, listener: (event: WindowEventMap[K]) => void) =>
      window.addEventListener(type, listener, { signal });
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    on("dragover", (event) => {
      if (!hasFiles(event)) return;
      // Without this the browser would leave the page and show the file.
      event.preventDefault();
      setOver(true);
    });
    on("dragleave", (event) => {
      if (event.relatedTarget === null) setOver(false);
    });
    on("drop", (event) => {
      setOver(false);
      if (!hasFiles(event) || event.defaultPrevented) return;
      event.preventDefault();
      takeFiles([...(event.dataTransfer?.files ?? [])]);
    });
    on("paste", (event) => {
      if (event.defaultPrevented || isField(event.target) || !event.clipboardData) return;
      const files = [...event.clipboardData.files];
      const text = event.clipboardData.getData("text/plain");
      if (files.length > 0) takeFiles(files);
      else if (text.trim() !== "") takeText(text);
    });
    return () => listening.abort();
  }, []);
  return isOver;
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null;
}
