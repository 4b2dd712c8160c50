// Actions on the copies of a run: start, stop, resume, and look up outcomes after a reload.
// Guarantees: sending continues during navigation, since it belongs to the tab. Each copy's outcome is stored immediately.

import { warnBeforeLeaving } from "@/components/ui/hooks/page-events";
import { tabStorage } from "@/lib/browser/persisted";
import { createIdempotencyKey } from "@/lib/shared/text";
import { type RunStore } from "../run-store";
import { lookUpOutcome, type SubmitApi } from "../submit/attempt";
import { type OpenWorkflow } from "../workflow/opened-workflow";
import {
  type CopiesAction,
  type CopiesSet,
  deletePlan,
  isOpen,
  isSendingCopies,
  readStoredCopies,
  readStoredPlan,
  storeCopies,
  storePlan,
} from "./copies-state";
import { type CopiesOrder, planCopies, type Planned, sendCopies, toCopyOutcome, toPlannedCopies } from "./send-copies";

type RunContext = { memberId: string; connection?: string };
type Running = { planned: readonly Planned[]; stop: AbortController };

/** Keyed by the store that they report to, which outlives every page. */
const runningByStore = new WeakMap<RunStore, Running>();

export function createCopiesActions(store: RunStore, api: SubmitApi, context: RunContext) {
  const change = (action: CopiesAction) => {
    store.changeCopies(action);
    storeCopies(tabStorage, store.get().copies);
  };

  async function send(set: CopiesSet, planned: readonly Planned[]): Promise<void> {
    const stop = new AbortController();
    runningByStore.set(store, { planned, stop });
    const { id, memberId, workflowId, name, atMs, connection } = set;
    const openKeys = new Set((store.get().copies?.copies ?? []).filter(isOpen).map(({ key }) => key));
    window.addEventListener("beforeunload", warnBeforeUnload);
    const ending = await sendCopies(
      planned.filter(({ key }) => openKeys.has(key)),
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
    window.removeEventListener("beforeunload", warnBeforeUnload);
    change({ type: "ended", id, ending });
  }

  return {
    async begin(openWorkflow: OpenWorkflow, name: string, order: CopiesOrder): Promise<void> {
      if (isSendingCopies(store.get().copies)) return;
      const plan = planCopies(openWorkflow, name, order);
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
      storePlan(tabStorage, plan);
      await send(set, toPlannedCopies(plan, order.inFile));
    },
    stop() {
      const { copies } = store.get();
      runningByStore.get(store)?.stop.abort();
      if (copies) change({ type: "stopping", id: copies.id });
    },
    async resume(): Promise<void> {
      const { copies } = store.get();
      const planned = runningByStore.get(store)?.planned;
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
      deletePlan(tabStorage);
      change({ type: "left" });
    },
    /** After a reload: looks up the outcome of the copy that was being sent. Sends nothing. */
    async recall(): Promise<void> {
      if (store.get().copies) return;
      const set = readStoredCopies(tabStorage, context.memberId);
      if (!set) return;
      const plan = readStoredPlan(tabStorage, set);
      if (plan) runningByStore.set(store, { planned: toPlannedCopies(plan), stop: new AbortController() });
      change({ type: "begun", set: { ...set, canResume: plan !== undefined } });
      for (const { key, isBegun, outcome } of set.copies) {
        if (!isBegun || outcome) continue;
        const { memberId, workflowId, name, atMs } = set;
        const runOutcome = await lookUpOutcome(api, { key, memberId, workflowId, name, atMs });
        change({ type: "outcome", id: set.id, key, outcome: toCopyOutcome(runOutcome) });
      }
    },
  };
}

/** Warns before the page is closed while copies are unsent. */
function warnBeforeUnload(event: BeforeUnloadEvent): void {
  warnBeforeLeaving(event);
}
