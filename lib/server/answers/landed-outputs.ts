// What jobs that still run have put out and how far they are, as their services tell it on the WebSocket (GET /ws): a memory of this process.
// Guarantees: one socket for each service and key, while its jobs are asked for; bounded in sockets, jobs, nodes and bytes. A service without a
// socket has told nothing: how a job ended is read from the job.
// Must never: hold up a request, or keep a socket that is not asked for.

import "server-only";
import { type JsonObject, numberOf, objectOf, parseJson, textOf } from "@/lib/contract/json/json";
import { type Outputs, outputsSchema } from "@/lib/contract/schemas/outputs";
import { type Feed, feedEnds, type FeedEnd, type FeedTarget } from "@/lib/shared/message-feed";

/** `jobs`, `bytes`: of one socket. */
const most = { sockets: 50, jobs: 200, bytes: 4 * 1024 ** 2, messageBytes: 256 * 1024 };
const LOOK_MS = 30_000;
/** A job may be long, and is not looked at all the time. */
const UNASKED_MS = 30 * 60_000;
const AGAIN_MS = 10_000;
const WITHOUT_MS = 10 * 60_000;

/** `isHeard`: from when it is opened until it has ended; before `restsUntil` it is not opened again. */
type Place = { askedAt: number; isHeard: boolean; restsUntil: number; feed: Feed | undefined; jobs: Map<string, Told> };
/** `done`: the nodes that have ended, those from a cache among them; `within`: of those at work, from 0 to 1 each. */
export type Told = { outputs: Outputs; cached: readonly string[]; bytes: number; progress?: { done: number; within: number } };
/** Opens a socket to the service; what it tells arrives clean. */
type Listen = (target: FeedTarget) => Promise<Feed | undefined>;

export type LandedOutputs = ReturnType<typeof createLandedOutputs>;

export function createLandedOutputs(now: () => number) {
  const places = new Map<string, Place>();
  const looking = setInterval(() => void look(), LOOK_MS).unref();

  function close(name: string, place: Place): void {
    places.delete(name);
    place.feed?.stop();
  }

  async function look(): Promise<void> {
    for (const [name, place] of [...places]) {
      if (now() - place.askedAt > UNASKED_MS) close(name, place);
      // An outage says nothing of the key: it is asked again at the next look.
      else if ((await ask(place).catch(() => undefined)) !== undefined) close(name, place);
    }
  }

  const ask = async ({ feed }: Place) => feed?.objection();

  async function open(name: string, place: Place, listen: Listen): Promise<void> {
    place.isHeard = true;
    const end = (why?: FeedEnd) => {
      place.isHeard = false;
      place.feed = undefined;
      place.restsUntil = now() + (why?.code === feedEnds.notFound ? WITHOUT_MS : AGAIN_MS);
    };
    const feed = await listen({ send: (message) => note(place.jobs, message), end }).catch(() => undefined);
    if (!feed) end();
    else if (places.get(name) === place && place.isHeard) place.feed = feed;
    else feed.stop();
  }

  return {
    /** By job and node, from now on. `name`: of the service and the key. */
    at(name: string, listen: Listen): ReadonlyMap<string, Told> {
      const place = places.get(name) ?? { askedAt: 0, isHeard: false, restsUntil: 0, feed: undefined, jobs: new Map<string, Told>() };
      // The most recently used come last.
      places.delete(name);
      places.set(name, place);
      place.askedAt = now();
      if (!place.isHeard && now() >= place.restsUntil) void open(name, place, listen);
      for (const [oldest, other] of [...places].slice(0, -most.sockets)) close(oldest, other);
      return place.jobs;
    },

    stop(): void {
      clearInterval(looking);
      for (const [name, place] of places) close(name, place);
    },
  };
}

const wanted = /"(?:executed|execution_cached|progress_state)"/;

/** Steps of single nodes, and pictures of what is under way, are not. */
export function isWanted(message: string | Uint8Array): message is string {
  return typeof message === "string" && message.length <= most.messageBytes && wanted.test(message);
}

function note(jobs: Place["jobs"], message: string | Uint8Array): void {
  const told = isWanted(message) ? objectOf(parseJson(message)) : undefined;
  const data = objectOf(told?.data);
  const jobId = textOf(data?.prompt_id);
  if (!data || jobId === undefined) return;
  const known = jobs.get(jobId) ?? { outputs: {}, cached: [], bytes: 0 };
  const next = after(known, textOf(told?.type), data, message.length);
  if (!next || next.bytes > most.bytes) return;
  jobs.delete(jobId);
  jobs.set(jobId, next);
  let bytes = [...jobs.values()].reduce((sum, one) => sum + one.bytes, 0);
  for (const [oldest, one] of jobs) {
    if (jobs.size <= most.jobs && bytes <= most.bytes) return;
    jobs.delete(oldest);
    bytes -= one.bytes;
  }
}

function after(known: Told, type: string | undefined, data: JsonObject, length: number): Told | undefined {
  const node = textOf(data.node);
  const bytes = known.bytes + length;
  if (type === "executed" && node !== undefined) {
    const output = outputsSchema.safeParse({ [node]: data.output });
    return output.success ? { ...known, bytes, outputs: { ...known.outputs, ...output.data } } : undefined;
  }
  if (type === "execution_cached" && Array.isArray(data.nodes))
    return { ...known, bytes, cached: data.nodes.filter((id) => typeof id === "string") };
  const nodes = type === "progress_state" ? objectOf(data.nodes) : undefined;
  return nodes && { ...known, progress: progressIn(nodes, known.cached) };
}

/** A service may tell of those from its cache here too, or not. */
function progressIn(nodes: JsonObject, cached: readonly string[]): NonNullable<Told["progress"]> {
  const done = new Set(cached);
  let within = 0;
  for (const [id, state] of Object.entries(nodes)) {
    const { state: word, value, max } = objectOf(state) ?? {};
    if (word === "finished") done.add(id);
    else if (word === "running") within += share(numberOf(value), numberOf(max));
  }
  return { done: done.size, within };
}

function share(value = 0, max = 0): number {
  return max > 0 ? Math.min(1, Math.max(0, value / max)) : 0;
}
