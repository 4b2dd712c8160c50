"use client";

import { useEffect, useRef, useState } from "react";
import { useHeld } from "@/components/ui/use-held";
import { type Work } from "@/lib/browser/patient-call";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type Walked } from "@/lib/browser/walk-pages";
import { type Result } from "@/lib/shared/result";

export type Meant<Act, Item> = { act: Act; items: readonly Item[] };
/** What was meant, and what became of each. `isCut`: there are more. */
type Done<Act, Item, Entry> = Meant<Act, Item> & { entries: readonly Entry[]; isCut: boolean };

export type WorkPhase<Act, Item, Entry> =
  | { kind: "idle" }
  | { kind: "walking"; found: number; waitMs?: number }
  | { kind: "working"; act: Act; done: number; total: number; isStopping?: boolean; waitMs?: number }
  | ({ kind: "done" } & Done<Act, Item, Entry>)
  | { kind: "collected"; items: readonly Item[]; isCut: boolean }
  | { kind: "broken"; failure: ApiFailure };

type Choices<Act, Item, Query, Entry> = {
  connection: string | undefined;
  carryOut: (meant: Meant<Act, Item>, work: Work) => Promise<Entry[]>;
  walk: (query: Query, work: Work) => Promise<Result<Walked<Item>, ApiFailure>>;
  onDone: (act: Act, entries: readonly Entry[]) => void;
  /** The page is gone that would have said it. */
  onLeft: (entries: readonly Entry[]) => void;
};

const forever = new AbortController().signal;

/** One act on many things at a time: held for a moment where it is meant to be, then carried out, stopped, and told thing by thing. */
export function useBulkWork<Act, Item extends { id: string }, Query, Entry extends { id: string }>({
  connection,
  carryOut,
  walk: walkList,
  onDone,
  onLeft,
}: Choices<Act, Item, Query, Entry>) {
  const [phase, setPhase] = useState<WorkPhase<Act, Item, Entry>>({ kind: "idle" });
  const stopping = useRef<AbortController>(undefined);
  const isThere = useRef(true);
  // Leaving the page lets the calls under way finish, and begins no others.
  useEffect(() => {
    isThere.current = true;
    return () => {
      isThere.current = false;
      stopping.current?.abort();
    };
  }, []);

  function begin(): Work {
    stopping.current = new AbortController();
    return {
      connection,
      signal: stopping.current.signal,
      onDone: (count) => setPhase((now) => advanced(now, count)),
      onWait: (waitMs) => setPhase((now) => (now.kind === "walking" || now.kind === "working" ? { ...now, waitMs } : now)),
    };
  }
  /** `before`: what was told already, when some of it is tried again. */
  async function run(meant: Meant<Act, Item>, { isCut = false, before }: { isCut?: boolean; before?: Done<Act, Item, Entry> } = {}) {
    const { act, items } = meant;
    setPhase({ kind: "working", act, done: 0, total: items.length });
    const entries = await carryOut(meant, begin());
    if (!isThere.current) return onLeft(entries);
    const ids = new Set(items.map(({ id }) => id));
    const earlier = before?.entries.filter(({ id }) => !ids.has(id)) ?? [];
    setPhase({ kind: "done", act, items: before?.items ?? items, entries: [...earlier, ...entries], isCut: before?.isCut ?? isCut });
    onDone(act, entries);
  }
  async function leave(meant: Meant<Act, Item>): Promise<void> {
    const silent = { connection, signal: forever, onDone: () => undefined, onWait: () => undefined, isLeaving: true };
    onLeft(await carryOut(meant, silent));
  }
  const { held, hold, undo } = useHeld<Meant<Act, Item>>((meant, isLeaving) => void (isLeaving ? leave(meant) : run(meant)));

  async function walk(query: Query): Promise<Walked<Item> | undefined> {
    setPhase({ kind: "walking", found: 0 });
    const work = begin();
    const walked = await walkList(query, work);
    // Stopped before anything was done: nothing needs to be told.
    if (work.signal.aborted) setPhase({ kind: "idle" });
    else if (!walked.ok) setPhase({ kind: "broken", failure: walked.failure });
    return work.signal.aborted || !walked.ok ? undefined : walked.value;
  }

  return {
    phase,
    /** Carried out in a moment. */
    held,
    hold,
    undo,
    begin,
    run: (meant: Meant<Act, Item>) => run(meant),
    /** All that match: read first, then acted on. */
    runAll: async (act: Act, query: Query) => {
      const walked = await walk(query);
      if (walked) await run({ act, items: walked.items }, walked);
    },
    /** Those of what was done that this holds for, once more; the receipt stays whole. */
    again: async (isMeant: (entry: Entry) => boolean) => {
      if (phase.kind !== "done") return;
      const ids = new Set(phase.entries.filter(isMeant).map(({ id }) => id));
      await run({ act: phase.act, items: phase.items.filter(({ id }) => ids.has(id)) }, { before: phase });
    },
    /** Their names and ids, for the clipboard. */
    collect: async (query: Query) => {
      const walked = await walk(query);
      if (walked) setPhase({ kind: "collected", ...walked });
    },
    /** What is in flight comes to its end. */
    stop: () => {
      stopping.current?.abort();
      setPhase((now) => (now.kind === "working" ? { ...now, isStopping: true } : now));
    },
    fail: (failure: ApiFailure) => setPhase({ kind: "broken", failure }),
    dismiss: () => setPhase({ kind: "idle" }),
  };
}

function advanced<Act, Item, Entry>(phase: WorkPhase<Act, Item, Entry>, count: number): WorkPhase<Act, Item, Entry> {
  if (phase.kind === "walking") return { ...phase, found: phase.found + count };
  return phase.kind === "working" ? { ...phase, done: phase.done + count } : phase;
}
