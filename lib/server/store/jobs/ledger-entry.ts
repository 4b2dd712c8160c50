// What the ledger knows of a job once an answer reported more of it, and how that is written: as a row and as the text of its words. Pure.
// Guarantees: an ended job does not change state again; what a note leaves out keeps its known value.

import "server-only";
import { isTerminalWord, toJobState } from "@/lib/contract/jobs/job-list";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type JobListItem, jobListItemSchema } from "@/lib/contract/schemas/job";
import { toJobView } from "@/lib/contract/views/job-view";
import { type Known } from "./ledger-rows";
import { bodyOf, markOf } from "./ledger-words";

/** What an answer reported about a job. Absent fields keep their known value. */
export type LedgerNote = {
  jobId: string;
  item?: Partial<JobListItem>;
  /** Exact to the millisecond if `isExact`. */
  createdMs?: number;
  isExact?: boolean;
  kinds?: readonly string[];
  memberId?: string;
  /** The name of the token that the member used. */
  token?: string;
  inputs?: string;
  /** Is ignored for a job that is not known yet. */
  isAside?: boolean;
};

export function merged(before: Known | undefined, note: LedgerNote): Known {
  const old: Partial<JobListItem> = before?.item ?? {};
  const reported = Object.fromEntries(Object.entries(note.item ?? {}).filter(([, value]) => value !== undefined));
  // An older answer that arrived late.
  const isLate = isOver(old.status) && !isOver(note.item?.status ?? old.status);
  const isNewTime = note.createdMs !== undefined && (note.isExact === true || !before?.createdMs);
  const createdMs = (isNewTime ? note.createdMs : before?.createdMs) ?? 0;
  return {
    jobId: note.jobId,
    // Fields in the order of the schema, as a row is read: otherwise an equal item would look new and be written at each poll.
    item: jobListItemSchema.parse({
      status: "unknown",
      ...old,
      ...(isLate ? {} : reported),
      id: note.jobId,
      create_time: createdMs || undefined,
    }),
    createdMs,
    isExact: before?.isExact === true || (note.isExact === true && note.createdMs !== undefined),
    kinds: [...new Set([...(before?.kinds ?? []), ...(note.kinds ?? [])])],
    memberId: before?.memberId ?? note.memberId,
    inputs: note.inputs ?? before?.inputs,
  };
}

const isOver = (word: string | undefined) => word !== undefined && isTerminalWord(word);

export function rowOf({ item, isExact, memberId, kinds, inputs }: Known) {
  const { runMs } = toJobView(item);
  return {
    is_exact: isExact ? 1 : 0,
    member_id: memberId ?? null,
    run_ms: runMs === undefined ? null : Math.round(runMs),
    kinds: kinds.join(","),
    item: writeExactJson(item),
    inputs: inputs ?? null,
  };
}

/** The text that the index of words gets for a job. */
export function indexed({ item, memberId, kinds, inputs = "" }: Pick<Known, "item" | "memberId" | "kinds" | "inputs">): string {
  const { error } = toJobView(item);
  const marks = [
    markOf("state", toJobState(item.status)),
    ...(memberId === undefined ? [] : [markOf("member", memberId)]),
    ...(item.workflow_id === undefined ? [] : [markOf("workflow", item.workflow_id)]),
    ...kinds.map((kind) => markOf("output", kind)),
  ];
  const errorText = error && [error.nodeType, error.type, error.lateValidation?.message ?? error.message].filter(Boolean).join(": ");
  return bodyOf(marks, [...(errorText ? [errorText] : []), inputs]);
}
