import { useSearchParams } from "next/navigation";
import { useCallback, useEffect, useEffectEvent, useMemo, useRef, useState } from "react";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { toUrlWithParam } from "@/lib/browser/urls";
import { type FileKind } from "@/lib/contract/views/outputs-view";
import { type Result } from "@/lib/shared/result";

type ViewingOptions = {
  /** The item's index; -1 if unknown. */
  indexOf: (id: string) => number;
  getId: (index: number) => string | undefined;
  /** Called once the viewer has stayed at an item, after the URL is updated. */
  onSettled?: (index: number) => void;
  onClosed?: (index: number) => void;
};

/** Browsers limit how often the URL may change, which a held key would exceed. */
const URL_UPDATE_DELAY_MS = 300;

/** Stores the shown item in the URL. Back closes the viewer, and a reload or a link shows the item again. */
export function useViewing({ indexOf, getId, onSettled, onClosed }: ViewingOptions) {
  const shownParam = useShownItem("show");
  const { value, replace } = shownParam;
  const [movedIndex, setMovedIndex] = useState<number>();
  const foundIndex = value === undefined ? -1 : indexOf(value);
  const currentIndex = value === undefined ? undefined : (movedIndex ?? (foundIndex < 0 ? undefined : foundIndex));
  const id = currentIndex === undefined ? value : getId(currentIndex);
  const lastIndex = useRef<number>(undefined);

  const handleSettled = useEffectEvent((index: number, currentId: string) => {
    replace(currentId);
    onSettled?.(index);
  });
  useEffect(() => {
    if (currentIndex === undefined) return;
    lastIndex.current = currentIndex;
    if (id === undefined || id === value) return;
    const timer = setTimeout(() => handleSettled(currentIndex, id), URL_UPDATE_DELAY_MS);
    return () => clearTimeout(timer);
  }, [currentIndex, id, value]);

  const handleClosed = useEffectEvent(() => {
    const index = lastIndex.current;
    lastIndex.current = undefined;
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
    at: currentIndex,
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
export type GetItem = (index: number) => ViewerItem | undefined;

/** Reads the workflow of a job. */
export type ReadWorkflow = (jobId: string) => Promise<Result<unknown, ApiFailure>>;

/** The item shown over the page, stored in the URL parameter `name`. */
export type ShownItem = {
  value: string | undefined;
  /** Adds an entry to the browser's history, so that Back closes it. */
  open: (value: string) => void;
  /** Shows another item without a new history entry. */
  replace: (value: string) => void;
  /** Goes back if opening added a history entry; otherwise only removes the parameter from the URL. */
  close: () => void;
};

const HISTORY_KEY = "shown";

/** The value is in the URL, so that a reload or a shared link shows it again. */
export function useShownItem(name: string): ShownItem {
  const paramValue = useSearchParams()?.get(name) ?? undefined;
  const [value, setValue] = useState(paramValue);
  const [lastParamValue, setLastParamValue] = useState(paramValue);
  if (paramValue !== lastParamValue) {
    setLastParamValue(paramValue);
    // Only a removal from the URL counts, since opening an item sets the value before the URL changes.
    if (paramValue === undefined) setValue(undefined);
  }
  useEffect(() => {
    const handlePopState = () => setValue(new URL(window.location.href).searchParams.get(name) ?? undefined);
    window.addEventListener("popstate", handlePopState);
    return () => window.removeEventListener("popstate", handlePopState);
  }, [name]);

  const open = useCallback(
    (newValue: string) => {
      setValue(newValue);
      window.history.pushState({ [HISTORY_KEY]: name }, "", toUrlWithParam(name, newValue));
    },
    [name],
  );
  const replace = useCallback(
    (newValue: string) => {
      setValue(newValue);
      window.history.replaceState(getHistoryState(), "", toUrlWithParam(name, newValue));
    },
    [name],
  );
  const close = useCallback(() => {
    if (getShownParam() === name) return window.history.back();
    setValue(undefined);
    window.history.replaceState(null, "", toUrlWithParam(name, undefined));
  }, [name]);
  return useMemo(() => ({ value, open, replace, close }), [value, open, replace, close]);
}

function getShownParam(): unknown {
  const state: unknown = window.history.state;
  return typeof state === "object" && state !== null && HISTORY_KEY in state ? state[HISTORY_KEY] : undefined;
}

/** The state that code must keep when it replaces the current history entry. */
export function getHistoryState(): Record<string, unknown> | null {
  const shownParam = getShownParam();
  return shownParam === undefined ? null : { [HISTORY_KEY]: shownParam };
}
