// Which rows are complete, outside React's state: a new row renders only its group.
// Visible rows come first, then near ones, one row at a time, so that the caller can stop when its share of the frame is used up.
import { GROUP } from "./row-groups";

/** Positions on the endless line on which rows keep theirs. */
export type View = {
  /** The first and the last visible row. */
  from: number;
  to: number;
  /** The first and the last row of the list. */
  first: number;
  last: number;
};

/** The complete rows of a group, by their index in it. */
type Span = { from: number; to: number };

export type RowWindow = ReturnType<typeof createRowWindow>;

const none: Span = { from: 0, to: 0 };
const all: Span = { from: 0, to: GROUP };
const keyOf = (place: number) => Math.floor(place / GROUP);
const has = ({ from, to }: Span, offset: number) => offset >= from && offset < to;

/** `firstWhole`: how many groups are complete at first, from position 0 on. */
export function createRowWindow(firstWhole: number) {
  const spans = new Map<number, Span>(Array.from({ length: firstWhole }, (_, key) => [key, all]));
  const listeners = new Map<number, () => void>();
  let least = 0;
  const become = (key: number, span: Span) => {
    if (span === none) spans.delete(key);
    else spans.set(key, span);
    listeners.get(key)?.();
  };
  const spanOf = (key: number): Span => spans.get(key) ?? (key < least && spans.get(least)?.from === 0 ? all : none);
  return {
    subscribe(key: number, listener: () => void): () => void {
      listeners.set(key, listener);
      return () => void (listeners.get(key) === listener && listeners.delete(key));
    },
    /** Rows that arrive above complete rows are complete at once: new rows at the top of the page must not flicker. */
    spanOf,
    firstSpanOf: (key: number) => (key >= 0 && key < firstWhole ? all : none),
    /** A visible row is not complete. */
    isCut: ({ from, to, first, last }: View) =>
      missed({ from, to, first: Math.max(first, from), last: Math.min(last, to) }, spanOf) !== undefined,
    /** Completes the row that is needed most; false if none is. */
    makeOne(view: View): boolean {
      for (let key = keyOf(view.first); key < least; key += 1) if (spanOf(key) === all) spans.set(key, all);
      least = keyOf(view.first);
      const place = missed(view, spanOf);
      if (place === undefined) return false;
      const key = keyOf(place);
      become(key, grown(spanOf(key), key * GROUP, place, view));
      return true;
    },
    /** Drops a group far from view; false if there is none. `mustStay`: the group contains the focus and must stay. */
    dropOne(view: View, mustStay: (key: number) => boolean): boolean {
      const key = [...spans.keys()].find((each) => isFar(each, view) && !mustStay(each));
      if (key !== undefined) become(key, none);
      return key !== undefined;
    },
  };
}

/** Grows by one row towards `place`; beyond the ends of the list the group counts as complete. */
function grown({ from, to }: Span, start: number, place: number, { first, last }: View): Span {
  const offset = place - start;
  const next = from === to ? { from: offset, to: offset + 1 } : offset < from ? { from: from - 1, to } : { from, to: to + 1 };
  const isWhole = next.from <= Math.max(0, first - start) && next.to >= Math.min(GROUP, last - start + 1);
  return isWhole ? all : next;
}

/** Visible rows from the top, then those below and above, up to a screen and to the end of a group: no group stays incomplete. */
function missed({ from, to, first, last }: View, spanOf: (key: number) => Span): number | undefined {
  const ahead = to - from + 1;
  const end = Math.min(last, (keyOf(to + ahead) + 1) * GROUP - 1);
  for (let place = from; place <= end;) {
    const start = keyOf(place) * GROUP;
    const span = spanOf(keyOf(place));
    if (!has(span, place - start)) return place;
    place = start + span.to;
  }
  const start = Math.max(first, keyOf(from - ahead) * GROUP);
  for (let place = from - 1; place >= start;) {
    const least = keyOf(place) * GROUP;
    const span = spanOf(keyOf(place));
    if (!has(span, place - least)) return place;
    place = least + span.from - 1;
  }
  return undefined;
}

/** Further away than rows are prepared, so that scrolling back and forth causes no work. */
function isFar(key: number, { from, to }: View): boolean {
  const far = (to - from + 1) * 1.5;
  return (key + 1) * GROUP < from - far || key * GROUP > to + far;
}
