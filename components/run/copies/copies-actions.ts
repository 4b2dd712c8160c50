// Actions on the copies of a run: start, stop, send the rest, look up outcomes after a reload.
// Guarantees: the work belongs to the tab, not to the page, and continues during navigation. The outcome of each copy is stored at once.

import { askToStay } from "@/components/ui/hooks/use-close-warning";
import { tabStorage } from "@/lib/browser/persisted";
import { createIdempotencyKey } from "@/lib/shared/text";
import { type RunStore } from "../run-store";
import { askAfter, type SubmitApi } from "../submit/attempt";
import { type OpenWorkflow } from "../workflow/opened-workflow";
import {
  type CopiesAction,
  type CopiesSet,
  forgetPlan,
  isOpen,
  isSendingCopies,
  keepCopies,
  keepPlan,
  readStoredCopies,
  readStoredPlan,
} from "./copies-state";
import { type CopiesOrder, type Planned, plannedOf, planOf, sendCopies, toCopyOutcome } from "./send-copies";

type RunContext = { memberId: string; connection?: string };
type Running = { planned: readonly Planned[]; stop: AbortController };

/** By the store that they report to, which outlives every page. */
const running = new WeakMap<RunStore, Running>();

export function createCopiesActions(store: RunStore, api: SubmitApi, context: RunContext) {
  const change = (copiesAct: CopiesAction) => {
    store.changeCopies(copiesAct);
    keepCopies(tabStorage, store.get().copies);
  };

  async function send(set: CopiesSet, planned: readonly Planned[]): Promise<void> {
    const stop = new AbortController();
    running.set(store, { planned, stop });
    const { id, memberId, workflowId, name, atMs, connection } = set;
    const open = new Set((store.get().copies?.copies ?? []).filter(isOpen).map(({ key }) => key));
    window.addEventListener("beforeunload", keepPage);
    const ending = await sendCopies(
      planned.filter(({ key }) => open.has(key)),
      {
        api,
        attempt: { memberId, workflowId, name, atMs, ...(connection !== undefined && { connection }) },
        batch: { id, size: planned.length },
        signal: stop.signal,
        onSending: (key) => change({ type: "sending", id, key }),
        onOutcome: (key, outcome) => change({ type: "outcome", id, key, outcome }),
        onWait: (waitMs) => change({ type: "waiting", id, waitMs }),
      },
    );
    window.removeEventListener("beforeunload", keepPage);
    change({ type: "ended", id, ending });
  }

  return {
    async begin(openWorkflow: OpenWorkflow, name: string, order: CopiesOrder): Promise<void> {
      if (isSendingCopies(store.get().copies)) return;
      const plan = planOf(openWorkflow, name, order);
      const copies = plan.copies.map(({ key, label }) => ({ key, label }));
      const set: CopiesSet = {
        ...context,
        id: createIdempotencyKey(),
        workflowId: openWorkflow.workflowId,
        name,
        atMs: Date.now(),
        copies,
        canResume: true,
      };
      change({ type: "begun", set });
      keepPlan(tabStorage, plan);
      await send(set, plannedOf(plan, order.inFile));
    },
    stop() {
      const { copies } = store.get();
      running.get(store)?.stop.abort();
      if (copies) change({ type: "stopping", id: copies.id });
    },
    async resume(): Promise<void> {
      const { copies } = store.get();
      const planned = running.get(store)?.planned;
      // Copies are sent on their own connection only, even while shown on another one.
      if (!copies?.ending || !planned || copies.connection !== context.connection) return;
      change({ type: "went-on", id: copies.id });
      await send(copies, planned);
    },
    /** These jobs were cancelled before they ran; some services forget such jobs. */
    cancelled(jobIds: readonly string[]) {
      const { copies } = store.get();
      if (copies && jobIds.length > 0) change({ type: "cancelled", id: copies.id, jobIds });
    },
    abandon() {
      forgetPlan(tabStorage);
      change({ type: "left" });
    },
    /** After a reload: looks up the copy that was being sent, and sends nothing. */
    async recall(): Promise<void> {
      if (store.get().copies) return;
      const set = readStoredCopies(tabStorage, context.memberId);
      if (!set) return;
      const plan = readStoredPlan(tabStorage, set);
      if (plan) running.set(store, { planned: plannedOf(plan), stop: new AbortController() });
      change({ type: "begun", set: { ...set, canResume: plan !== undefined } });
      for (const { key, isBegun, outcome } of set.copies) {
        if (!isBegun || outcome) continue;
        const { memberId, workflowId, name, atMs } = set;
        const runOutcome = await askAfter(api, { key, memberId, workflowId, name, atMs });
        change({ type: "outcome", id: set.id, key, outcome: toCopyOutcome(runOutcome) });
      }
    },
  };
}

/** While some copies are unsent, the browser warns before the page is closed. */
function keepPage(event: BeforeUnloadEvent): void {
  askToStay(event);
}
