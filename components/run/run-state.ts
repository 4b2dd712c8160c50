// What the Run page holds, and every change it can go through. Pure, so that each guarantee can be tested.
// Guarantees: a file that cannot be opened, a refused run and a picture that does not arrive leave everything typed and chosen as it was;
// an answer or upload of a workflow that is no longer open does not change the open one; opening, closing or refusing a workflow
// ends what was still loading.

import { type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type JsonObject } from "@/lib/contract/json/json";
import { type SecretPlace } from "@/lib/contract/secrets/secret-places";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { type NodeErrors } from "@/lib/contract/schemas/node-errors";
import { type PendingImages } from "./workflow/pending-images";
import { type Checked } from "./form/check";
import { type CopiesAct, copiesReducer, type CopiesSet } from "./copies/copies-state";
import { nameOfFile } from "./workflow/file-name";
import { withChoice } from "@/lib/contract/nodes/dynamic-inputs";
import { own } from "@/lib/contract/json/own";
import { readExtra } from "./form/extra-data";
import { withInput } from "./form/form-model";
import { leftOut } from "./form/left-out";
import { type Attempt, type RunOutcome } from "./submit/attempt";
import { type Advanced, type OpenedFile, type OpenWorkflow } from "./workflow/opened";
import { type Refusal } from "./workflow/refusal";

export type Receipt = {
  jobId: string;
  name: string;
  atMs: number;
  nodesRefused: number;
  /** It was cancelled before it ran; some services forget such a job. */
  isCancelled?: boolean;
  /** The person closed its card. */
  isDismissed?: boolean;
  workflowId?: string;
  connection?: string;
  /** Where the sent workflow holds a key. Known until the page is reloaded; after that only the job shows it. */
  secretPlaces?: readonly SecretPlace[];
};

export type SubmitError = { kind: Exclude<RunOutcome["kind"], "accepted">; failure: Failure; attempt?: Attempt };

/** `turn` tells two openings apart. `isSeen`: shown in place of the open workflow. `picture`: what is sent first, with its progress. */
export type Arriving = { turn: string; isSeen: boolean; picture?: { name: string; share: number } };

export type RunState = {
  opened?: OpenWorkflow;
  /** What the newest opening replaced, with everything that was typed into it. */
  before?: OpenWorkflow;
  refusal?: Refusal;
  /** The workflow that is being loaded and opens next. */
  arriving?: Arriving;
  /** A file with both formats, read as `run`, while the person is asked which format to open. */
  asked?: OpenedFile;
  /** Pictures that wait until it is clear which input takes them. */
  pendingImages?: PendingImages;
  copies?: CopiesSet;
  errors: NodeErrors;
  submitError?: SubmitError;
  /** Newest first. */
  receipts: readonly Receipt[];
  isSending: boolean;
  /** The graph that is being sent while `isSending`. */
  inFlight?: Graph;
  /** "node/input" of each picture on its way. */
  uploading: readonly string[];
  /** Grows with each answer that names nodes: the page then moves the focus to the first of them. */
  attention: number;
};

export type RunAction =
  | { type: "opened"; file: OpenedFile }
  /** After a reload. */
  | { type: "restored"; file: OpenedFile; inputs: Readonly<Record<string, JsonObject>>; ownNames?: Readonly<Record<string, string>> }
  | { type: "arriving"; arriving: Arriving | undefined }
  | { type: "asked"; file: OpenedFile | undefined }
  | { type: "refused"; refusal: Refusal }
  | { type: "refusal-read" }
  | { type: "went-back" }
  | { type: "closed" }
  /** `catalogue`: a chosen value may add inputs of its own. */
  | { type: "edited"; serial: number; nodeId: string; name: string; value: unknown; catalogue?: ObjectInfo }
  | { type: "advanced"; serial: number; advanced: Advanced }
  /** Keys and tokens that the newest job was sent with are taken out of the open workflow. */
  | { type: "secrets-left-out"; serial: number; places: readonly SecretPlace[] }
  | { type: "saved"; serial: number; path: string; graph: Graph }
  | { type: "named"; serial: number; value: string; name: string }
  | { type: "upload"; serial: number; key: string; isRunning: boolean }
  | { type: "sending" }
  | { type: "answered"; serial: number; outcome: RunOutcome; attempt?: Attempt; atMs: number }
  /** After a reload. */
  | { type: "recalled"; receipts: readonly Receipt[] }
  | { type: "cancelled"; jobIds: readonly string[] }
  | { type: "job-dismissed"; jobId: string }
  | { type: "submit-error-dismissed" }
  | { type: "pending-images"; pendingImages: PendingImages | undefined }
  | { type: "copies"; act: CopiesAct }
  /** Found by the check in the browser, before anything was sent. */
  | { type: "checked"; serial: number; found: Checked };

