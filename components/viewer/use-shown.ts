import { useSearchParams } from "next/navigation";
import { useCallback, useEffect, useMemo, useState } from "react";
import { setSearchParam } from "@/lib/browser/urls";

/** The item shown over the page, stored in the URL parameter `name`. */
export type Shown = {
  value: string | undefined;
  /** Adds an entry to the browser's history, so that Back closes it. */
  open: (value: string) => void;
  /** Shows another item; the entry in the browser's history stays the same. */
  note: (value: string) => void;
  /** Goes back if opening added a history entry; if a link led here, only removes it from the address. */
  close: () => void;
};

const MARK = "shown";

/** The value is in the address, so that a reload and a shared link show it again. */
export function useShown(name: string): Shown {
  const paramValue = useSearchParams()?.get(name) ?? undefined;
  const [value, setValue] = useState(paramValue);
  const [lastNamed, setLastNamed] = useState(paramValue);
  if (paramValue !== lastNamed) {
    setLastNamed(paramValue);
    // The page's address changed without it: opening an item here sets the value before the address changes, so only a removal counts.
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
      window.history.pushState({ [MARK]: name }, "", setSearchParam(name, next));
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
    if (markOfEntry() === name) return window.history.back();
    setValue(undefined);
    window.history.replaceState(null, "", setSearchParam(name, undefined));
  }, [name]);
  return useMemo(() => ({ value, open, note, close }), [value, open, note, close]);
}

function markOfEntry(): unknown {
  const state: unknown = window.history.state;
  return typeof state === "object" && state !== null && MARK in state ? state[MARK] : undefined;
}

/** To be passed on by code that changes the address of the current history entry. */
export function historyState(): Record<string, unknown> | null {
  const mark = markOfEntry();
  return mark === undefined ? null : { [MARK]: mark };
}
