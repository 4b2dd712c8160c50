// Requests a runner's queue, catalogue and job status.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { isObject, numberOf, objectOf, textOf } from "@/lib/contract/json/json";
import { own } from "@/lib/contract/json/own";
import { type RunnerProblem } from "@/lib/contract/runners/runner-problems";
import { runnerAddressSchema, type RunnerFacts } from "@/lib/contract/runners/runners";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Listening } from "./events-of";
import { withoutFileNames } from "./libraries";
import { askJson, askText, type ExchangeFailure, nonsense } from "./speak";

/** Enough for ten thousand classes with long lists of models. */
const CATALOGUE_BOUNDS = { bytes: 48 * 1024 ** 2, values: 500_000 };
/** The runner looks through all folders of models first, which may be on a slow disk. */
const CATALOGUE_ANSWER_MS = 90_000;
const MOST_DEVICES = 64;

type Health = Omit<RunnerFacts, "classes">;
type Catalogue = Record<string, unknown>;
type Problem = { code: RunnerProblem; message: string };

/** `answerMs`: how long the first answer may take, instead of the usual time. */
type Patience = { signal?: AbortSignal; answerMs?: number };

export async function askHealth(address: string, patience: Patience = {}): Promise<Result<Health, ExchangeFailure>> {
  const stats = await askJson(address, "/system_stats", patience);
  if (!stats.ok) return stats;
  const system = isObject(stats.value) ? objectOf(stats.value.system) : undefined;
  if (!isObject(stats.value) || !system) return failed(nonsense("It answers, but not as a server of the family."));
  const queue = await askQueue(address, patience.signal);
  if (!queue.ok) return queue;
  const { running, pending } = queue.value;
  const devices = (Array.isArray(stats.value.devices) ? stats.value.devices : []).filter(isObject);
  return ok({
    version: textOf(system.comfyui_version)?.slice(0, 100) ?? null,
    devices: devices.slice(0, MOST_DEVICES).map((device) => ({
      name: (textOf(device.name) ?? "").slice(0, 200),
      type: (textOf(device.type) ?? "").slice(0, 40),
      vramTotal: numberOf(device.vram_total) ?? null,
      vramFree: numberOf(device.vram_free) ?? null,
    })),
    queue: { running: running.length, pending: pending.length },
  });
}

/** An entry of a runner's queue: the job's position, its id at the runner, and who submitted it. */
export type QueueEntry = { number: number; promptId: string; clientId: string | undefined };

/** A queue or history contains whole graphs. Nothing below a job's extra_data is read. */
const ENTRY_BOUNDS = { bytes: 64 * 1024 ** 2, values: 500_000, keepDepth: 4 };

export async function askQueue(
  address: string,
  signal?: AbortSignal,
): Promise<Result<Record<"running" | "pending", QueueEntry[]>, ExchangeFailure>> {
  const answer = await askJson(address, "/queue", { signal }, ENTRY_BOUNDS);
  if (!answer.ok) return answer;
  const { queue_running, queue_pending } = objectOf(answer.value) ?? {};
  if (!Array.isArray(queue_running) || !Array.isArray(queue_pending)) return failed(nonsense("Its queue cannot be read."));
  return ok({ running: queue_running.flatMap(toEntry), pending: queue_pending.flatMap(toEntry) });
}

/** [number, id, graph, extra_data, output node ids] */
function toEntry(item: unknown): QueueEntry[] {
  if (!Array.isArray(item) || typeof item[1] !== "string") return [];
  const extra = objectOf(item[3]);
  return [
    { number: numberOf(item[0]) ?? 0, promptId: item[1], clientId: typeof extra?.client_id === "string" ? extra.client_id : undefined },
  ];
}

export async function askCatalogue(address: string, signal?: AbortSignal): Promise<Result<Catalogue, ExchangeFailure>> {
  const answer = await askJson(address, "/object_info", { signal, answerMs: CATALOGUE_ANSWER_MS }, CATALOGUE_BOUNDS);
  if (!answer.ok) return answer;
  const classes = Object.entries(objectOf(answer.value) ?? {}).filter(([, info]) => isObject(info) && isObject(info.input));
  return classes.length > 0 ? ok(Object.fromEntries(classes)) : failed(nonsense("It names no node classes."));
}

export type About = { address: string; facts: RunnerFacts; catalogue: Catalogue };

/** Asks an address that a user typed. */
export async function askAbout(typed: string, patience?: Patience): Promise<Result<About, Problem>> {
  const read = runnerAddressSchema.safeParse(typed);
  if (!read.success) return failed({ code: "not_reachable", message: `The address ${read.error.issues[0]?.message ?? "cannot be read"}.` });
  const address = read.data;
  const health = await askHealth(address, patience);
  if (!health.ok) return failed(await inWords(address, health.failure));
  const catalogue = await askCatalogue(address);
  if (!catalogue.ok) return failed(await inWords(address, catalogue.failure));
  // Without this, a job that ended could not be read back.
  const history = await askJson(address, `/history/${"0".repeat(8)}-0000-4000-8000-${"0".repeat(12)}`);
  if (!history.ok || !isObject(history.value))
    return failed({ code: "too_old", message: "It has no history of single jobs. Bring the server up to date." });
  return ok({ address, facts: { ...health.value, classes: Object.keys(catalogue.value).length }, catalogue: catalogue.value });
}

export function catalogueText(catalogue: Catalogue): string {
  const kept = Object.entries(catalogue).map(([name, info]) => [name, isObject(info) ? withoutFileNames(info) : info]);
  return writeExactJson(Object.fromEntries(kept));
}

/** A service with keys answers some of its paths to everyone; its answer to /api/user tells it apart. */
async function inWords(address: string, failure: ExchangeFailure): Promise<Problem> {
  const { code, message } = failure;
  if (code === "not_a_server" || code === "cloud_service") {
    const user = await askJson(address, "/api/user");
    if (code === "cloud_service" || (!user.ok && (user.failure.status === 401 || user.failure.status === 403)))
      return {
        code: "cloud_service",
        message: "This is a service with users and keys, not a plain server. Add it as a connection instead.",
      };
  }
  return { code, message };
}

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
