import { type RefObject, useEffect, useState } from "react";
import { flushSync } from "react-dom";

/** Rows are laid out and painted in groups: a new row causes work for its own group only. */
export const GROUP = 10;

/** Rendered by the server: more than a tall screen holds. */
const FIRST_ROWS = 30;
/** The time for making rows in a frame: the browser needs as much again to lay them out and paint them. */
const SHARE_MS = 4;
/** While visible rows are missing, rendering rows takes precedence over frames. */
const URGENT_SHARE_MS = 8;

/** Renders the rows near the screen, as many per frame as the machine can without missing the next one. */
export function useRowWindow<Row>(table: RefObject<HTMLTableElement | null>, grouped: Grouped<Row>): RowWindow {
  const [rowWindow] = useState(() => createRowWindow(FIRST_ROWS / GROUP));
  useEffect(() => {
    let frame = 0;
    const mustStay = (key: number) => document.activeElement?.closest("tbody")?.dataset.group === String(key);
    const look = () => {
      frame = 0;
      const view = viewOf(table.current, grouped);
      if (view && work(rowWindow, view, mustStay)) scheduleUpdate();
    };
    const scheduleUpdate = () => {
      frame ||= requestAnimationFrame(look);
    };
    scheduleUpdate();
    window.addEventListener("scroll", scheduleUpdate, { passive: true });
    window.addEventListener("resize", scheduleUpdate, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      window.removeEventListener("scroll", scheduleUpdate);
      window.removeEventListener("resize", scheduleUpdate);
    };
  }, [table, grouped, rowWindow]);
  return rowWindow;
}

/** Runs a frame's share of the work and returns whether more remains. Groups are dropped only when no rows are missing. */
function work(rowWindow: RowWindow, view: View, mustStay: (key: number) => boolean): boolean {
  const untilMs = performance.now() + (rowWindow.isCut(view) ? URGENT_SHARE_MS : SHARE_MS);
  let madeCount = 0;
  // One group at a time, since two take longer than a frame on a slow machine.
  const make = () => flushSync(() => rowWindow.makeOne(view));
  while ((madeCount === 0 || performance.now() < untilMs) && make()) madeCount += 1;
  return madeCount > 0 || rowWindow.dropOne(view, mustStay);
}

function viewOf<Row>(table: HTMLTableElement | null, { rows, base, groups }: Grouped<Row>): View | undefined {
  const top = table?.tBodies[0]?.getBoundingClientRect().top;
  const bottom = table?.tBodies[groups.length - 1]?.getBoundingClientRect().bottom;
  if (top === undefined || bottom === undefined || bottom <= top) return undefined;
  const rowPx = (bottom - top) / rows.length;
  return viewAt({ top, rowPx, screenPx: window.innerHeight, count: rows.length, base });
}

type ScrollGeometry = { top: number; rowPx: number; screenPx: number; count: number; base: number };

/** `top`: the first row's distance from the screen's upper edge. */
export function viewAt({ top, rowPx, screenPx, count, base }: ScrollGeometry): View {
  const indexAt = (px: number) => base + Math.min(count - 1, Math.max(0, Math.floor(px / rowPx)));
  return { from: indexAt(-top), to: indexAt(screenPx - top), first: base, last: base + count - 1 };
}

// The complete rows are outside React's state: a new row renders only its group. Visible rows come first, then near ones, one at a time, so
// that the caller can stop within its share of the frame.

export type View = {
  from: number;
  to: number;
  first: number;
  last: number;
};

type Span = { from: number; to: number };

export type RowWindow = ReturnType<typeof createRowWindow>;

