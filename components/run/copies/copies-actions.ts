// Starts, stops and resumes the copies of a run, and looks up their outcomes after a reload.
// Guarantees: sending continues during navigation, since it belongs to the tab. Each copy's outcome is stored immediately.

import { warnBeforeLeaving } from "@/components/ui/hooks/page-events";
import { tabStorage } from "@/lib/browser/persisted-value";
import { createIdempotencyKey } from "@/lib/shared/text";
import { type RunStore } from "../run-store";
import { lookUpOutcome, type SubmitApi } from "../submit/attempt";
import { type CatalogueApi } from "../workflow/catalogue";
import { createEditorFileWriter, type WriteEditorFile } from "../workflow/editor-file";
import { type OpenWorkflow } from "../workflow/opened-workflow";
import {
  canResend,
  type CopiesAction,
  type CopiesPlan,
  type CopiesSet,
  deletePlan,
  isSendingCopies,
  readStoredCopies,
  readStoredPlan,
  storeCopies,
  storePlan,
} from "./copies-state";
import { type CopiesOrder, planCopies, sendCopies, toCopyOutcome, toPlannedCopies } from "./send-copies";

type RunContext = { memberId: string; connection?: string };
type Writer = WriteEditorFile | Promise<WriteEditorFile | undefined> | undefined;
type RunningCopies = { plan: CopiesPlan; writer?: Writer; controller: AbortController };

/** Keyed by the store that they report to, which outlives every page. */
const runningCopiesByStore = new WeakMap<RunStore, RunningCopies>();

export function createCopiesActions(store: RunStore, api: SubmitApi & CatalogueApi, context: RunContext) {
  const dispatch = (action: CopiesAction) => {
    store.changeCopies(action);
    storeCopies(tabStorage, store.get().copies);
  };

  async function send(set: CopiesSet, plan: CopiesPlan, writer: Writer): Promise<void> {
    const controller = new AbortController();
    runningCopiesByStore.set(store, { plan, writer, controller });
    const { id, memberId, workflowId, name, atMs, connection } = set;
    const resendableKeys = new Set((store.get().copies?.copies ?? []).filter(canResend).map(({ key }) => key));
    window.addEventListener("beforeunload", warnBeforeUnload);
    const plannedCopies = toPlannedCopies(plan, await writer);
    const ending = await sendCopies(
      plannedCopies.filter(({ key }) => resendableKeys.has(key)),
      {
        api,
        attempt: { memberId, workflowId, name, atMs, ...(connection !== undefined && { connection }) },
        batch: { id, size: plannedCopies.length },
        signal: controller.signal,
        onSending: (key) => dispatch({ type: "sending", id, key }),
        onOutcome: (key, outcome) => dispatch({ type: "outcome", id, key, outcome }),
        onWait: (waitMs) => dispatch({ type: "waiting", id, waitMs }),
      },
    );
    window.removeEventListener("beforeunload", warnBeforeUnload);
    dispatch({ type: "ended", id, ending });
  }

  return {
    async start(openWorkflow: OpenWorkflow, name: string, order: CopiesOrder): Promise<void> {
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
      dispatch({ type: "started", set });
      storePlan(tabStorage, plan);
      await send(set, plan, order.writeEditorFile);
    },
    stop() {
      const { copies } = store.get();
      runningCopiesByStore.get(store)?.controller.abort();
      if (copies) dispatch({ type: "stopping", id: copies.id });
    },
    async resume(): Promise<void> {
      const { copies } = store.get();
      const runningCopies = runningCopiesByStore.get(store);
      // Copies are sent on their own connection only, even while shown on another one.
      if (!copies?.ending || !runningCopies || copies.connection !== context.connection) return;
      dispatch({ type: "resumed", id: copies.id });
      const { plan, writer } = runningCopies;
      // Undefined after a reload, and if the node list couldn't be read.
      await send(copies, plan, (await writer) ?? createEditorFileWriter(plan.workflow.extraData, api));
    },
    /** Marks jobs that were cancelled before they ran, since some services forget such jobs. */
    markCancelled(jobIds: readonly string[]) {
      const { copies } = store.get();
      if (copies && jobIds.length > 0) dispatch({ type: "cancelled", id: copies.id, jobIds });
    },
    dismiss() {
      deletePlan(tabStorage);
      dispatch({ type: "dismissed" });
    },
    /** After a reload: looks up the outcome of the copy that was being sent. Sends nothing. */
    async restore(): Promise<void> {
      if (store.get().copies) return;
      const set = readStoredCopies(tabStorage, context.memberId);
      if (!set) return;
      const plan = readStoredPlan(tabStorage, set);
      if (plan) runningCopiesByStore.set(store, { plan, controller: new AbortController() });
      dispatch({ type: "started", set: { ...set, canResume: plan !== undefined } });
      for (const { key, isBegun, outcome } of set.copies) {
        if (!isBegun || outcome) continue;
        const { memberId, workflowId, name, atMs } = set;
        const runOutcome = await lookUpOutcome(api, { key, memberId, workflowId, name, atMs });
        dispatch({ type: "outcome", id: set.id, key, outcome: toCopyOutcome(runOutcome) });
      }
    },
  };
}

/** Warns before the page is closed while copies are unsent. */
function warnBeforeUnload(event: BeforeUnloadEvent): void {
  warnBeforeLeaving(event);
}
