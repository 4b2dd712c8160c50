// The Run page's actions: store changes and requests. workflow/open-actions.ts opens workflows.

import { useMemo, useSyncExternalStore } from "react";
import { type SampleName } from "@/components/frame/samples/samples";
import { tabStorage } from "@/lib/browser/persisted-value";
import { type ConnectionFeature, hasFeature } from "@/lib/contract/connections";
import { type Graph } from "@/lib/contract/schemas/graph";
import { createIdempotencyKey } from "@/lib/shared/text";
import { createCopiesActions } from "./copies/copies-actions";
import { createPictureApi, type PictureApi } from "./form/controls/picture-api";
import { emptyRun, type RunStore } from "./run-store";
import {
  type Attempt,
  createSubmitApi,
  deleteAttempt,
  lookUpOutcome,
  readSubmittedJobs,
  type RunOutcome,
  sendAttempt,
  storeAttempt,
  storeSubmittedJobs,
  type SubmitApi,
} from "./submit/attempt";
import { toSubmission } from "./submit/submission";
import { type WriteEditorFile } from "./workflow/editor-file";
import { createOpenActions } from "./workflow/open-actions";
import { createWorkflowApi, type WorkflowApi } from "./workflow/workflow-api";

/** The console calls of the Run page, passed in so that tests can replace the network. */
export type RunApi = WorkflowApi & SubmitApi & PictureApi;

type Target = { id: string; lacks?: readonly ConnectionFeature[]; embedded?: boolean };

export function createRunApi(target: Partial<Target> = {}): RunApi {
  const { id, embedded = false } = target;
  const pictureApi = createPictureApi(id, hasFeature(target, "contentLookup"));
  return { ...pictureApi, ...createSubmitApi(id), ...createWorkflowApi(id, embedded, pictureApi) };
}

export type RunContext = { id?: string; canRun: boolean };
export type Run = ReturnType<typeof useRun>;

export function useRun(store: RunStore, api: RunApi, memberId: string, connection: string | undefined) {
  const state = useSyncExternalStore(store.subscribe, store.get, () => emptyRun);
  const actions = useMemo(() => createRunActions(store, api, memberId, connection), [store, api, memberId, connection]);
  return { state, ...actions };
}

function createRunActions(store: RunStore, api: RunApi, memberId: string, connection: string | undefined) {
  const { get, subscribe: _subscribe, ...storeActions } = store;
  const context = { memberId, ...(connection !== undefined && { connection }) };
  const openActions = createOpenActions(store, api, connection);
  const saveSubmittedJobs = () => storeSubmittedJobs(tabStorage, memberId, get().submittedJobs);

  function finishAttempt(serial: number, attempt: Attempt, outcome: RunOutcome) {
    // An attempt with an unknown outcome is stored, so that a reload looks it up again.
    if (outcome.kind !== "unknown") deleteAttempt(tabStorage);
    store.finishSending({ serial, attempt, outcome, atMs: Date.now() });
    saveSubmittedJobs();
  }
  /** Sends the open workflow once: a second call while the first is being sent does nothing. */
  async function run(fallbackName: string, fillGraph: (graph: Graph) => Graph = (graph) => graph, writeEditorFile?: WriteEditorFile) {
    const { openWorkflow, isSending, uploading } = get();
    if (!openWorkflow || isSending || uploading.length > 0) return;
    store.startSending(openWorkflow.graph);
    const name = openWorkflow.name || fallbackName;
    const attempt: Attempt = { ...context, key: createIdempotencyKey(), workflowId: openWorkflow.workflowId, name, atMs: Date.now() };
    storeAttempt(tabStorage, attempt);
    const submission = toSubmission({ ...openWorkflow, name, graph: fillGraph(openWorkflow.graph) }, openWorkflow.graph, writeEditorFile);
    finishAttempt(
      openWorkflow.serial,
      attempt,
      await sendAttempt(api, attempt, { submission, graph: openWorkflow.graph, rerunOf: openWorkflow.fromJob }),
    );
  }
  return {
    ...storeActions,
    ...openActions,
    copies: createCopiesActions(store, api, context),
    run,
    /** Opens a sample and runs it unchanged. */
    runSample: (sample: SampleName) => openActions.openSampleToRun(sample, () => run(sample)),
    /** Looks up the outcome of an attempt without a response. Sends nothing. */
    async lookUpOutcome(attempt: Attempt) {
      const { openWorkflow, isSending } = get();
      if (isSending) return;
      store.startSending();
      finishAttempt(openWorkflow?.serial ?? 0, attempt, await lookUpOutcome(api, attempt));
    },
    restoreJobs: () => store.restoreSubmittedJobs(readSubmittedJobs(tabStorage, memberId)),
    cancelSubmittedJobs(jobIds: readonly string[]) {
      store.cancelSubmittedJobs(jobIds);
      saveSubmittedJobs();
    },
    dismissSubmittedJob(jobId: string) {
      store.dismissSubmittedJob(jobId);
      saveSubmittedJobs();
    },
    clearSubmitError() {
      deleteAttempt(tabStorage);
      store.clearSubmitError();
    },
  };
}