const none: Span = { from: 0, to: 0 };
const all: Span = { from: 0, to: GROUP };
const keyOf = (index: number) => Math.floor(index / GROUP);
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
      firstMissingGroup({ from, to, first: Math.max(first, from), last: Math.min(last, to) }, spanOf) !== undefined,
    /** Completes the most needed row; false if none. */
    makeOne(view: View): boolean {
      for (let key = keyOf(view.first); key < least; key += 1) if (spanOf(key) === all) spans.set(key, all);
      least = keyOf(view.first);
      const missedIndex = firstMissingGroup(view, spanOf);
      if (missedIndex === undefined) return false;
      const key = keyOf(missedIndex);
      become(key, grown(spanOf(key), key * GROUP, missedIndex, view));
      return true;
    },
    /** Drops a group far from view and returns false if there is none. A `mustStay` group contains the focus. */
    dropOne(view: View, mustStay: (key: number) => boolean): boolean {
      const key = [...spans.keys()].find((each) => isFar(each, view) && !mustStay(each));
      if (key !== undefined) become(key, none);
      return key !== undefined;
    },
  };
}

/** Grows by one row towards `place`; beyond the ends of the list the group counts as complete. */
function grown({ from, to }: Span, start: number, index: number, { first, last }: View): Span {
  const offset = index - start;
  const next = from === to ? { from: offset, to: offset + 1 } : offset < from ? { from: from - 1, to } : { from, to: to + 1 };
  const isWhole = next.from <= Math.max(0, first - start) && next.to >= Math.min(GROUP, last - start + 1);
  return isWhole ? all : next;
}

/** Renders visible rows from the top, then up to a screen below and above, in whole groups. */
function firstMissingGroup({ from, to, first, last }: View, spanOf: (key: number) => Span): number | undefined {
  const ahead = to - from + 1;
  const end = Math.min(last, (keyOf(to + ahead) + 1) * GROUP - 1);
  for (let index = from; index <= end;) {
    const start = keyOf(index) * GROUP;
    const span = spanOf(keyOf(index));
    if (!has(span, index - start)) return index;
    index = start + span.to;
  }
  const start = Math.max(first, keyOf(from - ahead) * GROUP);
  for (let index = from - 1; index >= start;) {
    const least = keyOf(index) * GROUP;
    const span = spanOf(keyOf(index));
    if (!has(span, index - least)) return index;
    index = least + span.from - 1;
  }
  return undefined;
}

/** Further away than rows are prepared, so that scrolling back and forth causes no work. */
function isFar(key: number, { from, to }: View): boolean {
  const maxDistance = (to - from + 1) * 1.5;
  return (key + 1) * GROUP < from - maxDistance || key * GROUP > to + maxDistance;
}

/** `key` stays with its rows: new rows above get groups of their own. `first`: its index in the list; `offset`: its first row within it. */
export type RowGroup<Row> = { key: number; first: number; offset: number; rows: readonly Row[] };
/** `base`: the first row's position on an endless line, on which rows keep their positions. */
export type Grouped<Row> = { rows: readonly Row[]; base: number; groups: readonly RowGroup<Row>[] };

const noGroups: Grouped<never> = { rows: [], base: 0, groups: [] };

/** Unchanged rows reuse their groups, so changing one row of a thousand renders one group. */
export function groupRows<Row>(rows: readonly Row[], idOf: (row: Row) => string, before: Grouped<Row> = noGroups): Grouped<Row> {
  const base = baseOf(rows, idOf, before);
  const groupsByKey = new Map(before.groups.map((group) => [group.key, group]));
  const groups: RowGroup<Row>[] = [];
  for (let from = 0; from < rows.length;) {
    const key = Math.floor((base + from) / GROUP);
    const to = Math.min(rows.length, (key + 1) * GROUP - base);
    const last = groupsByKey.get(key);
    const windowRows = rows.slice(from, to);
    const isSame = last?.rows.length === windowRows.length && last.rows.every((row, at) => row === windowRows[at]);
    groups.push(isSame && last.first === from ? last : { key, first: from, offset: base + from - key * GROUP, rows: windowRows });
    from = to;
  }
  return { rows, base, groups };
}

function baseOf<Row>(rows: readonly Row[], idOf: (row: Row) => string, before: Grouped<Row>): number {
  const indexById = new Map(before.rows.map((row, at) => [idOf(row), at]));
  for (const [at, row] of rows.entries()) {
    const was = indexById.get(idOf(row));
    if (was !== undefined) return before.base + was - at;
  }
  return 0;
}
