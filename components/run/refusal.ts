// Why a file was not opened: facts only, the sentences are in the message catalogue.

import { type Failure } from "@/lib/contract/failure";
import { type WorkflowProblem } from "@/lib/contract/graph";

export type NamedNode = { id: string; title: string };

export type RefusalReason =
  | WorkflowProblem
  /** The loop in the order of the work: each feeds the next, the last feeds the first. */
  | { code: "cycle"; nodes: NamedNode[] }
  | { code: "dangling_link"; node: NamedNode; input: string; source: string; others: number }
  /** Without a workflow inside. */
  | { code: "picture" }
  | { code: "job_gone" }
  | { code: "job_without_workflow" }
  | { code: "file_gone" }
  /** It did not arrive from the service. */
  | { code: "unread"; failure: Failure }
  | { code: "several_files"; count: number }
  | { code: "unreadable_file" }
  | { code: "sample_missing" };

/** `fileName` is absent for what was pasted. */
export type Refusal = { fileName?: string; reason: RefusalReason };
