import { type Tone } from "@/components/ui/status-badge";
import { type BatchOutcome, callPatiently, inBatches, meetsAll, type Work } from "@/lib/browser/bulk/bulk-calls";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type StopReceipt } from "@/lib/contract/console";
import { isTerminalWord, type JobState, toJobState } from "@/lib/contract/jobs/job-list";
import { type QueueAnswer } from "@/lib/contract/schemas/job";
import { mayHaveStarted } from "@/lib/contract/workflow/submission";

/** `word` and `state` are absent where the job is not on the visible page. */
export type KnownJob = JobNames & { id: string; word?: string; state?: JobState };

const BATCH = 100;
/** Each of them is a separate call to the service. */
const STOP_BATCH = 10;

/** Jobs of unknown state are sent on, and the service decides. */
export function fits(act: "cancel" | "remove" | "runAgain", { word, state }: KnownJob): boolean {
  if (word === undefined || state === undefined || act === "runAgain") return true;
  return act === "remove" ? isTerminalWord(word) : state === "pending" || state === "in_progress";
}

/** Stops running jobs and takes all others out of the queue; one call at a time, with a receipt for every job. */
export function cancelJobs(jobs: readonly KnownJob[], work: Work): Promise<ReceiptEntry[]> {
  return fitting("cancel", jobs, work, async (meant) => {
    const running = meant.filter(({ state }) => state === "in_progress");
    const waiting = meant.filter(({ state }) => state !== "in_progress");
    const fromQueue = inBatches(waiting, BATCH, (batch) => cancelWaiting(batch, work), work);
    // When the page is closing, all calls are sent at once; otherwise one waits for the other.
    if (!work.isLeaving) await fromQueue;
    const stopped = await inBatches(running, STOP_BATCH, (batch) => stop(batch, work), work);
    return [...(await fromQueue), ...stopped];
  });
}

/** Removes from the history. The service does not name what it removed; only its acceptance can be reported. */
export function removeJobs(jobs: readonly KnownJob[], work: Work): Promise<ReceiptEntry[]> {
  async function removeBatch(batch: readonly KnownJob[]): Promise<BatchOutcome<ReceiptEntry>> {
    const result = await post<unknown>("/api/history", { delete: batch.map(({ id }) => id) }, work);
    return result.ok ? { entries: batch.map(({ id }) => ({ id, outcome: "removed" })) } : refused("remove", batch, result.failure, work);
  }
  return fitting("remove", jobs, work, (meant) => inBatches(meant, BATCH, removeBatch, work));
}

type Act = (meant: readonly KnownJob[]) => Promise<ReceiptEntry[]>;

/** Jobs that are known to be in the wrong state get that outcome without a request. */
async function fitting(act: "cancel" | "remove", jobs: readonly KnownJob[], work: Work, carryOut: Act): Promise<ReceiptEntry[]> {
  const unfit = jobs.filter((job) => !fits(act, job));
  work.onDone(unfit.length);
  const entries = await carryOut(jobs.filter((job) => fits(act, job)));
  return named(jobs, [...entries, ...unfit.map(({ id }): ReceiptEntry => ({ id, outcome: act === "cancel" ? "over" : "notEnded" }))]);
}

/** Adds the names by which people know the job. */
export function named(jobs: readonly KnownJob[], entries: readonly ReceiptEntry[]): ReceiptEntry[] {
  const known = new Map(jobs.map(({ id, workflow, label, createdMs }) => [id, { workflow, label, createdMs }]));
  return entries.map((entry) => ({ ...known.get(entry.id), ...entry }));
}

async function cancelWaiting(batch: readonly KnownJob[], work: Work): Promise<BatchOutcome<ReceiptEntry>> {
  const result = await post<QueueAnswer>("/api/queue", { delete: batch.map(({ id }) => id) }, work);
  if (!result.ok) return refused("cancel", batch, result.failure, work);
  const deleted = result.value.deleted && new Set(result.value.deleted);
  const gone = new Set(result.value.gone);
  const outcomeOf = (id: string) => (gone.has(id) ? "gone" : !deleted ? "asked" : deleted.has(id) ? "cancelled" : "tooLate");
  return { entries: batch.map(({ id }) => ({ id, outcome: outcomeOf(id) })) };
}

async function stop(batch: readonly KnownJob[], work: Work): Promise<BatchOutcome<ReceiptEntry>> {
  const result = await post<StopReceipt>("/api/console/jobs/stop", { ids: batch.map(({ id }) => id) }, work);
  if (!result.ok) return refused("stop", batch, result.failure, work);
  const { stopped, stopping, over, unsure = [], together } = result.value;
  const found = await lookUp(
    "stop",
    batch.filter(({ id }) => unsure.includes(id)),
    undefined,
    work,
  );
  return {
    entries: batch.map(({ id }): ReceiptEntry => {
      const seen = found.find((entry) => entry.id === id);
      if (seen) return seen;
      if (stopped.includes(id)) return { id, outcome: "stopped" };
      if (stopping.includes(id)) return { id, outcome: "stopping" };
      if (over.includes(id)) return { id, outcome: "over" };
      return { id, outcome: "unable", ...(together > 0 && { together }) };
    }),
  };
}

