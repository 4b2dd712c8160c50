import { useRef } from "react";

/** Both ends and everything between them in the list, in either direction; only the second if the first is not in it. */
export function between<T>(items: readonly T[], from: T | undefined, to: T): readonly T[] {
  const a = from === undefined ? -1 : items.indexOf(from);
  const b = items.indexOf(to);
  return a < 0 || b < 0 ? [to] : items.slice(Math.min(a, b), Math.max(a, b) + 1);
}

/** The items that a click selects in a short list: with Shift, the range from the last clicked one. */
export function useRange<T>(items: readonly T[]): (pressed: T, isRange: boolean) => readonly T[] {
  const last = useRef<T>(undefined);
  return (pressed, isRange) => {
    const range = isRange ? between(items, last.current, pressed) : [pressed];
    last.current = pressed;
    return range;
  };
}
