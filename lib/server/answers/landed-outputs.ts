// What jobs that still run have put out so far, as their services tell it on the WebSocket (`executed`, GET /ws): a memory of this process.
// Guarantees: one socket for each service and key, while its jobs are asked for; bounded in sockets, jobs, nodes and bytes. A service without a
// socket has told nothing: how a job ended is read from the job.
// Must never: hold up a request, or keep a socket that nobody asks after.

import "server-only";
import { objectOf, parseJson, textOf } from "@/lib/contract/json/json";
import { type Outputs, outputsSchema } from "@/lib/contract/schemas/outputs";
import { type Feed, feedEnds, type FeedEnd, type FeedTarget } from "@/lib/shared/message-feed";

const most = { sockets: 50, jobs: 200, nodes: 200, messageBytes: 256 * 1024 };
const LOOK_MS = 30_000;
/** A job may be long, and nobody looks at it all the time. */
const UNASKED_MS = 30 * 60_000;
const AGAIN_MS = 10_000;
const WITHOUT_MS = 10 * 60_000;

/** `isHeard`: from when it is opened until it has ended; before `restsUntil` it is not opened anew. */
type Place = { askedAt: number; isHeard: boolean; restsUntil: number; feed: Feed | undefined; jobs: Map<string, Outputs> };
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
    at(name: string, listen: Listen): ReadonlyMap<string, Outputs> {
      const place = places.get(name) ?? { askedAt: 0, isHeard: false, restsUntil: 0, feed: undefined, jobs: new Map<string, Outputs>() };
      // Those asked for last are the last.
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

export function isOfOutput(message: string | Uint8Array): message is string {
  return typeof message === "string" && message.length <= most.messageBytes && message.includes('"executed"');
}

function note(jobs: Place["jobs"], message: string | Uint8Array): void {
  const told = isOfOutput(message) ? objectOf(parseJson(message)) : undefined;
  const data = objectOf(told?.data);
  const [jobId, node] = [textOf(data?.prompt_id), textOf(data?.node)];
  if (told?.type !== "executed" || jobId === undefined || node === undefined) return;
  const output = outputsSchema.safeParse({ [node]: data?.output });
  const known = jobs.get(jobId) ?? {};
  if (!output.success || Object.keys(known).length >= most.nodes) return;
  jobs.delete(jobId);
  jobs.set(jobId, { ...known, ...output.data });
  for (const oldest of [...jobs.keys()].slice(0, -most.jobs)) jobs.delete(oldest);
}
