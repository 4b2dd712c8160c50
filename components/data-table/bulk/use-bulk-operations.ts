import { useEffect, useRef, useState } from "react";
import { createActionKey, usePendingUndo } from "@/components/ui/hooks/use-pending-undo";
import { type Tone } from "@/components/ui/status-badge";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { type AllPages, type BulkCallContext } from "@/lib/browser/bulk/bulk-calls";
import { type Result } from "@/lib/shared/result";
import { createUuid } from "@/lib/shared/text";

export type BulkRequest<Action, Item> = { action: Action; items: readonly Item[] };
/** An action with the outcome of each item. `isTruncated`: not all items were included. */
type FinishedOperation<Action, Item, Entry> = BulkRequest<Action, Item> & { entries: readonly Entry[]; isTruncated: boolean };

export type OperationPhase<Action, Item, Entry> =
  | ({ kind: "undoable" } & BulkRequest<Action, Item>)
  | { kind: "walking"; foundCount: number; waitMs?: number }
  | ({ kind: "working"; doneCount: number; isStopping?: boolean; waitMs?: number } & BulkRequest<Action, Item>)
  | ({ kind: "done" } & FinishedOperation<Action, Item, Entry>)
  | { kind: "collected"; items: readonly Item[]; isTruncated: boolean }
  | { kind: "broken"; failure: ApiFailure };
/** One action, from start until its result is dismissed. */
export type BulkOperation<Action, Item, Entry> = { key: number; phase: OperationPhase<Action, Item, Entry> };

type BulkOperationsOptions<Action, Item, Query, Entry> = {
  connection: string | undefined;
  execute: (request: BulkRequest<Action, Item>, context: BulkCallContext) => Promise<Entry[]>;
  walk?: (query: Query, context: BulkCallContext) => Promise<Result<AllPages<Item>, ApiFailure>>;
  onDone: (action: Action, entries: readonly Entry[]) => void;
  onRestored: (action: Action, items: readonly Item[]) => void;
  /** Called if the user leaves the page before the outcome is shown. */
  onUnfinished: (entries: readonly Entry[]) => void;
  /** Actions continue after leaving the page. */
  shouldOutlivePage?: boolean;
};

const neverAbortedSignal = new AbortController().signal;

