import { useEffect, useEffectEvent, useState } from "react";
import { chosenZone } from "@/components/ui/time/time-zone";
import { type Dropped, droppedOf, filesOfDrop } from "@/lib/browser/files/dropped-files";

/** Longer than the pause between two drag events, half a second in some browsers; it also ends a drag that sends no final event. */
const STILL_OVER_MS = 1_000;
const LONGEST_TEXT = 100_000;

type Kind = "files" | "addresses";
type WindowFiles = {
  isOn: boolean;
  onFiles: (files: Promise<Dropped>) => void;
  /** One per line. */
  onAddress: (addresses: string) => void;
};

/** Takes files and addresses dropped or pasted in the window that no part of the page takes itself; returns what is dragged over it. */
export function useWindowFiles({ isOn, onFiles, onAddress }: WindowFiles): Kind | undefined {
  const [over, setOver] = useState<Kind>();
  const take = useEffectEvent(onFiles);
  const takeAddress = useEffectEvent(onAddress);
  useEffect(() => {
    if (!isOn) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOwn = false;
    const end = () => {
      clearTimeout(timer);
      setOver(undefined);
    };
    const kindOf = ({ defaultPrevented, dataTransfer, target }: DragEvent): Kind | undefined => {
      const types = dataTransfer?.types ?? [];
      if (defaultPrevented) return undefined;
      if (types.includes("Files")) return "files";
      return types.includes("text/uri-list") && !isOwn && !isField(target) ? "addresses" : undefined;
    };
    const listening = new AbortController();
    const on = <K extends keyof WindowEventMap>(type: K, listener: (event: WindowEventMap[K]) => void) =>
      window.addEventListener(type, listener, { signal: listening.signal });
    // A link or picture of this very page is being dragged.
    on("dragstart", ({ defaultPrevented }) => void (isOwn = !defaultPrevented));
    on("dragend", () => void (isOwn = false));
    const over = (event: DragEvent) => {
      const kind = kindOf(event);
      if (!kind) return end();
      // Without this the browser would leave the page and show the dropped file.
      event.preventDefault();
      clearTimeout(timer);
      timer = setTimeout(end, STILL_OVER_MS);
      setOver(kind);
    };
    on("dragenter", over);
    on("dragover", over);
    // No related target: the pointer has left the window.
    on("dragleave", ({ relatedTarget }) => (relatedTarget === null ? end() : undefined));
    on("drop", (event) => {
      end();
      const kind = kindOf(event);
      if (!kind || !event.dataTransfer) return;
      event.preventDefault();
      if (kind === "files") return take(filesOfDrop(event.dataTransfer));
      const addresses = addressesIn(event.dataTransfer.getData("text/uri-list").replace(/^#.*$/gm, ""));
      if (addresses !== undefined) takeAddress(addresses);
    });
    on("paste", (event) => {
      if (event.defaultPrevented || isField(event.target)) return;
      const files = [...(event.clipboardData?.files ?? [])];
      const addresses = files.length === 0 ? addressesIn(event.clipboardData?.getData("text/plain") ?? "") : undefined;
      if (files.length === 0 && addresses === undefined) return;
      event.preventDefault();
      if (addresses !== undefined) return takeAddress(addresses);
      const named = files.map((file) => pastedName(file, new Date()));
      take(Promise.resolve(droppedOf(named.map((file) => ({ path: file.name, file })))));
    });
    return () => {
      end();
      listening.abort();
    };
  }, [isOn]);
  return over;
}

/** Undefined if the text contains anything else. */
function addressesIn(text: string): string | undefined {
  const lines = text
    .slice(0, LONGEST_TEXT)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const isAll = lines.length > 0 && lines.every((line) => /^https?:\/\/\S+$/i.test(line) && URL.canParse(line));
  return isAll ? lines.join("\n") : undefined;
}

/** A focused field keeps its own paste. */
function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null;
}

const moment = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit" } as const;

/**
 * A browser names every pasted picture image.png: adding the time, in the zone of all other times, tells them apart. A copied file keeps
 * its name.
 */
export function pastedName(file: File, at: Date): File {
  const plain = /^image(\.\w+)$/i.exec(file.name);
  if (!plain) return file;
  const format = new Intl.DateTimeFormat("en-GB", { ...moment, hourCycle: "h23", timeZone: chosenZone() });
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const [day, time] = [
    [parts.get("year"), parts.get("month"), parts.get("day")],
    [parts.get("hour"), parts.get("minute"), parts.get("second")],
  ].map((each) => each.join("-"));
  return new File([file], `pasted ${day} ${time}${plain[1]}`, { type: file.type, lastModified: at.getTime() });
}
