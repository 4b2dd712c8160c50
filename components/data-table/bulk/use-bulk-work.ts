import { useEffect, useRef, useState } from "react";
import { newActKey, usePendingUndo } from "@/components/ui/hooks/use-pending-undo";
import { type Tone } from "@/components/ui/status-badge";
import { type Walked, type Work } from "@/lib/browser/bulk/bulk-calls";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type Result } from "@/lib/shared/result";
import { newUuid } from "@/lib/shared/text";

export type Meant<Act, Item> = { act: Act; items: readonly Item[] };
/** The act, and the outcome for each item. `isCut`: there are more items. */
type Done<Act, Item, Entry> = Meant<Act, Item> & { entries: readonly Entry[]; isCut: boolean };

export type WorkPhase<Act, Item, Entry> =
  /** Will be carried out in a moment. */
  | ({ kind: "undoable" } & Meant<Act, Item>)
  | { kind: "walking"; found: number; waitMs?: number }
  | ({ kind: "working"; done: number; isStopping?: boolean; waitMs?: number } & Meant<Act, Item>)
  | ({ kind: "done" } & Done<Act, Item, Entry>)
  | { kind: "collected"; items: readonly Item[]; isCut: boolean }
  | { kind: "broken"; failure: ApiFailure };
/** One act, from its beginning until its receipt is dismissed. */
export type WorkOf<Act, Item, Entry> = { key: number; phase: WorkPhase<Act, Item, Entry> };

type Choices<Act, Item, Query, Entry> = {
  connection: string | undefined;
  carryOut: (meant: Meant<Act, Item>, work: Work) => Promise<Entry[]>;
  walk?: (query: Query, work: Work) => Promise<Result<Walked<Item>, ApiFailure>>;
  onDone: (act: Act, entries: readonly Entry[]) => void;
  /** The act was undone in time. */
  onBack: (act: Act, items: readonly Item[]) => void;
  /** Called if the page that would show the outcome was left. */
  onLeft: (entries: readonly Entry[]) => void;
};

const forever = new AbortController().signal;

