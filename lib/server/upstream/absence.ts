// Whether a refusal means that the service lacks the operation. Decided only here: such a refusal gets the code NOT_IMPLEMENTED.
// Guarantees: a 404 that may be about an item counts only if the item itself is found. Must never: change anything to find out.

import "server-only";
import { isTerminalWord, type KnownJobState, toJobState } from "@/lib/contract/jobs/job-list";
import { isObject, textOf } from "@/lib/contract/json/json";
import { answersBytes, isRead, type Operation } from "@/lib/contract/operation";
import { operations } from "@/lib/contract/operations";
import { type UserdataFile } from "@/lib/contract/schemas/files";
import { TOP } from "@/lib/contract/userdata-paths";
import { type CallInput } from "./outgoing";

export function saysAbsent(operation: Operation, status: number): boolean {
  return status === 405 || status === 501 || (status === 404 && operation.item === undefined && mayBeMissing(operation));
}

/** Something that every service has was not found: an outage, or a wrong address. */
export function saysNothingThere(operation: Operation, status: number): boolean {
  return status === 404 && operation.item === undefined && !mayBeMissing(operation);
}

/** Of the core only the user may be missing: a local server has none, and is recognised by that. */
function mayBeMissing(operation: Operation): boolean {
  return operation.tier === "extension" || operation.isLackedByLocal === true;
}

/** `only`: this item may belong to another user, or be damaged. One refusal proves nothing; refusals of two items do. */
type Lookup = { operation: Operation; input: CallInput; only?: string; finds(answer: unknown): boolean };

/**
 * A read that tells whether the item of a refused extension exists, in a state that the operation accepts; undefined if there is no such
 * read. Content may be gone although its item exists.
 */
export function lookupOf(asked: Operation, { params = {}, json, signal, limits }: CallInput): Lookup | undefined {
  const { item, capability } = asked;
  const how = { signal, limits };
  const jobId = params.job_id ?? (isObject(json) ? textOf(json.prompt_id) : undefined);
  const { id, task_id, file } = params;
  if (capability === undefined || answersBytes(asked)) return undefined;
  if (item === "asset" && id !== undefined)
    return { operation: operations.getAsset, input: { ...how, params: { id } }, only: id, finds: mayChange };
  if (item === "job" && jobId !== undefined) {
    const finds = isRead(asked) ? isObject : capability === "interrupt" ? isIn("in_progress") : isIn("pending", "in_progress");
    return { operation: operations.getJob, input: { ...how, params: { job_id: jobId } }, finds };
  }
  if (item === "task" && task_id !== undefined)
    return { operation: operations.getTask, input: { ...how, params: { task_id } }, finds: goesOn };
  if (item !== "file" || file === undefined) return undefined;
  const folder = file.slice(0, file.lastIndexOf("/") + 1);
  const query = { dir: folder || TOP, recurse: false, split: false, full_info: true };
  // Some services name files from the folder on, some from the top.
  const names = [file, file.slice(folder.length)];
  const isFile = ({ path }: UserdataFile) => names.includes(path.replace(/^\/+/, ""));
  const finds = (answer: unknown) => operations.listUserdata.answers[200].schema.safeParse(answer).data?.some(isFile) ?? false;
  return { operation: operations.listUserdata, input: { ...how, query }, only: file, finds };
}

function mayChange(asset: unknown): boolean {
  return isObject(asset) && asset.is_immutable !== true;
}

function isIn(...states: readonly KnownJobState[]) {
  return (job: unknown) => isObject(job) && states.some((state) => state === toJobState(textOf(job.status) ?? ""));
}

function goesOn(task: unknown): boolean {
  return isObject(task) && !isTerminalWord(textOf(task.status) ?? "");
}
