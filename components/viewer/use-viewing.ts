import { useEffect, useEffectEvent, useRef, useState } from "react";
import { useShown } from "./use-shown";

type ViewingOptions = {
  /** Where it is among what is known; -1 where it is not known. */
  indexOf: (id: string) => number;
  idAt: (index: number) => string | undefined;
  /** The viewer has rested at this one, and the address names it. */
  onRest?: (index: number) => void;
  /** The one that was seen last. */
  onClosed?: (index: number) => void;
};

/** Browsers bound how often an address may change: a key held down would reach the bound. */
const RESTS_MS = 300;

/** Which one of many the viewer shows: in the address, so that Back closes it, and a reload or a link shows it again. */
export function useViewing({ indexOf, idAt, onRest, onClosed }: ViewingOptions) {
  const shown = useShown("show");
  const { value, note } = shown;
  const [moved, setMoved] = useState<number>();
  const found = value === undefined ? -1 : indexOf(value);
  const at = value === undefined ? undefined : (moved ?? (found < 0 ? undefined : found));
  const id = at === undefined ? value : idAt(at);
  const last = useRef<number>(undefined);

  const rested = useEffectEvent((index: number, now: string) => {
    note(now);
    onRest?.(index);
  });
  useEffect(() => {
    if (at === undefined) return;
    last.current = at;
    if (id === undefined || id === value) return;
    const timer = setTimeout(() => rested(at, id), RESTS_MS);
    return () => clearTimeout(timer);
  }, [at, id, value]);

  const closed = useEffectEvent(() => {
    const index = last.current;
    last.current = undefined;
    setMoved(undefined);
    if (index !== undefined) onClosed?.(index);
  });
  const isOpen = value !== undefined;
  useEffect(() => {
    if (isOpen) return;
    // After the browser has put the page back to where it stood at this entry.
    const frame = requestAnimationFrame(() => closed());
    return () => cancelAnimationFrame(frame);
  }, [isOpen]);

  return {
    isOpen,
    /** What is shown; undefined while a place is open whose row has not been read. */
    id,
    /** Undefined where it is not among what is known. */
    at,
    open: (index: number) => {
      setMoved(index);
      shown.open(idAt(index) ?? `at-${index}`);
    },
    move: setMoved,
    close: shown.close,
  };
}
