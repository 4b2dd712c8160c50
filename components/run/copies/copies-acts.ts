// What can be done with the copies of a run: begin, stop, continue with the rest, ask for outcomes after a reload.
// Guarantees: the work belongs to the tab, not to the page: it continues while the person looks at a job. The outcome of each copy is noted
// as soon as it is known.

import { askToStay } from "@/components/ui/hooks/use-close-warning";
import { ofTab } from "@/lib/browser/persisted";
import { newIdempotencyKey } from "@/lib/shared/text";
import { type RunPorts } from "../run-ports";
import { type RunStore } from "../run-store";
import { askAfter } from "../submit/submission";
import { type OpenWorkflow } from "../workflow/opened";
import { keepCopies, keptCopies } from "./copies-note";
import { type CopiesOrder, plannedOf, planOf } from "./copies-plan";
import { type CopiesAct, type CopiesSet, isOpen } from "./copies-state";
import { forgetPlan, keepPlan, keptPlan } from "./plan-note";
import { type Planned, sendCopies, toCopyOutcome } from "./send-copies";

type RunContext = { memberId: string; connection?: string };
type Running = { planned: readonly Planned[]; stop: AbortController };

/** By the store that they report to, which outlives every page. */
const running = new WeakMap<RunStore, Running>();

export function copiesActs(store: RunStore, ports: RunPorts, context: RunContext) {
  const tell = (act: CopiesAct) => {
    store.dispatch({ type: "copies", act });
    keepCopies(ofTab, store.get().copies);
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
        ports,
        attempt: { memberId, workflowId, name, atMs, ...(connection !== undefined && { connection }) },
        act: id,
        signal: stop.signal,
        onSending: (key) => tell({ act: "sending", id, key }),
        onOutcome: (key, outcome) => tell({ act: "outcome", id, key, outcome }),
        onWait: (waitMs) => tell({ act: "waiting", id, waitMs }),
      },
    );
    window.removeEventListener("beforeunload", keepPage);
    tell({ act: "ended", id, ending });
  }

  return {
    async begin(opened: OpenWorkflow, name: string, order: CopiesOrder): Promise<void> {
      if (isSendingCopies(store.get().copies)) return;
      const plan = planOf(opened, name, order);
      const copies = plan.copies.map(({ key, label }) => ({ key, label }));
      const set: CopiesSet = {
        ...context,
        id: newIdempotencyKey(),
        workflowId: opened.workflowId,
        name,
        atMs: Date.now(),
        copies,
        canGoOn: true,
      };
      tell({ act: "begun", set });
      keepPlan(ofTab, plan);
      await send(set, plannedOf(plan, order.inFile));
    },
    /** The copy that is being sent is finished first. */
    stop() {
      const { copies } = store.get();
      running.get(store)?.stop.abort();
      if (copies) tell({ act: "stopping", id: copies.id });
    },
    async goOn(): Promise<void> {
      const { copies } = store.get();
      const planned = running.get(store)?.planned;
      // Copies are sent on their own connection only, even while shown on another one.
      if (!copies?.ending || !planned || copies.connection !== context.connection) return;
      tell({ act: "went-on", id: copies.id });
      await send(copies, planned);
    },
    /** These jobs were cancelled before they ran; some services forget such jobs. */
    cancelled(jobIds: readonly string[]) {
      const { copies } = store.get();
      if (copies && jobIds.length > 0) tell({ act: "cancelled", id: copies.id, jobIds });
    },
    leave() {
      forgetPlan(ofTab);
      tell({ act: "left" });
    },
    /** After a reload: asks about the copy that was being sent, and sends nothing by itself. */
    async recall(): Promise<void> {
      if (store.get().copies) return;
      const set = keptCopies(ofTab, context.memberId);
      if (!set) return;
      const plan = keptPlan(ofTab, set);
      if (plan) running.set(store, { planned: plannedOf(plan), stop: new AbortController() });
      tell({ act: "begun", set: { ...set, canGoOn: plan !== undefined } });
      for (const { key, isBegun, outcome } of set.copies) {
        if (!isBegun || outcome) continue;
        const { memberId, workflowId, name, atMs } = set;
        const found = await askAfter(ports, { key, memberId, workflowId, name, atMs });
        tell({ act: "outcome", id: set.id, key, outcome: toCopyOutcome(found) });
      }
    },
  };
}

export function isSendingCopies(set: CopiesSet | undefined): boolean {
  return set !== undefined && set.ending === undefined;
}

/** While some copies are not sent yet, the browser asks before the page is closed. */
function keepPage(event: BeforeUnloadEvent): void {
  askToStay(event);
}
