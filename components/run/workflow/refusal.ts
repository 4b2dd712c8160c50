// Why a file was not opened: facts only, the sentences are in the message catalogue.

import { type Failure } from "@/lib/contract/failure";
import { type WorkflowProblem } from "@/lib/contract/workflow/graph";

export type RefusalReason =
  | WorkflowProblem
  /** A file of the editor, and the service's list of nodes could not be had. */
  | { code: "no_catalogue"; failure: Failure }
  /** A file of the editor without a node that is sent. */
  | { code: "nothing_runs" }
  /** A picture, and a film, a sound or a scene, without a workflow inside. */
  | { code: "picture" | "media" }
  /** What it says about a workflow cannot be read, or is too much to look through. */
  | { code: "damaged" | "too_much" }
  | { code: "job_gone" }
  | { code: "job_without_workflow" }
  | { code: "file_gone" }
  /** None of the chosen assets is a picture that still exists. */
  | { code: "no_pictures"; gone: boolean }
  /** The service did not send it. */
  | { code: "unread"; failure: Failure }
  | { code: "several_files"; count: number }
  | { code: "unreadable_file" }
  | { code: "sample_missing" };

/** `fileName` is absent for what was pasted. */
export type Refusal = { fileName?: string; reason: RefusalReason };
