// The Run page's state, kept in memory while the tab is open, so that navigation loses neither edits nor responses.
// workflow/workflow-memory.ts restores edits after a reload.
// Guarantees: a refused file or run and a failed upload leave all edits unchanged. Responses and uploads of a closed workflow don't change
// the open one. Opening, closing or refusing a workflow aborts pending loads.
// Must never change on the server, which is shared by all users: only event handlers and effects call its actions.

import { createStore } from "zustand/vanilla";
import { type Failure } from "@/lib/contract/failure";
import { getOwn } from "@/lib/contract/json/json";
import { selectChoice } from "@/lib/contract/nodes/dynamic-inputs";
import { type NodeErrors } from "@/lib/contract/schemas/execution";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { type SecretLocation } from "@/lib/contract/secrets/secret-locations";
import { type CopiesAction, copiesReducer, type CopiesSet } from "./copies/copies-state";
import { type CheckResult } from "./form/checks";
import { withInput } from "./form/form-model";
import { type Attempt, MAX_SUBMITTED_JOBS, type RunOutcome, type SubmittedJob } from "./submit/attempt";
import {
  type Advanced,
  type Draft,
  type Edit,
  getWorkflowName,
  type OpenedFile,
  type OpenWorkflow,
  type PendingImages,
  type Refusal,
} from "./workflow/opened-workflow";
import { withoutSecrets } from "./workflow/workflow-contents";

export type SubmitError = { kind: Exclude<RunOutcome["kind"], "accepted">; failure: Failure; attempt?: Attempt };

/** `openingId` identifies the request. `isVisible`: shown instead of the open workflow. `picture`: the picture being uploaded first. */
export type IncomingWorkflow = { openingId: string; isVisible: boolean; picture?: { name: string; share: number } };

type RunState = {
  openWorkflow?: OpenWorkflow;
  /** The workflow replaced by the newest opening, including typed values. */
  previousWorkflow?: OpenWorkflow;
  refusal?: Refusal;
  incoming?: IncomingWorkflow;
  /** A file with both formats, treated as `run` until the user chooses a format. */
  ambiguousFile?: OpenedFile;
  /** Pictures for which no input has been chosen yet. */
  pendingImages?: PendingImages;
  copies?: CopiesSet;
  errors: NodeErrors;
  submitError?: SubmitError;
  submittedJobs: readonly SubmittedJob[];
  isSending: boolean;
  /** The graph of the run being sent, or of one whose outcome is unknown. */
  inFlight?: Graph;
  /** "node/input" of each picture being uploaded. */
  uploading: readonly string[];
  /** Increments with each response that names nodes, so that the page focuses the first of them. */
  focusSerial: number;
};

export const emptyRun: RunState = { errors: {}, submittedJobs: [], isSending: false, uploading: [], focusSerial: 0 };

/** `serial`: the workflow that was sent. */
export type SentOutcome = { serial: number; outcome: RunOutcome; attempt?: Attempt; atMs: number };

export type RunStore = ReturnType<typeof createRunStore>;

