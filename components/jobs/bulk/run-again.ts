import { newPressKey } from "@/lib/browser/press-key";
import { withQuery } from "@/lib/browser/urls";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { isObject, type JsonObject, objectOf } from "@/lib/contract/json";
import { mayHaveStarted, PRESS_HEADER } from "@/lib/contract/press";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { MASK } from "@/lib/contract/secret-texts";
import { callPatiently, meetsAll, type Work } from "./bulk-call";
import { type BatchOutcome } from "./in-batches";
import { type Outcome } from "./receipt-entry";

const DRAWING = "extra_pnginfo";

/** The job's own workflow once more. What left no clear answer is told as such and never sent again. */
export async function runAgain(id: string, work: Work): Promise<BatchOutcome> {
  const { connection } = work;
  const read = await callPatiently<JobDetail>(withQuery(`/api/jobs/${encodeURIComponent(id)}`, { connection }), {}, work);
  if (!read.ok) return told(id, read.failure.status === 404 ? "missing" : "failed", read.failure);
  const submission = toSubmissionAgain(read.value.workflow);
  if (submission === "secret" || submission === "noWorkflow") return { entries: [{ id, outcome: submission }] };
  if (work.signal.aborted) return { entries: [{ id, outcome: "notDone" }] };
  const init = { method: "POST", json: submission, headers: { [PRESS_HEADER]: newPressKey() } };
  const sent = await callPatiently<unknown>(withQuery("/api/prompt", { connection }), init, work);
  if (!sent.ok) return told(id, isUnanswered(sent.failure) ? "unknown" : "refused", sent.failure);
  const newId = objectOf(sent.value)?.prompt_id ?? objectOf(sent.value)?.job_id;
  return { entries: [typeof newId === "string" ? { id, outcome: "ranAgain", newId } : { id, outcome: "unknown" }] };
}

/**
 * Details carry { prompt, extra_data } or the bare graph. A masked input is not the input: the job would run with the mask.
 * Beside the inputs, what holds a masked value is a key that a service fills in by itself, so it is left out; the editor's drawing is read
 * by nobody but an editor and carries the workflow's id.
 */
export function toSubmissionAgain(workflow: unknown): { prompt: JsonObject; extra_data?: JsonObject } | "secret" | "noWorkflow" {
  const whole = objectOf(workflow);
  const prompt = objectOf(whole?.prompt) ?? (whole && isGraph(whole) ? whole : undefined);
  if (!prompt || !isGraph(prompt)) return "noWorkflow";
  if (isMasked(prompt)) return "secret";
  const extra = Object.entries(objectOf(whole?.extra_data) ?? {}).filter(([name, value]) => name === DRAWING || !isMasked(value));
  return extra.length > 0 ? { prompt, extra_data: Object.fromEntries(extra) } : { prompt };
}

function isGraph(value: JsonObject): boolean {
  const nodes = Object.values(value);
  return nodes.length > 0 && nodes.every((node) => isObject(node) && typeof node.class_type === "string");
}

function isMasked(value: unknown): boolean {
  return JSON.stringify(value)?.includes(MASK) ?? false;
}

function isUnanswered(failure: ApiFailure): boolean {
  return failure.status === 0 || failure.code === "CONSOLE_UNREACHABLE" || mayHaveStarted(failure);
}

function told(id: string, outcome: Outcome, failure: ApiFailure): BatchOutcome {
  return { entries: [{ id, outcome, failure }], isOver: meetsAll(failure) };
}
