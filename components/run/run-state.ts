// What the Run page holds, and every change it can go through; run-reducer.ts makes them.

import { type Failure } from "@/lib/contract/failure";
import { type JsonObject } from "@/lib/contract/json/json";
import { type NodeErrors } from "@/lib/contract/schemas/execution";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { type SecretPlace } from "@/lib/contract/secrets/secret-places";
import { type CopiesAct, type CopiesSet } from "./copies/copies-state";
import { type Checked } from "./form/check";
import { type Attempt, type RunOutcome } from "./submit/attempt";
import { type Advanced, type OpenedFile, type OpenWorkflow } from "./workflow/opened";
import { type PendingImages } from "./workflow/pending-images";
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

export const emptyRun: RunState = { errors: {}, receipts: [], isSending: false, uploading: [], attention: 0 };

export const mostReceipts = 5;

export type RunAction = WorkflowAction | OpenedAction | SubmitAction;

/** Which workflow is open, or opens next. */
type WorkflowAction =
  | { type: "opened"; file: OpenedFile }
  /** After a reload. */
  | { type: "restored"; file: OpenedFile; inputs: Readonly<Record<string, JsonObject>>; ownNames?: Readonly<Record<string, string>> }
  | { type: "arriving"; arriving: Arriving | undefined }
  | { type: "asked"; file: OpenedFile | undefined }
  | { type: "refused"; refusal: Refusal }
  | { type: "refusal-read" }
  | { type: "went-back" }
  | { type: "closed" }
  | { type: "pending-images"; pendingImages: PendingImages | undefined };

/** A change of the open workflow with this serial; ignored once another one is open. `catalogue`: a chosen value may add inputs of its own. */
export type OpenedAction = { serial: number } & (
  | { type: "edited"; nodeId: string; name: string; value: unknown; catalogue?: ObjectInfo }
  | { type: "advanced"; advanced: Advanced }
  /** Keys and tokens that the newest job was sent with are taken out of it. */
  | { type: "secrets-left-out"; places: readonly SecretPlace[] }
  | { type: "saved"; path: string; graph: Graph }
  | { type: "named"; value: string; name: string }
  | { type: "upload"; key: string; isRunning: boolean }
  /** Found by the check in the browser, before anything was sent. */
  | { type: "checked"; found: Checked }
);

/** What was sent, and what became of it. `serial`: of the workflow that was open then. */
type SubmitAction =
  | { type: "sending" }
  | { type: "answered"; serial: number; outcome: RunOutcome; attempt?: Attempt; atMs: number }
  /** After a reload. */
  | { type: "recalled"; receipts: readonly Receipt[] }
  | { type: "cancelled"; jobIds: readonly string[] }
  | { type: "job-dismissed"; jobId: string }
  | { type: "submit-error-dismissed" }
  | { type: "copies"; act: CopiesAct };