export const emptyRun: RunState = { errors: {}, receipts: [], isSending: false, uploading: [], attention: 0 };

export const mostReceipts = 5;

export function runReducer(state: RunState, action: RunAction): RunState {
  switch (action.type) {
    case "opened": {
      const { opened } = state;
      return {
        ...calm(state),
        opened: { ...action.file, original: action.file.graph, serial: nextSerial(state), isEdited: false },
        before: opened,
      };
    }
    case "restored": {
      if (state.opened) return state;
      const original = action.file.graph;
      const changed = Object.entries(action.inputs).flatMap(([id, inputs]) => {
        const node = own(original, id);
        return node ? [[id, { ...node, inputs }] as const] : [];
      });
      const graph = changed.length > 0 ? { ...original, ...Object.fromEntries(changed) } : original;
      const names = action.ownNames && { ownNames: action.ownNames };
      return {
        ...calm(state),
        opened: { ...action.file, ...names, original, graph, serial: nextSerial(state), isEdited: graph !== original },
      };
    }
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
    case "edited":
      return state.opened?.serial === action.serial ? edited(state, state.opened, action) : state;
    case "advanced": {
      const { opened } = state;
      if (opened?.serial !== action.serial) return state;
      return { ...state, opened: { ...opened, advanced: action.advanced }, submitError: leftOf(state.submitError, state.errors) };
    }
    case "secrets-left-out": {
      const { opened } = state;
      if (opened?.serial !== action.serial) return state;
      const extra = readExtra(opened.advanced?.extra ?? "");
      const left = leftOut({ graph: opened.graph, extraData: opened.extraData }, action.places);
      const written = extra.ok ? leftOut({ graph: {}, extraData: extra.value }, action.places).extraData : undefined;
      const isWritten = written !== undefined && Object.keys(written).length > 0;
      const advanced = { ...opened.advanced, ...(extra.ok && { extra: isWritten ? writeExactJson(written, 2) : "" }) };
      const isEdited = opened.isEdited || left.graph !== opened.graph;
      return { ...state, opened: { ...opened, ...left, advanced, isEdited, leftOut: action.places, sent: undefined } };
    }
    case "saved": {
      const { opened } = state;
      if (opened?.serial !== action.serial) return state;
      const isEdited = opened.isEdited && opened.graph !== action.graph;
      return { ...state, opened: { ...opened, stored: action.path, name: nameOfFile(action.path), isEdited } };
    }
    case "named": {
      const { opened } = state;
      if (opened?.serial !== action.serial) return state;
      return { ...state, opened: { ...opened, ownNames: { ...opened.ownNames, [action.value]: action.name } } };
    }
    case "upload": {
      if (state.opened?.serial !== action.serial) return state;
      const others = state.uploading.filter((key) => key !== action.key);
      return { ...state, uploading: action.isRunning ? [...others, action.key] : others };
    }
    case "sending":
      return { ...state, isSending: true, inFlight: state.opened?.graph, submitError: undefined, errors: {} };
    case "answered":
      return answered(state, action);
    case "checked": {
      const { serial, found } = action;
      if (state.opened?.serial !== serial) return state;
      const kind = found.code === "prompt_no_outputs" ? "refused" : "invalid";
      const submitError = { kind, failure: { code: found.code, message: "", status: 0 } } as const;
      return { ...state, submitError, errors: found.errors, attention: state.attention + 1 };
    }
    case "pending-images":
      return { ...state, pendingImages: action.pendingImages, arriving: action.pendingImages ? undefined : state.arriving };
    case "copies": {
      const copies = copiesReducer(state.copies, action.act);
      // The graph is sent by its copies, so leaving the page loses nothing of it.
      const opened = action.act.act === "begun" && state.opened ? { ...state.opened, sent: state.opened.graph } : state.opened;
      return { ...state, copies, opened };
    }
    case "recalled":
      return state.receipts.length > 0 ? state : { ...state, receipts: action.receipts };
    case "cancelled": {
      const receipts = state.receipts.map((one) => (action.jobIds.includes(one.jobId) ? { ...one, isCancelled: true } : one));
      return { ...state, receipts };
    }
    case "job-dismissed":
      return { ...state, receipts: state.receipts.map((one) => (one.jobId === action.jobId ? { ...one, isDismissed: true } : one)) };
    case "submit-error-dismissed":
      return { ...state, submitError: undefined };
  }
}

