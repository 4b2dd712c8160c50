// Finds a job on a runner: in its history, in its queue, or nowhere. Also takes a job out of its queue.
// Must never: take out or interrupt another job.

import { objectOf } from "@/lib/contract/json/json";
import { own } from "@/lib/contract/json/own";
import { askQueue, ENTRY_BOUNDS, type QueueEntry, toEntry } from "./ask-about";
import { type Listening } from "./events-of";
import { askJson, askText, type ExchangeFailure } from "./speak";

type Whereabouts =
  | { kind: "ended"; entry: unknown }
  /** `ahead`: the queue entries before it. */
  | { kind: "waits"; ahead: readonly QueueEntry[] }
  | { kind: "runs" | "nowhere" }
  | { kind: "silent"; failure: ExchangeFailure };

/** A job's graph, the editor's workflow, and its nodes' outputs. */
const HISTORY_BOUNDS = { bytes: 32 * 1024 ** 2, values: 500_000 };
const POLLS_PER_QUEUE_REQUEST = 10;
/** How many of the last entries are searched for a job whose id there is not known. */
const LAST_ENTRIES = 200;

/** By its id at the runner, or by our own name for it, whatever id the runner gave it. */
type Known = { promptId: string; clientId: string };
const isOf = (known: Known) => (entry: QueueEntry) => entry.promptId === known.promptId || entry.clientId === known.clientId;

/**
 * Polls for a job. A queue contains whole graphs. While the runner reports over the same connection (number `connection`), only one of ten
 * polls requests the queue, plus one after each change for a waiting job. Other polls assume the last position unless the job has ended.
 */
export function looksFor(
  address: string,
  known: Known,
  { connection, queueVersion }: Pick<Listening, "connection" | "queueVersion">,
): (signal: AbortSignal) => Promise<Whereabouts> {
  let before: { place: Whereabouts; connection: number; version: string; looks: number } | undefined;
  return async (signal) => {
    const now = { connection: connection(), version: queueVersion() };
    const isSame = before?.connection === now.connection && (before?.place.kind === "runs" || before?.version === now.version);
    if (before && isSame && before.looks < POLLS_PER_QUEUE_REQUEST) {
      before.looks += 1;
      const ended = await historyOf(address, known, signal);
      return ended.kind === "nowhere" ? before.place : ended;
    }
    const place = await whereIs(address, known, signal);
    const isThere = place.kind === "runs" || place.kind === "waits";
    before = isThere && now.connection !== undefined ? { ...now, connection: now.connection, place, looks: 1 } : undefined;
    return place;
  };
}

/** The history, then the queue, then the history again: a job may move from one to the other in between. */
export async function whereIs(address: string, known: Known, signal?: AbortSignal): Promise<Whereabouts> {
  const first = await historyOf(address, known, signal);
  if (first.kind !== "nowhere") return first;
  const queue = await askQueue(address, signal);
  if (!queue.ok) return { kind: "silent", failure: queue.failure };
  const isIt = isOf(known);
  if (queue.value.running.some(isIt)) return { kind: "runs" };
  const waiting = queue.value.pending.find(isIt);
  if (waiting)
    return { kind: "waits", ahead: [...queue.value.running, ...queue.value.pending.filter(({ number }) => number < waiting.number)] };
  const again = await historyOf(address, known, signal);
  return again.kind === "nowhere" ? historyByClient(address, known, signal) : again;
}

async function historyOf(address: string, { promptId }: Known, signal?: AbortSignal): Promise<Whereabouts> {
  // The server chose this id: it must not change the rest of the URL.
  if (!/^[\w:-][\w:.-]{0,199}$/.test(promptId)) return { kind: "nowhere" };
  const answer = await askJson(address, `/history/${encodeURIComponent(promptId)}`, { signal }, HISTORY_BOUNDS);
  if (!answer.ok) return { kind: "silent", failure: answer.failure };
  const entry = own(objectOf(answer.value), promptId);
  return entry === undefined ? { kind: "nowhere" } : { kind: "ended", entry };
}

/** For a server that chose an id of its own, which did not arrive here. */
async function historyByClient(address: string, { clientId }: Known, signal?: AbortSignal): Promise<Whereabouts> {
  const answer = await askJson(address, `/history?max_items=${LAST_ENTRIES}`, { signal }, ENTRY_BOUNDS);
  if (!answer.ok) return { kind: "silent", failure: answer.failure };
  const entries = Object.entries(objectOf(answer.value) ?? {});
  const [promptId] = entries.find(([, one]) => toEntry(objectOf(one)?.prompt)[0]?.clientId === clientId) ?? [];
  return promptId === undefined ? { kind: "nowhere" } : historyOf(address, { promptId, clientId }, signal);
}

/** True if the job is neither queued nor running any more. Takes out only this job, and interrupts only where this job runs. */
export async function clearAway(address: string, known: Known, signal?: AbortSignal): Promise<boolean> {
  const queue = await askQueue(address, signal);
  if (!queue.ok) return false;
  const isIt = isOf(known);
  const waiting = queue.value.pending.find(isIt);
  const running = queue.value.running.find(isIt);
  if (waiting) await askText(address, "/queue", { method: "POST", body: { delete: [waiting.promptId] }, signal });
  // Servers that do not know the id interrupt whatever runs, so this job must be the only one that runs.
  if (running && queue.value.running.length === 1)
    await askText(address, "/interrupt", { method: "POST", body: { prompt_id: running.promptId }, signal });
  if (!waiting && !running) return true;
  const after = await askQueue(address, signal);
  return after.ok && ![...after.value.pending, ...after.value.running].some(isIt);
}
