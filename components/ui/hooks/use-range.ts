import { useRef } from "react";

/** The items from `from` to `to`, both inclusive, in either direction. Only `to` if `from` is not in the list. */
export function getRange<T>(items: readonly T[], from: T | undefined, to: T): readonly T[] {
  const a = from === undefined ? -1 : items.indexOf(from);
  const b = items.indexOf(to);
  return a < 0 || b < 0 ? [to] : items.slice(Math.min(a, b), Math.max(a, b) + 1);
}

/** Returns the items that a click selects: with Shift, the range since the last clicked one. */
export function useRange<T>(items: readonly T[]): (pressed: T, isRange: boolean) => readonly T[] {
  const last = useRef<T>(undefined);
  return (pressed, isRange) => {
    const range = isRange ? getRange(items, last.current, pressed) : [pressed];
    last.current = pressed;
    return range;
  };
}
