import { useEffect, useRef, useState } from "react";
import { newActionKey, usePendingUndo } from "@/components/ui/hooks/use-pending-undo";
import { type Tone } from "@/components/ui/status-badge";
import { type AllPages, type Work } from "@/lib/browser/bulk/bulk-calls";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type Result } from "@/lib/shared/result";
import { createUuid } from "@/lib/shared/text";

export type BulkRequest<Action, Item> = { action: Action; items: readonly Item[] };
/** An action with the outcome of each item. `isCut`: not all items were included. */
type FinishedWork<Act, Item, Entry> = BulkRequest<Act, Item> & { entries: readonly Entry[]; isCut: boolean };

export type WorkPhase<Act, Item, Entry> =
  | ({ kind: "undoable" } & BulkRequest<Act, Item>)
  | { kind: "walking"; foundCount: number; waitMs?: number }
  | ({ kind: "working"; doneCount: number; isStopping?: boolean; waitMs?: number } & BulkRequest<Act, Item>)
  | ({ kind: "done" } & FinishedWork<Act, Item, Entry>)
  | { kind: "collected"; items: readonly Item[]; isCut: boolean }
  | { kind: "broken"; failure: ApiFailure };
/** One action, from start until its result is dismissed. */
export type WorkOf<Act, Item, Entry> = { key: number; phase: WorkPhase<Act, Item, Entry> };

type BulkWorkOptions<Act, Item, Query, Entry> = {
  connection: string | undefined;
  carryOut: (request: BulkRequest<Act, Item>, work: Work) => Promise<Entry[]>;
  walk?: (query: Query, work: Work) => Promise<Result<AllPages<Item>, ApiFailure>>;
  onDone: (action: Act, entries: readonly Entry[]) => void;
  onRestored: (action: Act, items: readonly Item[]) => void;
  /** Called if the page that would show the outcome was left. */
  onUnfinished: (entries: readonly Entry[]) => void;
  /** Actions continue after leaving the page. */
  outlivesPage?: boolean;
};

const neverAborted = new AbortController().signal;

