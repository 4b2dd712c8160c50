import { useEffect, useEffectEvent, useRef, useState } from "react";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type FileKind } from "@/lib/contract/views/outputs-view";
import { type Result } from "@/lib/shared/result";
import { useShown } from "./use-shown";

type ViewingOptions = {
  /** The item's index; -1 if unknown. */
  indexOf: (id: string) => number;
  getId: (index: number) => string | undefined;
  /** Called once the viewer has stayed at an item, after the URL is updated. */
  onRest?: (index: number) => void;
  onClosed?: (index: number) => void;
};

/** Browsers limit how often the URL may change, which a held key would exceed. */
const REST_MS = 300;

/** The item that the viewer shows, in the URL, so that Back closes it, and a reload or a link shows it again. */
export function useViewing({ indexOf, getId, onRest, onClosed }: ViewingOptions) {
  const shownParam = useShown("show");
  const { value, note } = shownParam;
  const [movedIndex, setMovedIndex] = useState<number>();
  const foundIndex = value === undefined ? -1 : indexOf(value);
  const at = value === undefined ? undefined : (movedIndex ?? (foundIndex < 0 ? undefined : foundIndex));
  const id = at === undefined ? value : getId(at);
  const last = useRef<number>(undefined);

  const onRested = useEffectEvent((index: number, now: string) => {
    note(now);
    onRest?.(index);
  });
  useEffect(() => {
    if (at === undefined) return;
    last.current = at;
    if (id === undefined || id === value) return;
    const timer = setTimeout(() => onRested(at, id), REST_MS);
    return () => clearTimeout(timer);
  }, [at, id, value]);

  const handleClosed = useEffectEvent(() => {
    const index = last.current;
    last.current = undefined;
    setMovedIndex(undefined);
    if (index !== undefined) onClosed?.(index);
  });
  const isOpen = value !== undefined;
  useEffect(() => {
    if (isOpen) return;
    // Runs after the browser has restored the scroll position.
    const frame = requestAnimationFrame(() => handleClosed());
    return () => cancelAnimationFrame(frame);
  }, [isOpen]);

  return {
    isOpen,
    /** The shown item; undefined while the row at the open index has not been read. */
    id,
    /** The shown index; undefined if the item is unknown. */
    at,
    open: (index: number) => {
      setMovedIndex(index);
      shownParam.open(getId(index) ?? `at-${index}`);
    },
    move: setMovedIndex,
    close: shownParam.close,
  };
}

export type ViewerItem = {
  id: string;
  name: string;
  kind: FileKind;
  /** The URL of the full file. */
  src: string;
  /** A smaller picture, shown until the file has loaded. */
  poster?: string;
  /** In pixels and in bytes, if known. */
  width?: number;
  height?: number;
  sizeBytes?: number;
  note?: string;
  href?: string;
  jobId?: string;
};

export const MAX_COMPARED = 4;

/** Returns undefined if not loaded yet. */
export type ItemAt = (index: number) => ViewerItem | undefined;

/** Reads the workflow of a job. */
export type ReadWorkflow = (jobId: string) => Promise<Result<unknown, ApiFailure>>;
