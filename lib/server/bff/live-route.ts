// Live updates (GET /api/console/events): checks each topic as its own GET does, and again while the stream is open.

import "server-only";
import { CONNECTION_PARAMETER, RAW_PARAMETER } from "@/lib/contract/console";
import { type Failure, refusal } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { MAX_TOPICS, readTopic, type TopicName, topicPaths } from "@/lib/contract/live";
import { EVENTS } from "@/lib/contract/people/sign-in";
import { UNREADABLE_HEADER } from "@/lib/shared/headers";
import { failed, ok, type Result } from "@/lib/shared/result";
import { getLiveProgress, subscribeToLiveOutputs, watchLiveOutputs } from "../answers/live-progress";
import { checkViewer, type Context, getRateLimitKey, recordViewerUse } from "../auth/viewer";
import { connectionChanged, type ConnectionTarget, findVisible, isSameReach, openForJobs, reachOf } from "../connections/access";
import { type AuthedContext } from "../context";
import { type Watch } from "../live/hub";
import { isJobTopic } from "../live/poll-intervals";
import { createEventStream, type LiveTopic, readLiveEvents } from "../live/stream";
import { searchOf } from "../requests/read-request";
import { writtenText } from "../requests/responses";
import { MAX_JSON_BYTES } from "../upstream/read-body";
import { isEmbedded } from "../upstream/send";
import { readBytes } from "../upstream/streams";
import { guarded, type Handler, refusalOf } from "./guard";

/** Topics with the same value for all members who may read them. */
const shared: ReadonlySet<TopicName> = new Set(["jobs", "search", "history", "status", "queue", "counts", "assets", "asset", "files"]);

/** Twice a service's limit: the console adds names. */
const MAX_VALUE_BYTES = 2 * MAX_JSON_BYTES;

const headers = { "content-type": "text/event-stream", "cache-control": "no-store, no-transform", "x-accel-buffering": "no" };

export function liveRoute(handlers: Readonly<Record<TopicName, Handler>>): Handler {
  return guarded({ action: EVENTS, role: "runner", connection: false }, async (context) => {
    const { composition, request, viewer } = context;
    const { live } = composition;
    const search = searchOf(request);
    const added = new Set(search.getAll("new"));
    const names = [...new Set([...search.getAll("topic"), ...added])];
    if (names.length === 0) return failed(refusal("INVALID_QUERY", "topic: provide at least one, such as topic=jobs."));
    if (names.length > MAX_TOPICS) return failed(refusal("INVALID_QUERY", `topic: at most ${MAX_TOPICS} topics.`));
    const after = live.readId(request.headers.get("last-event-id"));
    const results = await Promise.all(names.map((topic) => openTopic(context, topic, handlers)));
    const topics = names.map((topic, index): LiveTopic => {
      const result = results[index];
      return { topic, isNew: added.has(topic), watch: result?.ok ? ok(result.value.watch) : (result ?? noTopic) };
    });
    const reaches = results.flatMap((result) => (result.ok && result.value.reach ? [result.value] : []));
    const options = { hub: live, topics, after, owner: getRateLimitKey(viewer) };
    if (search.get("format") === "json") return ok(writtenText(await readLiveEvents(options)));
    const stream = createEventStream({
      ...options,
      signal: request.signal,
      checkRights: () => checkRights(context, reaches),
      heartbeat: () => void recordViewerUse(context, request.headers).catch(() => undefined),
    });
    return stream
      ? ok(new Response(stream, { headers }))
      : failed(refusal("RATE_LIMITED", "Too many live updates are open. Close a page or program."));
  });
}

const noTopic: Result<never, Failure> = failed(refusal("NOT_FOUND", "There is no such topic."));

/** `id`: the connection that the topic names, if any. */
type OpenedTopic = { watch: Watch; id: string | undefined; reach: ConnectionTarget | undefined };

