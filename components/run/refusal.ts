// Why a file was not opened: facts only, the sentences are in the message catalogue.

import { type WorkflowProblem } from "@/lib/contract/graph";

export type NamedNode = { id: string; title: string };

export type RefusalReason =
  | WorkflowProblem
  /** The loop in the order of the work: each feeds the next, the last feeds the first. */
  | { code: "cycle"; nodes: NamedNode[] }
  | { code: "dangling_link"; node: NamedNode; input: string; source: string; others: number }
  | { code: "picture" }
  | { code: "several_files"; count: number }
  | { code: "unreadable_file" }
  | { code: "sample_missing" };

/** `fileName` is absent for what was pasted. */
export type Refusal = { fileName?: string; reason: RefusalReason };