export function createRunStore() {
  const { getState: get, setState, subscribe } = createStore<RunState>(() => emptyRun);
  const update = (change: (state: RunState) => RunState) => setState(change, true);
  const merge = (change: Partial<RunState>) => update((state) => ({ ...state, ...change }));
  const updateOpenWorkflow = (serial: number, change: (openWorkflow: OpenWorkflow, state: RunState) => Partial<RunState>) =>
    update((state) => (state.openWorkflow?.serial === serial ? { ...state, ...change(state.openWorkflow, state) } : state));
  const updateSubmittedJobs = (jobIds: readonly string[], change: Partial<SubmittedJob>) =>
    merge({
      submittedJobs: get().submittedJobs.map((submittedJob) =>
        jobIds.includes(submittedJob.jobId) ? { ...submittedJob, ...change } : submittedJob,
      ),
    });

  return {
    get,
    subscribe,

    // Which workflow is open, or opens next.
    open({ errors, ...file }: OpenedFile) {
      update((state) => ({
        ...clearTransientState(state),
        openWorkflow: { ...file, original: file.graph, serial: getNextSerial(state), isEdited: false },
        previousWorkflow: state.openWorkflow,
        ...(errors && withErrors(state, errors)),
      }));
    },
    restore(draft: Draft) {
      update((state) =>
        state.openWorkflow ? state : { ...clearTransientState(state), openWorkflow: restoreDraft(draft, getNextSerial(state)) },
      );
    },
    setIncoming: (incoming: IncomingWorkflow | undefined) => merge({ refusal: undefined, ambiguousFile: undefined, incoming }),
    requestFormat: (ambiguousFile: OpenedFile | undefined) => merge({ refusal: undefined, incoming: undefined, ambiguousFile }),
    refuse: (refusal: Refusal) => merge({ refusal, incoming: undefined }),
    dismissRefusal: () => merge({ refusal: undefined }),
    restorePrevious() {
      update((state) => {
        const { previousWorkflow, openWorkflow } = state;
        return previousWorkflow
          ? {
              ...clearTransientState(state),
              openWorkflow: { ...previousWorkflow, serial: getNextSerial(state) },
              previousWorkflow: openWorkflow,
            }
          : state;
      });
    },
    close: () => update((state) => ({ ...clearTransientState(state), openWorkflow: undefined, previousWorkflow: state.openWorkflow })),
    setPendingImages: (pendingImages: PendingImages | undefined) => merge({ pendingImages, ...(pendingImages && { incoming: undefined }) }),

    // Changes to the open workflow.
    /** With a catalogue, a choice may add inputs. */
    edit(serial: number, { nodeId, name, value }: Edit, catalogue?: ObjectInfo) {
      updateOpenWorkflow(serial, (openWorkflow, state) => {
        const nextGraph = withInput(openWorkflow.graph, nodeId, name, value);
        const graph =
          nextGraph === openWorkflow.graph
            ? nextGraph
            : (selectChoice(openWorkflow.graph, nodeId, { name, value }, catalogue) ?? nextGraph);
        if (graph === openWorkflow.graph) return state;
        const errors = withoutField(state.errors, nodeId, name);
        return {
          openWorkflow: { ...openWorkflow, graph, isEdited: true },
          errors,
          submitError: getErrorAfterEdit(state.submitError, errors),
        };
      });
    },
    setAdvanced(serial: number, advanced: Advanced) {
      updateOpenWorkflow(serial, (openWorkflow, { submitError, errors }) => ({
        openWorkflow: { ...openWorkflow, advanced },
        submitError: getErrorAfterEdit(submitError, errors),
      }));
    },
    /** Removes the keys and tokens that the newest job was sent with. */
    removeSecrets: (serial: number, secretPlaces: readonly SecretLocation[]) =>
      updateOpenWorkflow(serial, (openWorkflow) => ({ openWorkflow: withoutSecrets(openWorkflow, secretPlaces) })),
    markStored(serial: number, path: string, graph: Graph) {
      updateOpenWorkflow(serial, (openWorkflow) => {
        const isEdited = openWorkflow.isEdited && openWorkflow.graph !== graph;
        return { openWorkflow: { ...openWorkflow, storedPath: path, name: getWorkflowName(path), isEdited } };
      });
    },
    setFileName: (serial: number, value: string, name: string) =>
      updateOpenWorkflow(serial, (openWorkflow) => ({
        openWorkflow: { ...openWorkflow, ownNames: { ...openWorkflow.ownNames, [value]: name } },
      })),
    setUploading(serial: number, key: string, isRunning: boolean) {
      updateOpenWorkflow(serial, (_openWorkflow, { uploading }) => {
        const otherKeys = uploading.filter((value) => value !== key);
        return { uploading: isRunning ? [...otherKeys, key] : otherKeys };
      });
    },
    /** Problems found by the browser before sending. */
    reportProblems(serial: number, { code, errors }: CheckResult) {
      const kind = code === "prompt_no_outputs" ? "refused" : "invalid";
      updateOpenWorkflow(serial, (_openWorkflow, state) => ({
        submitError: { kind, failure: { code, message: "", status: 0 } },
        ...withErrors(state, errors),
      }));
    },

    // The submission and its outcome.
    /** `inFlight`: the graph to send. Defaults to that of the run whose outcome is looked up. */
    startSending: (inFlight = get().inFlight) => merge({ isSending: true, inFlight, submitError: undefined, errors: {} }),
    finishSending: (response: SentOutcome) => update((state) => applyOutcome(state, response)),
    restoreSubmittedJobs(submittedJobs: readonly SubmittedJob[]) {
      if (get().submittedJobs.length === 0) merge({ submittedJobs });
    },
    cancelSubmittedJobs: (jobIds: readonly string[]) => updateSubmittedJobs(jobIds, { isCancelled: true }),
    dismissSubmittedJob: (jobId: string) => updateSubmittedJobs([jobId], { isDismissed: true }),
    clearSubmitError: () => merge({ submitError: undefined }),
    changeCopies(action: CopiesAction) {
      const { copies, openWorkflow } = get();
      // The copies send the graph, so leaving the page loses no edits.
      const isSent = action.type === "started" && openWorkflow;
      merge({
        copies: copiesReducer(copies, action),
        ...(isSent && { openWorkflow: { ...openWorkflow, sentGraph: openWorkflow.graph } }),
      });
    },
  };
}