/** Runs bulk actions that can be undone for a few seconds or stopped, and reports the outcome of each item. */
export function useBulkOperations<Action, Item extends { id: string }, Entry extends { id: string }, Query = never>({
  connection,
  execute,
  walk,
  onDone,
  onRestored,
  onUnfinished,
  shouldOutlivePage = false,
}: BulkOperationsOptions<Action, Item, Query, Entry>) {
  type Phase = OperationPhase<Action, Item, Entry>;
  const [startedOperations, setStartedOperations] = useState<readonly BulkOperation<Action, Item, Entry>[]>([]);
  const abortControllers = useRef(new Map<number, AbortController>());
  const isMounted = useRef(true);
  // After leaving the page, running calls finish but no others start.
  useEffect(() => {
    const controllers = abortControllers.current;
    isMounted.current = true;
    return () => {
      isMounted.current = false;
      if (!shouldOutlivePage) for (const controller of controllers.values()) controller.abort();
    };
  }, [shouldOutlivePage]);

  const setPhase = (key: number, phase: Phase) =>
    setStartedOperations((current) =>
      current.some((operation) => operation.key === key)
        ? current.map((operation) => (operation.key === key ? { key, phase } : operation))
        : [...current, { key, phase }],
    );
  const updatePhase = (key: number, update: (phase: Phase) => Phase) =>
    setStartedOperations((current) =>
      current.map((operation) => (operation.key === key ? { key, phase: update(operation.phase) } : operation)),
    );
  const removeOperation = (key: number) => setStartedOperations((current) => current.filter((operation) => operation.key !== key));

  function begin(key = createActionKey()): BulkCallContext {
    const controller = new AbortController();
    abortControllers.current.set(key, controller);
    return {
      connection,
      action: createUuid(),
      signal: controller.signal,
      onProgress: (count) => updatePhase(key, (phase) => withProgress(phase, count)),
      onWait: (waitMs) =>
        updatePhase(key, (phase) => (phase.kind === "walking" || phase.kind === "working" ? { ...phase, waitMs } : phase)),
    };
  }
  /** `previousOperation`: the earlier outcomes when some entries are retried. */
  async function run(
    request: BulkRequest<Action, Item>,
    {
      key = createActionKey(),
      isTruncated = false,
      previousOperation,
    }: { key?: number; isTruncated?: boolean; previousOperation?: FinishedOperation<Action, Item, Entry> } = {},
  ) {
    const { action, items } = request;
    setPhase(key, { kind: "working", action, items, doneCount: 0 });
    const entries = await execute(request, begin(key));
    abortControllers.current.delete(key);
    if (!isMounted.current) return onUnfinished(entries);
    const ids = new Set(items.map(({ id }) => id));
    const earlierEntries = previousOperation?.entries.filter(({ id }) => !ids.has(id)) ?? [];
    setPhase(key, {
      kind: "done",
      action,
      items: previousOperation?.items ?? items,
      entries: [...earlierEntries, ...entries],
      isTruncated: previousOperation?.isTruncated ?? isTruncated,
    });
    onDone(action, entries);
  }
  async function runOnPageLeave(request: BulkRequest<Action, Item>): Promise<void> {
    const context = {
      connection,
      action: createUuid(),
      signal: neverAbortedSignal,
      onProgress: () => undefined,
      onWait: () => undefined,
      isLeaving: true,
    };
    onUnfinished(await execute(request, context));
  }
  const pendingUndo = usePendingUndo<BulkRequest<Action, Item>>(
    (request, isLeaving, key) => void (isLeaving ? runOnPageLeave(request) : run(request, { key })),
  );

  async function fetchAllItems(key: number, query: Query): Promise<AllPages<Item> | undefined> {
    if (!walk) return undefined;
    setPhase(key, { kind: "walking", foundCount: 0 });
    const context = begin(key);
    const result = await walk(query, context);
    abortControllers.current.delete(key);
    // The action was stopped before it changed anything, so there is nothing to report.
    if (context.signal.aborted) removeOperation(key);
    else if (!result.ok) setPhase(key, { kind: "broken", failure: result.failure });
    return context.signal.aborted || !result.ok ? undefined : result.value;
  }

  return {
    operations: [
      ...startedOperations,
      ...pendingUndo.actions.map(({ key, payload }): BulkOperation<Action, Item, Entry> => ({
        key,
        phase: { kind: "undoable", ...payload },
      })),
    ],
    /** Does nothing if there are no items, or after leaving the page, where Undo is not available. */
    schedule: (request: BulkRequest<Action, Item>) => {
      if (isMounted.current && request.items.length > 0) pendingUndo.schedule(request);
    },
    undo: (key: number) => {
      const pendingAction = pendingUndo.undo(key);
      if (pendingAction) onRestored(pendingAction.payload.action, pendingAction.payload.items);
    },
    /** Undoes one item; the other items of the action are still scheduled. */
    undoOne: (id: string) => {
      const pendingAction = pendingUndo.actions.find(({ payload }) => payload.items.some((item) => item.id === id));
      if (!pendingAction) return;
      const { action, items } = pendingAction.payload;
      const remainingItems = items.filter((item) => item.id !== id);
      if (remainingItems.length === 0) pendingUndo.undo(pendingAction.key);
      else pendingUndo.change(pendingAction.key, { action, items: remainingItems });
      onRestored(
        action,
        items.filter((item) => item.id === id),
      );
    },
    begin,
    run: (request: BulkRequest<Action, Item>) => run(request),
    /** Applies the action to all matching items that `isIncluded` accepts. */
    runAll: async (action: Action, query: Query, isIncluded: (item: Item) => boolean = () => true) => {
      const key = createActionKey();
      const pages = await fetchAllItems(key, query);
      if (!pages) return;
      const items = pages.items.filter(isIncluded);
      // All found items were excluded, which the caller reports.
      if (items.length === 0 && pages.items.length > 0) removeOperation(key);
      else await run({ action, items }, { key, isTruncated: pages.isTruncated });
    },
    /** Repeats the action for the entries that `isIncluded` accepts; the result keeps all entries. */
    retry: async (key: number, isIncluded: (entry: Entry) => boolean) => {
      const phase = startedOperations.find((operation) => operation.key === key)?.phase;
      if (phase?.kind !== "done") return;
      const ids = new Set(phase.entries.filter(isIncluded).map(({ id }) => id));
      await run({ action: phase.action, items: phase.items.filter(({ id }) => ids.has(id)) }, { key, previousOperation: phase });
    },
    collect: async (query: Query) => {
      const key = createActionKey();
      const pages = await fetchAllItems(key, query);
      if (pages) setPhase(key, { kind: "collected", ...pages });
    },
    stop: (key: number) => {
      abortControllers.current.get(key)?.abort();
      updatePhase(key, (phase) => (phase.kind === "working" ? { ...phase, isStopping: true } : phase));
    },
    fail: (failure: ApiFailure) => setPhase(createActionKey(), { kind: "broken", failure }),
    dismiss: removeOperation,
    /** Dismisses results of finished actions when a new one begins. */
    dismissEnded: () =>
      setStartedOperations((current) => current.filter(({ phase: { kind } }) => kind === "walking" || kind === "working")),
  };
}

function withProgress<Action, Item, Entry>(phase: OperationPhase<Action, Item, Entry>, count: number): OperationPhase<Action, Item, Entry> {
  if (phase.kind === "walking") return { ...phase, foundCount: phase.foundCount + count };
  return phase.kind === "working" ? { ...phase, doneCount: phase.doneCount + count } : phase;
}

type OutcomePresentation<Outcome> = {
  getText: (result: { outcome: Outcome; count: number }) => string;
  getTone: (outcome: Outcome) => Tone;
};

/** Counts outcomes in the order of `outcomes`. The first one sets the tone. */
export function summarize<Outcome extends string>(
  outcomes: readonly Outcome[],
  entries: readonly { outcome: Outcome }[],
  { getText, getTone }: OutcomePresentation<Outcome>,
): { text: string; tone: Tone } {
  const counts = new Map<Outcome, number>();
  for (const { outcome } of entries) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  const presentOutcomes = outcomes.filter((outcome) => counts.has(outcome));
  const [firstOutcome] = presentOutcomes;
  return {
    text: presentOutcomes.map((outcome) => getText({ outcome, count: counts.get(outcome) ?? 0 })).join(", "),
    tone: firstOutcome === undefined ? "off" : getTone(firstOutcome),
  };
}