/** Bulk actions that can be undone for a moment, can be stopped, and report each outcome. */
export function useBulkWork<Act, Item extends { id: string }, Entry extends { id: string }, Query = never>({
  connection,
  carryOut,
  walk: walkList,
  onDone,
  onRestored,
  onUnfinished,
  outlivesPage = false,
}: BulkWorkOptions<Act, Item, Query, Entry>) {
  type Phase = WorkPhase<Act, Item, Entry>;
  const [startedWorks, setStartedWorks] = useState<readonly WorkOf<Act, Item, Entry>[]>([]);
  const stopping = useRef(new Map<number, AbortController>());
  const isMounted = useRef(true);
  // After leaving the page, running calls finish but no others start.
  useEffect(() => {
    const all = stopping.current;
    isMounted.current = true;
    return () => {
      isMounted.current = false;
      if (!outlivesPage) for (const each of all.values()) each.abort();
    };
  }, [outlivesPage]);

  const setPhase = (key: number, phase: Phase) =>
    setStartedWorks((current) =>
      current.some((item) => item.key === key)
        ? current.map((item) => (item.key === key ? { key, phase } : item))
        : [...current, { key, phase }],
    );
  const change = (key: number, next: (phase: Phase) => Phase) =>
    setStartedWorks((current) => current.map((item) => (item.key === key ? { key, phase: next(item.phase) } : item)));
  const drop = (key: number) => setStartedWorks((current) => current.filter((item) => item.key !== key));

  function begin(key = newActionKey()): Work {
    const stop = new AbortController();
    stopping.current.set(key, stop);
    return {
      connection,
      act: createUuid(),
      signal: stop.signal,
      onDone: (count) => change(key, (now) => withProgress(now, count)),
      onWait: (waitMs) => change(key, (now) => (now.kind === "walking" || now.kind === "working" ? { ...now, waitMs } : now)),
    };
  }
  /** `before`: earlier outcomes, if some entries are retried. */
  async function run(
    request: BulkRequest<Act, Item>,
    { key = newActionKey(), isCut = false, before }: { key?: number; isCut?: boolean; before?: FinishedWork<Act, Item, Entry> } = {},
  ) {
    const { action, items } = request;
    setPhase(key, { kind: "working", action, items, doneCount: 0 });
    const entries = await carryOut(request, begin(key));
    stopping.current.delete(key);
    if (!isMounted.current) return onUnfinished(entries);
    const ids = new Set(items.map(({ id }) => id));
    const earlier = before?.entries.filter(({ id }) => !ids.has(id)) ?? [];
    setPhase(key, {
      kind: "done",
      action,
      items: before?.items ?? items,
      entries: [...earlier, ...entries],
      isCut: before?.isCut ?? isCut,
    });
    onDone(action, entries);
  }
  async function leave(request: BulkRequest<Act, Item>): Promise<void> {
    const silentWork = {
      connection,
      action: createUuid(),
      signal: neverAborted,
      onDone: () => undefined,
      onWait: () => undefined,
      isLeaving: true,
    };
    onUnfinished(await carryOut(request, silentWork));
  }
  const pending = usePendingUndo<BulkRequest<Act, Item>>(
    (request, isLeaving, key) => void (isLeaving ? leave(request) : run(request, { key })),
  );

  async function walk(key: number, query: Query): Promise<AllPages<Item> | undefined> {
    if (!walkList) return undefined;
    setPhase(key, { kind: "walking", foundCount: 0 });
    const work = begin(key);
    const walkResult = await walkList(query, work);
    // Stopped before anything was done, so nothing is reported.
    if (work.signal.aborted) drop(key);
    else if (!walkResult.ok) setPhase(key, { kind: "broken", failure: walkResult.failure });
    return work.signal.aborted || !walkResult.ok ? undefined : walkResult.value;
  }

  return {
    works: [
      ...startedWorks,
      ...pending.actions.map(({ key, payload }): WorkOf<Act, Item, Entry> => ({ key, phase: { kind: "undoable", ...payload } })),
    ],
    /** Does nothing without items or after leaving the page, since it could not be undone there. */
    schedule: (request: BulkRequest<Act, Item>) => {
      if (isMounted.current && request.items.length > 0) pending.schedule(request);
    },
    undo: (key: number) => {
      const pendingAction = pending.undo(key);
      if (pendingAction) onRestored(pendingAction.payload.action, pendingAction.payload.items);
    },
    /** Undoes one item; the other items of the action are still scheduled. */
    undoOne: (id: string) => {
      const pendingAction = pending.actions.find(({ payload }) => payload.items.some((item) => item.id === id));
      if (!pendingAction) return;
      const { action, items } = pendingAction.payload;
      const remainingItems = items.filter((item) => item.id !== id);
      if (remainingItems.length === 0) pending.undo(pendingAction.key);
      else pending.change(pendingAction.key, { action, items: remainingItems });
      onRestored(
        action,
        items.filter((item) => item.id === id),
      );
    },
    begin,
    run: (request: BulkRequest<Act, Item>) => run(request),
    /** Applies the action to all matching items that `isIncluded` accepts. */
    runAll: async (action: Act, query: Query, isIncluded: (item: Item) => boolean = () => true) => {
      const key = newActionKey();
      const walkResult = await walk(key, query);
      if (!walkResult) return;
      const items = walkResult.items.filter(isIncluded);
      // All results are reported elsewhere.
      if (items.length === 0 && walkResult.items.length > 0) drop(key);
      else await run({ action, items }, { key, isCut: walkResult.isCut });
    },
    /** Repeats the action for the entries that `isIncluded` accepts; the result keeps all entries. */
    retry: async (key: number, isIncluded: (entry: Entry) => boolean) => {
      const phase = startedWorks.find((item) => item.key === key)?.phase;
      if (phase?.kind !== "done") return;
      const ids = new Set(phase.entries.filter(isIncluded).map(({ id }) => id));
      await run({ action: phase.action, items: phase.items.filter(({ id }) => ids.has(id)) }, { key, before: phase });
    },
    collect: async (query: Query) => {
      const key = newActionKey();
      const walkResult = await walk(key, query);
      if (walkResult) setPhase(key, { kind: "collected", ...walkResult });
    },
    stop: (key: number) => {
      stopping.current.get(key)?.abort();
      change(key, (now) => (now.kind === "working" ? { ...now, isStopping: true } : now));
    },
    fail: (failure: ApiFailure) => setPhase(newActionKey(), { kind: "broken", failure }),
    dismiss: drop,
    /** Dismisses results of finished actions when a new one begins. */
    dismissEnded: () => setStartedWorks((current) => current.filter(({ phase: { kind } }) => kind === "walking" || kind === "working")),
  };
}

function withProgress<Act, Item, Entry>(phase: WorkPhase<Act, Item, Entry>, count: number): WorkPhase<Act, Item, Entry> {
  if (phase.kind === "walking") return { ...phase, foundCount: phase.foundCount + count };
  return phase.kind === "working" ? { ...phase, doneCount: phase.doneCount + count } : phase;
}

type Words<Outcome> = { getText: (result: { outcome: Outcome; count: number }) => string; getTone: (outcome: Outcome) => Tone };

/** Counts outcomes in the order of `outcomes`; the first sets the tone. */
export function summarize<Outcome extends string>(
  outcomes: readonly Outcome[],
  entries: readonly { outcome: Outcome }[],
  { getText, getTone }: Words<Outcome>,
): { text: string; tone: Tone } {
  const counts = new Map<Outcome, number>();
  for (const { outcome } of entries) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  const presentOutcomes = outcomes.filter((outcome) => counts.has(outcome));
  const [first] = presentOutcomes;
  return {
    text: presentOutcomes.map((outcome) => getText({ outcome, count: counts.get(outcome) ?? 0 })).join(", "),
    tone: first === undefined ? "off" : getTone(first),
  };
}