export const tabRun = createRunStore();

/** Clears everything that belongs to the current workflow. */
function clearTransientState(state: RunState): RunState {
  return {
    ...state,
    refusal: undefined,
    errors: {},
    submitError: undefined,
    uploading: [],
    incoming: undefined,
    ambiguousFile: undefined,
  };
}

function getNextSerial(state: RunState): number {
  return Math.max(state.openWorkflow?.serial ?? 0, state.previousWorkflow?.serial ?? 0) + 1;
}

function restoreDraft({ file, inputs: changedInputs, ownNames }: Draft, serial: number): OpenWorkflow {
  const original = file.graph;
  const changedNodes = Object.entries(changedInputs).flatMap(([id, inputs]) => {
    const node = getOwn(original, id);
    return node ? [[id, { ...node, inputs }] as const] : [];
  });
  const isEdited = changedNodes.length > 0;
  const graph = isEdited ? { ...original, ...Object.fromEntries(changedNodes) } : original;
  return { ...file, ...(ownNames && { ownNames }), original, graph, serial, isEdited };
}

/** An edit clears the error of an earlier run. Keeps it if the run may have started, or if the error still names a node. */
function getErrorAfterEdit(submitError: SubmitError | undefined, errors: NodeErrors): SubmitError | undefined {
  const isRelevant = submitError?.kind === "unknown" || (submitError?.kind === "invalid" && Object.keys(errors).length > 0);
  return isRelevant ? submitError : undefined;
}

/** Removes the errors about a changed value. */
function withoutField(errors: NodeErrors, nodeId: string, name: string): NodeErrors {
  const entry = getOwn(errors, nodeId);
  if (!entry) return errors;
  const remainingErrors = entry.errors.filter(({ extra_info }) => extra_info.input_name !== name);
  const { [nodeId]: _, ...otherErrors } = errors;
  return remainingErrors.length === 0 ? otherErrors : { ...otherErrors, [nodeId]: { ...entry, errors: remainingErrors } };
}

function applyOutcome(state: RunState, response: SentOutcome): RunState {
  const { serial, outcome, attempt } = response;
  const isCurrent = state.openWorkflow?.serial === serial;
  const nextState = { ...state, isSending: false, inFlight: outcome.kind === "unknown" ? state.inFlight : undefined };
  if (outcome.kind !== "accepted") {
    const submitError = { kind: outcome.kind, failure: outcome.failure, ...(attempt && { attempt }) };
    return { ...nextState, submitError, ...(outcome.kind === "invalid" && isCurrent && withErrors(state, outcome.errors)) };
  }
  const submittedJob = toSubmittedJob(state, response, outcome);
  const submittedJobs = [submittedJob, ...state.submittedJobs].slice(0, MAX_SUBMITTED_JOBS);
  const openWorkflow =
    isCurrent && state.openWorkflow
      ? { ...state.openWorkflow, sentGraph: state.inFlight ?? state.openWorkflow.sentGraph }
      : state.openWorkflow;
  return {
    ...nextState,
    openWorkflow,
    submittedJobs,
    ...(isCurrent && submittedJob.nodesRefused > 0 && withErrors(state, outcome.errors)),
  };
}

function withErrors({ focusSerial }: RunState, errors: NodeErrors): Pick<RunState, "errors" | "focusSerial"> {
  return { errors, focusSerial: focusSerial + 1 };
}

function toSubmittedJob(state: RunState, { attempt, atMs }: SentOutcome, outcome: Extract<RunOutcome, { kind: "accepted" }>): SubmittedJob {
  return {
    jobId: outcome.jobId,
    name: attempt?.name ?? state.openWorkflow?.name ?? "",
    atMs,
    nodesRefused: Object.keys(outcome.errors).length,
    ...(attempt && { workflowId: attempt.workflowId }),
    ...(attempt?.connection !== undefined && { connection: attempt.connection }),
    ...(outcome.secretPlaces && { secretPlaces: outcome.secretPlaces }),
  };
}
