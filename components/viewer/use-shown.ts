import { useSearchParams } from "next/navigation";
import { useCallback, useEffect, useMemo, useState } from "react";
import { setSearchParam } from "@/lib/browser/urls";

/** The item shown over the page, stored in the URL parameter `name`. */
export type Shown = {
  value: string | undefined;
  /** Adds an entry to the browser's history, so that Back closes it. */
  open: (value: string) => void;
  /** Shows another item without a new history entry. */
  note: (value: string) => void;
  /** Goes back if opening added a history entry; otherwise only removes the parameter from the URL. */
  close: () => void;
};

const HISTORY_KEY = "shown";

/** The value is in the URL, so that a reload or a shared link shows it again. */
export function useShown(name: string): Shown {
  const paramValue = useSearchParams()?.get(name) ?? undefined;
  const [value, setValue] = useState(paramValue);
  const [lastParamValue, setLastParamValue] = useState(paramValue);
  if (paramValue !== lastParamValue) {
    setLastParamValue(paramValue);
    // Only a removal from the URL counts, since opening an item sets the value before the URL changes.
    if (paramValue === undefined) setValue(undefined);
  }
  useEffect(() => {
    const onPop = () => setValue(new URL(window.location.href).searchParams.get(name) ?? undefined);
    window.addEventListener("popstate", onPop);
    return () => window.removeEventListener("popstate", onPop);
  }, [name]);

  const open = useCallback(
    (next: string) => {
      setValue(next);
      window.history.pushState({ [HISTORY_KEY]: name }, "", setSearchParam(name, next));
    },
    [name],
  );
  const note = useCallback(
    (next: string) => {
      setValue(next);
      window.history.replaceState(historyState(), "", setSearchParam(name, next));
    },
    [name],
  );
  const close = useCallback(() => {
    if (readMark() === name) return window.history.back();
    setValue(undefined);
    window.history.replaceState(null, "", setSearchParam(name, undefined));
  }, [name]);
  return useMemo(() => ({ value, open, note, close }), [value, open, note, close]);
}

function readMark(): unknown {
  const state: unknown = window.history.state;
  return typeof state === "object" && state !== null && HISTORY_KEY in state ? state[HISTORY_KEY] : undefined;
}

/** The state that code must keep when it replaces the current history entry. */
export function historyState(): Record<string, unknown> | null {
  const mark = readMark();
  return mark === undefined ? null : { [HISTORY_KEY]: mark };
}
