// Why a file was not opened: facts only; the sentences are in the message catalogue.

import { type Failure } from "@/lib/contract/failure";
import { type WorkflowProblem } from "@/lib/contract/workflow/graph";

export type RefusalReason =
  | WorkflowProblem
  /** A file of the editor, and the service's list of nodes could not be read. */
  | { code: "no_catalogue"; failure: Failure }
  /** A file of the editor without any node that would be sent. */
  | { code: "nothing_runs" }
  /** A picture, video, sound or 3D scene without a workflow inside. */
  | { code: "picture" | "media" }
  /** What it holds as a workflow is unreadable, or too large to search. */
  | { code: "damaged" | "too_much" }
  | { code: "job_gone" }
  | { code: "job_without_workflow" }
  | { code: "file_gone" }
  /** None of the chosen assets is a picture that still exists. */
  | { code: "no_pictures"; gone: boolean }
  /** The service did not deliver it. */
  | { code: "unread"; failure: Failure }
  | { code: "several_files"; count: number }
  | { code: "unreadable_file" }
  | { code: "sample_missing" };

/** `fileName` is absent for pasted text. */
export type Refusal = { fileName?: string; reason: RefusalReason };