async function openTopic(
  context: AuthedContext,
  topic: string,
  handlers: Readonly<Record<TopicName, Handler>>,
): Promise<Result<OpenedTopic, Failure>> {
  const parsedTopic = readTopic(topic);
  if (!parsedTopic) return noTopic;
  const { name, id: item = "", query } = parsedTopic;
  const { guard, read } = handlers[name];
  const refused = refusalOf(context.viewer, guard);
  if (refused) return failed(refused);
  const search = new URLSearchParams(query);
  // Raw answers are neither limited nor masked.
  if (search.has(RAW_PARAMETER)) return failed(refusal("INVALID_QUERY", "raw: live updates have no raw values."));
  const id = search.get(CONNECTION_PARAMETER) ?? undefined;
  const reached = guard.connection || id !== undefined ? await reachOf(context, id, findVisible) : undefined;
  if (reached && !reached.ok) return reached;
  const reach = reached?.value;
  if (reach) search.set(CONNECTION_PARAMETER, reach.connection.id);
  search.sort();
  const encoded = encodeURIComponent(item);
  const address = `${topicPaths[name].replace("{id}", () => encoded)}?${search.toString()}`;
  const { composition, requestId, viewer } = context;
  const url = new URL(address, context.request.url);
  const params = { id: encoded, jobId: encoded };
  const watch: Watch = {
    name,
    key: writeExactJson([address, rightsOf(context, name, reach)]),
    connection: reach?.connection,
    hasRights: async () => (await checkRights(context, reach ? [{ id, reach }] : [])) === undefined,
    async read(signal) {
      const request = new Request(url, { headers: context.request.headers, signal });
      const result = await read({ composition, requestId, viewer, request, params, annotateAudit: () => undefined });
      if (!result.ok) return result;
      const unreadable = Number(result.value.headers.get(UNREADABLE_HEADER) ?? 0);
      const bytes = await readBytes(result.value.body, MAX_VALUE_BYTES, { signal });
      if (!bytes) return failed(refusal("UPSTREAM_TOO_LARGE", "The value is too large for live updates. Show fewer entries."));
      return ok({ text: new TextDecoder().decode(bytes) || "null", unreadable });
    },
    openSource: () => openSource({ composition, viewer }, name, reach),
  };
  return ok({ watch, id, reach });
}

async function openSource(context: Context, name: TopicName, reach: ConnectionTarget | undefined): ReturnType<Watch["openSource"]> {
  const access = reach && isJobTopic(name) ? await openForJobs(context, reach.connection.id) : undefined;
  if (!access?.ok) return undefined;
  subscribeToLiveOutputs(access.value);
  return (onProgress) => {
    const { isConnected, stop } = watchLiveOutputs(access.value, onProgress);
    const { baseUrl, dialect } = access.value.connection;
    // Other services may report only the jobs of one client.
    const isWhole = isEmbedded(baseUrl) || dialect === "local";
    return { hasChangeEvents: () => isWhole && isConnected(), progressOf: (...job) => getLiveProgress(access.value, ...job), stop };
  };
}

function rightsOf({ viewer, request }: AuthedContext, name: TopicName, reach: ConnectionTarget | undefined): unknown[] {
  const { memberId, role, credential } = viewer;
  const person = shared.has(name) ? [] : [memberId, role, credential.id];
  // Tokens get absolute URLs with the host of their request.
  const program = credential.kind === "token" ? [request.headers.get("host")] : [];
  const { id, baseUrl, seenOf } = reach?.connection ?? {};
  return [person, program, id, baseUrl, seenOf, reach?.fingerprint];
}

async function checkRights(
  { composition, viewer }: AuthedContext,
  opened: readonly Pick<OpenedTopic, "id" | "reach">[],
): Promise<Failure | undefined> {
  const failure = await checkViewer({ composition, viewer });
  if (failure) return failure;
  for (const [id, before] of new Map(opened.map(({ id, reach }) => [id, reach] as const))) {
    const now = before && (await reachOf({ composition, viewer }, id, findVisible));
    if (now && (!now.ok || !isSameReach(before, now.value))) return connectionChanged;
  }
  return undefined;
}