/** Acts on many things, each separately: they can be undone for a moment, are then carried out, can be stopped, and report each outcome. */
export function useBulkWork<Act, Item extends { id: string }, Entry extends { id: string }, Query = never>({
  connection,
  carryOut,
  walk: walkList,
  onDone,
  onBack,
  onLeft,
}: Choices<Act, Item, Query, Entry>) {
  type Phase = WorkPhase<Act, Item, Entry>;
  const [begun, setBegun] = useState<readonly WorkOf<Act, Item, Entry>[]>([]);
  const stopping = useRef(new Map<number, AbortController>());
  const isThere = useRef(true);
  // Leaving the page lets the running calls finish, and starts no others.
  useEffect(() => {
    const all = stopping.current;
    isThere.current = true;
    return () => {
      isThere.current = false;
      for (const each of all.values()) each.abort();
    };
  }, []);

  const put = (key: number, phase: Phase) =>
    setBegun((now) =>
      now.some((one) => one.key === key) ? now.map((one) => (one.key === key ? { key, phase } : one)) : [...now, { key, phase }],
    );
  const change = (key: number, next: (phase: Phase) => Phase) =>
    setBegun((now) => now.map((one) => (one.key === key ? { key, phase: next(one.phase) } : one)));
  const drop = (key: number) => setBegun((now) => now.filter((one) => one.key !== key));

  function begin(key = newActKey()): Work {
    const stop = new AbortController();
    stopping.current.set(key, stop);
    return {
      connection,
      act: newUuid(),
      signal: stop.signal,
      onDone: (count) => change(key, (now) => advanced(now, count)),
      onWait: (waitMs) => change(key, (now) => (now.kind === "walking" || now.kind === "working" ? { ...now, waitMs } : now)),
    };
  }
  /** `before`: earlier outcomes, when some entries are tried again. */
  async function run(
    meant: Meant<Act, Item>,
    { key = newActKey(), isCut = false, before }: { key?: number; isCut?: boolean; before?: Done<Act, Item, Entry> } = {},
  ) {
    const { act, items } = meant;
    put(key, { kind: "working", act, items, done: 0 });
    const entries = await carryOut(meant, begin(key));
    stopping.current.delete(key);
    if (!isThere.current) return onLeft(entries);
    const ids = new Set(items.map(({ id }) => id));
    const earlier = before?.entries.filter(({ id }) => !ids.has(id)) ?? [];
    put(key, { kind: "done", act, items: before?.items ?? items, entries: [...earlier, ...entries], isCut: before?.isCut ?? isCut });
    onDone(act, entries);
  }
  async function leave(meant: Meant<Act, Item>): Promise<void> {
    const silent = { connection, act: newUuid(), signal: forever, onDone: () => undefined, onWait: () => undefined, isLeaving: true };
    onLeft(await carryOut(meant, silent));
  }
  const pending = usePendingUndo<Meant<Act, Item>>((meant, isLeaving, key) => void (isLeaving ? leave(meant) : run(meant, { key })));

  async function walk(key: number, query: Query): Promise<Walked<Item> | undefined> {
    if (!walkList) return undefined;
    put(key, { kind: "walking", found: 0 });
    const work = begin(key);
    const walked = await walkList(query, work);
    // Stopped before anything was done: there is nothing to report.
    if (work.signal.aborted) drop(key);
    else if (!walked.ok) put(key, { kind: "broken", failure: walked.failure });
    return work.signal.aborted || !walked.ok ? undefined : walked.value;
  }

  return {
    works: [...begun, ...pending.acts.map(({ key, what }): WorkOf<Act, Item, Entry> => ({ key, phase: { kind: "undoable", ...what } }))],
    /** Does nothing without items. */
    schedule: (meant: Meant<Act, Item>) => {
      if (meant.items.length > 0) pending.schedule(meant);
    },
    undo: (key: number) => {
      const taken = pending.undo(key);
      if (taken) onBack(taken.what.act, taken.what.items);
    },
    /** Undoes this one alone; the other items of the act stay scheduled. */
    undoOne: (id: string) => {
      const found = pending.acts.find(({ what }) => what.items.some((item) => item.id === id));
      if (!found) return;
      const { act, items } = found.what;
      const left = items.filter((item) => item.id !== id);
      if (left.length === 0) pending.undo(found.key);
      else pending.change(found.key, { act, items: left });
      onBack(
        act,
        items.filter((item) => item.id === id),
      );
    },
    begin,
    run: (meant: Meant<Act, Item>) => run(meant),
    /** Acts on all that match: reads them first, then acts on those that `isMeant` accepts. */
    runAll: async (act: Act, query: Query, isMeant: (item: Item) => boolean = () => true) => {
      const key = newActKey();
      const walked = await walk(key, query);
      if (!walked) return;
      const items = walked.items.filter(isMeant);
      // All of them are reported elsewhere.
      if (items.length === 0 && walked.items.length > 0) drop(key);
      else await run({ act, items }, { key, isCut: walked.isCut });
    },
    /** Repeats the act for the entries that `isMeant` accepts; the receipt keeps all entries. */
    again: async (key: number, isMeant: (entry: Entry) => boolean) => {
      const phase = begun.find((one) => one.key === key)?.phase;
      if (phase?.kind !== "done") return;
      const ids = new Set(phase.entries.filter(isMeant).map(({ id }) => id));
      await run({ act: phase.act, items: phase.items.filter(({ id }) => ids.has(id)) }, { key, before: phase });
    },
    /** Collects names and ids for the clipboard. */
    collect: async (query: Query) => {
      const key = newActKey();
      const walked = await walk(key, query);
      if (walked) put(key, { kind: "collected", ...walked });
    },
    /** Running calls are finished. */
    stop: (key: number) => {
      stopping.current.get(key)?.abort();
      change(key, (now) => (now.kind === "working" ? { ...now, isStopping: true } : now));
    },
    fail: (failure: ApiFailure) => put(newActKey(), { kind: "broken", failure }),
    dismiss: drop,
    /** Removes the results of finished acts, when a new act begins. */
    dismissEnded: () => setBegun((now) => now.filter(({ phase: { kind } }) => kind === "walking" || kind === "working")),
  };
}

function advanced<Act, Item, Entry>(phase: WorkPhase<Act, Item, Entry>, count: number): WorkPhase<Act, Item, Entry> {
  if (phase.kind === "walking") return { ...phase, found: phase.found + count };
  return phase.kind === "working" ? { ...phase, done: phase.done + count } : phase;
}

type Words<Outcome> = { textOf: (counted: { outcome: Outcome; count: number }) => string; toneOf: (outcome: Outcome) => Tone };

/** How often each outcome occurred, in the order of `outcomes`; the first of them gives the line its tone. */
export function summarize<Outcome extends string>(
  outcomes: readonly Outcome[],
  entries: readonly { outcome: Outcome }[],
  { textOf, toneOf }: Words<Outcome>,
): { text: string; tone: Tone } {
  const counts = new Map<Outcome, number>();
  for (const { outcome } of entries) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  const came = outcomes.filter((outcome) => counts.has(outcome));
  const [first] = came;
  return {
    text: came.map((outcome) => textOf({ outcome, count: counts.get(outcome) ?? 0 })).join(", "),
    tone: first === undefined ? "off" : toneOf(first),
  };
}
