import { useRef } from "react";

/** Both ends and everything between them in the list, in either direction; only the second if the first is not in it. */
export function between<T>(listed: readonly T[], from: T | undefined, to: T): readonly T[] {
  const a = from === undefined ? -1 : listed.indexOf(from);
  const b = listed.indexOf(to);
  return a < 0 || b < 0 ? [to] : listed.slice(Math.min(a, b), Math.max(a, b) + 1);
}

/** What a click selects in a short list of the component: with Shift, everything from the last clicked one to this one. */
export function useRange<T>(listed: readonly T[]): (pressed: T, isRange: boolean) => readonly T[] {
  const last = useRef<T>(undefined);
  return (pressed, isRange) => {
    const range = isRange ? between(listed, last.current, pressed) : [pressed];
    last.current = pressed;
    return range;
  };
}
