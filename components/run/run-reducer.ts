// Every change of the Run page's state. Pure, so that each guarantee can be tested.
// Guarantees: a file that cannot be opened, a refused run and a picture that does not arrive leave everything typed and chosen as it was;
// an answer or upload of a workflow that is no longer open does not change the open one; opening, closing or refusing a workflow
// ends what was still loading.

import { own } from "@/lib/contract/json/own";
import { type NodeErrors } from "@/lib/contract/schemas/execution";
import { changeOpened } from "./change-opened";
import { copiesReducer } from "./copies/copies-state";
import { mostReceipts, type Receipt, type RunAction, type RunState } from "./run-state";
import { type OpenWorkflow } from "./workflow/opened";

export function runReducer(state: RunState, action: RunAction): RunState {
  switch (action.type) {
    case "opened": {
      const { errors, ...file } = action.file;
      return {
        ...calm(state),
        opened: { ...file, original: file.graph, serial: nextSerial(state), isEdited: false },
        before: state.opened,
        ...(errors && pointingAt(state, errors)),
      };
    }
    case "restored":
      return state.opened ? state : { ...calm(state), opened: restored(action, nextSerial(state)) };
    case "refused":
      return { ...state, refusal: action.refusal, arriving: undefined };
    case "asked":
      return { ...state, refusal: undefined, arriving: undefined, asked: action.file };
    case "arriving":
      return { ...state, refusal: undefined, asked: undefined, arriving: action.arriving };
    case "refusal-read":
      return { ...state, refusal: undefined };
    case "went-back": {
      const { before, opened } = state;
      return before ? { ...calm(state), opened: { ...before, serial: nextSerial(state) }, before: opened } : state;
    }
    case "closed":
      return { ...calm(state), opened: undefined, before: state.opened };
    case "pending-images":
      return { ...state, pendingImages: action.pendingImages, arriving: action.pendingImages ? undefined : state.arriving };

    case "edited":
    case "advanced":
    case "secrets-left-out":
    case "saved":
    case "named":
    case "upload":
    case "checked":
      return state.opened?.serial === action.serial ? changeOpened(state, state.opened, action) : state;

    case "sending":
      return { ...state, isSending: true, inFlight: state.opened?.graph, submitError: undefined, errors: {} };
    case "answered":
      return answered(state, action);
    case "recalled":
      return state.receipts.length > 0 ? state : { ...state, receipts: action.receipts };
    case "cancelled":
      return withReceipts(state, action.jobIds, { isCancelled: true });
    case "job-dismissed":
      return withReceipts(state, [action.jobId], { isDismissed: true });
    case "submit-error-dismissed":
      return { ...state, submitError: undefined };
    case "copies": {
      const copies = copiesReducer(state.copies, action.act);
      // The graph is sent by its copies, so leaving the page loses nothing of it.
      const opened = action.act.act === "begun" && state.opened ? { ...state.opened, sent: state.opened.graph } : state.opened;
      return { ...state, copies, opened };
    }
  }
}

/** Drops everything that belongs to the workflow open until now. */
function calm(state: RunState): RunState {
  return { ...state, refusal: undefined, errors: {}, submitError: undefined, uploading: [], arriving: undefined, asked: undefined };
}

function nextSerial(state: RunState): number {
  return Math.max(state.opened?.serial ?? 0, state.before?.serial ?? 0) + 1;
}

/** The file with what was typed into it before the reload. */
function restored({ file, inputs: typed, ownNames }: Extract<RunAction, { type: "restored" }>, serial: number): OpenWorkflow {
  const original = file.graph;
  const changed = Object.entries(typed).flatMap(([id, inputs]) => {
    const node = own(original, id);
    return node ? [[id, { ...node, inputs }] as const] : [];
  });
  const isEdited = changed.length > 0;
  const graph = isEdited ? { ...original, ...Object.fromEntries(changed) } : original;
  return { ...file, ...(ownNames && { ownNames }), original, graph, serial, isEdited };
}

type Answered = Extract<RunAction, { type: "answered" }>;

function answered(state: RunState, answer: Answered): RunState {
  const { serial, outcome, attempt } = answer;
  const isCurrent = state.opened?.serial === serial;
  const next = { ...state, isSending: false, inFlight: undefined };
  if (outcome.kind !== "accepted") {
    const submitError = { kind: outcome.kind, failure: outcome.failure, ...(attempt && { attempt }) };
    return { ...next, submitError, ...(outcome.kind === "invalid" && isCurrent && pointingAt(state, outcome.errors)) };
  }
  const receipt = receiptOf(state, answer, outcome);
  const receipts = [receipt, ...state.receipts].slice(0, mostReceipts);
  const opened = isCurrent && state.opened ? { ...state.opened, sent: state.inFlight } : state.opened;
  return { ...next, opened, receipts, ...(isCurrent && receipt.nodesRefused > 0 && pointingAt(state, outcome.errors)) };
}

function pointingAt({ attention }: RunState, errors: NodeErrors): Pick<RunState, "errors" | "attention"> {
  return { errors, attention: attention + 1 };
}

function receiptOf(state: RunState, { attempt, atMs }: Answered, accepted: Extract<Answered["outcome"], { kind: "accepted" }>): Receipt {
  return {
    jobId: accepted.jobId,
    name: attempt?.name ?? state.opened?.name ?? "",
    atMs,
    nodesRefused: Object.keys(accepted.errors).length,
    ...(attempt && { workflowId: attempt.workflowId }),
    ...(attempt?.connection !== undefined && { connection: attempt.connection }),
    ...(accepted.secretPlaces && { secretPlaces: accepted.secretPlaces }),
  };
}

function withReceipts(state: RunState, jobIds: readonly string[], change: Partial<Receipt>): RunState {
  return { ...state, receipts: state.receipts.map((one) => (jobIds.includes(one.jobId) ? { ...one, ...change } : one)) };
}