/** Drops everything that belongs to the workflow open until now. */
function calm(state: RunState): RunState {
  return { ...state, refusal: undefined, errors: {}, submitError: undefined, uploading: [], arriving: undefined, asked: undefined };
}

function nextSerial(state: RunState): number {
  return Math.max(state.opened?.serial ?? 0, state.before?.serial ?? 0) + 1;
}

function edited(state: RunState, opened: OpenWorkflow, edit: Extract<RunAction, { type: "edited" }>): RunState {
  const { nodeId, name, value, catalogue } = edit;
  const changed = withInput(opened.graph, nodeId, name, value);
  const graph = changed === opened.graph ? changed : (withChoice(opened.graph, nodeId, edit, catalogue) ?? changed);
  if (graph === opened.graph) return state;
  const errors = withoutField(state.errors, nodeId, name);
  return { ...state, opened: { ...opened, graph, isEdited: true }, errors, submitError: leftOf(state.submitError, errors) };
}

/** After an edit, messages about an earlier run no longer apply, except for one that may have started or still names a node. */
function leftOf(submitError: SubmitError | undefined, errors: NodeErrors): SubmitError | undefined {
  const stays = submitError?.kind === "unknown" || (submitError?.kind === "invalid" && Object.keys(errors).length > 0);
  return stays ? submitError : undefined;
}

/** Once a value is changed, the service's error about the old value no longer applies. */
function withoutField(errors: NodeErrors, nodeId: string, name: string): NodeErrors {
  const entry = own(errors, nodeId);
  if (!entry) return errors;
  const left = entry.errors.filter(({ extra_info }) => extra_info.input_name !== name);
  const { [nodeId]: _, ...others } = errors;
  return left.length === 0 ? others : { ...others, [nodeId]: { ...entry, errors: left } };
}

function answered(state: RunState, { serial, outcome, attempt, atMs }: Extract<RunAction, { type: "answered" }>): RunState {
  const isCurrent = state.opened?.serial === serial;
  const next = { ...state, isSending: false, inFlight: undefined };
  if (outcome.kind === "accepted") {
    const nodesRefused = Object.keys(outcome.errors).length;
    const receipt: Receipt = {
      jobId: outcome.jobId,
      name: attempt?.name ?? state.opened?.name ?? "",
      atMs,
      nodesRefused,
      ...(attempt && { workflowId: attempt.workflowId }),
      ...(attempt?.connection !== undefined && { connection: attempt.connection }),
      ...(outcome.secretPlaces && { secretPlaces: outcome.secretPlaces }),
    };
    const receipts = [receipt, ...state.receipts].slice(0, mostReceipts);
    const opened = isCurrent && state.opened ? { ...state.opened, sent: state.inFlight } : state.opened;
    return { ...next, opened, receipts, ...(isCurrent && nodesRefused > 0 && { errors: outcome.errors, attention: state.attention + 1 }) };
  }
  const submitError = { kind: outcome.kind, failure: outcome.failure, ...(attempt && { attempt }) };
  if (outcome.kind !== "invalid" || !isCurrent) return { ...next, submitError };
  return { ...next, submitError, errors: outcome.errors, attention: state.attention + 1 };
}