function post<T>(path: `/${string}`, json: unknown, work: Work) {
  return callPatiently<T>(withQuery(path, { connection: work.connection }), { method: "POST", json }, work);
}

async function refused(ending: Ending, batch: readonly KnownJob[], failure: ApiFailure, work: Work): Promise<BatchOutcome<ReceiptEntry>> {
  const isUnsure = failure.status === 0 || mayHaveStarted(failure);
  const entries = isUnsure
    ? await lookUp(ending, batch, failure, work)
    : batch.map(({ id }): ReceiptEntry => ({ id, outcome: "failed", failure }));
  return { entries, isOver: meetsAll(failure) };
}

export const outcomes = [
  "cancelled",
  "stopped",
  "removed",
  "ranAgain",
  "stopping",
  "asked",
  "tooLate",
  "gone",
  "over",
  "notEnded",
  "unable",
  "secret",
  "noWorkflow",
  "missing",
  "refused",
  "unknown",
  "unsent",
  "failed",
  "notDone",
] as const;
export type Outcome = (typeof outcomes)[number];

/** By these people recognise a job; ids mean nothing to them. */
type JobNames = { workflow?: string; label?: string; createdMs?: number };

export type ReceiptEntry = JobNames & {
  id: string;
  outcome: Outcome;
  newId?: string;
  failure?: ApiFailure;
  /** It runs together with this many others, and the service can only stop them all at once. */
  together?: number;
};

const done: ReadonlySet<Outcome> = new Set(["cancelled", "stopped", "removed", "ranAgain"]);
const bad: ReadonlySet<Outcome> = new Set(["refused", "unknown", "unsent", "failed"]);

export function toneOf(outcome: Outcome): Tone {
  return done.has(outcome) ? "ok" : bad.has(outcome) ? "bad" : "off";
}

/** Worth repeating: what surely was not done, and what may have been done if doing it twice is harmless. A job is never submitted twice. */
export function isWorthAgain({ outcome }: ReceiptEntry, act: "cancel" | "remove" | "runAgain"): boolean {
  return outcome === "failed" || outcome === "unsent" || outcome === "notDone" || (outcome === "unknown" && act !== "runAgain");
}

/** The first failure, for a line that has room for one sentence. */
export function causeOf(entries: readonly ReceiptEntry[]): ApiFailure | undefined {
  return entries.find(({ failure }) => failure)?.failure;
}

type Ending = "cancel" | "stop" | "remove";

/** Derives the outcome of jobs without a clear answer from their present state: one call per job, nothing is sent a second time. */
async function lookUp(
  ending: Ending,
  batch: readonly { id: string }[],
  failure: ApiFailure | undefined,
  work: Work,
): Promise<ReceiptEntry[]> {
  const entries: ReceiptEntry[] = [];
  let isAsked = !work.isLeaving;
  for (const { id } of batch) {
    const seen = isAsked ? await stateOf(id, work) : undefined;
    // Once the service is unreachable, the remaining jobs are not requested.
    if (seen === undefined) isAsked = false;
    const outcome = seen === undefined ? "unknown" : outcomeIn(ending, seen);
    const isDone = outcome !== "unknown" && outcome !== "failed";
    entries.push({ id, outcome, ...(!isDone && failure && { failure }) });
  }
  return entries;
}

/** Undefined if not known. */
async function stateOf(id: string, work: Work): Promise<JobState | "missing" | undefined> {
  const path = withQuery(`/api/jobs/${encodeURIComponent(id)}`, { connection: work.connection });
  const found = await callPatiently<{ status?: string }>(path, { cache: "no-store" }, work);
  if (found.ok) return found.value.status === undefined ? undefined : toJobState(found.value.status);
  return found.failure.status === 404 ? "missing" : undefined;
}

function outcomeIn(ending: Ending, seen: JobState | "missing"): ReceiptEntry["outcome"] {
  if (ending === "remove") return seen === "missing" ? "removed" : "failed";
  if (seen === "missing") return "gone";
  if (seen === "cancelled") return ending === "stop" ? "stopped" : "cancelled";
  if (seen === "completed" || seen === "failed") return "over";
  if (seen === "in_progress" && ending === "cancel") return "tooLate";
  // A job that still waits was not cancelled; one that still runs may be about to stop.
  return seen === "pending" ? "failed" : "unknown";
}
