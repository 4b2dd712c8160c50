// Live updates (GET /api/console/events). Each topic has the same checks as its own GET, repeated while the stream is open.

import "server-only";
import { CONNECTION_PARAMETER, RAW_PARAMETER } from "@/lib/contract/console";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { MAX_TOPICS, parseTopic, type TopicName, topicPaths } from "@/lib/contract/live";
import { EVENTS_OPERATION } from "@/lib/contract/members/sign-in";
import { UNREADABLE_HEADER } from "@/lib/shared/headers";
import { failed, ok, type Result } from "@/lib/shared/result";
import { checkViewer, type Context, getRateLimitKey, recordViewerUse } from "../auth/viewer";
import {
  connectionChangedFailure,
  type ConnectionTarget,
  findVisibleConnection,
  isSameTarget,
  openForJobs,
  resolveTarget,
} from "../connections/access";
import { type AuthedContext } from "../context";
import { type Watch } from "../live/hub";
import { isJobTopic } from "../live/reader";
import { createEventStream, type LiveTopic, readLiveEvents } from "../live/stream";
import { getSearchParams } from "../requests/read-request";
import { createJsonTextResponse } from "../requests/responses";
import { getLiveProgress, subscribeToLiveOutputs, watchLiveOutputs } from "../responses/live-progress";
import { canSeeSecretPaths } from "../responses/process-response";
import { MAX_JSON_BYTES } from "../upstream/read-body";
import { isEmbedded } from "../upstream/send";
import { readBytes } from "../upstream/streams";
import { checkGuard, guardedRoute, type Handler } from "./guard";

/** Topics whose value depends only on the connection and its key, so it is the same for all members who may read them. */
const sharedTopics: ReadonlySet<TopicName> = new Set([
  "jobs",
  "search",
  "history",
  "job",
  "status",
  "queue",
  "counts",
  "assets",
  "asset",
  "files",
  "runners",
  "tasks",
  "runs-by-day",
  "health",
]);

/** Twice a service's limit, because the console adds names. */
const MAX_VALUE_BYTES = 2 * MAX_JSON_BYTES;

const streamHeaders = { "content-type": "text/event-stream", "cache-control": "no-store, no-transform", "x-accel-buffering": "no" };

export function liveRoute(handlers: Readonly<Record<TopicName, Handler>>): Handler {
  return guardedRoute({ action: EVENTS_OPERATION, role: "runner", needsConnection: false }, async (context) => {
    const { composition, request, viewer } = context;
    const { liveHub } = composition;
    const search = getSearchParams(request);
    const newTopics = new Set(search.getAll("new"));
    const topicParams = [...new Set([...search.getAll("topic"), ...newTopics])];
    if (topicParams.length === 0) return failed(createFailure("INVALID_QUERY", "topic: provide at least one, such as topic=jobs."));
    if (topicParams.length > MAX_TOPICS) return failed(createFailure("INVALID_QUERY", `topic: at most ${MAX_TOPICS} topics.`));
    const lastPosition = liveHub.parseEventId(request.headers.get("last-event-id"));
    const results = await Promise.all(topicParams.map((topic) => openTopic(context, topic, handlers)));
    const topics = topicParams.map((topic, index): LiveTopic => {
      const result = results[index];
      return { topic, isNew: newTopics.has(topic), watch: result?.ok ? ok(result.value.watch) : (result ?? topicNotFound) };
    });
    const openedTopics = results.flatMap((result) => (result.ok && result.value.target ? [result.value] : []));
    const options = { hub: liveHub, topics, lastPosition, owner: getRateLimitKey(viewer) };
    if (search.get("format") === "json") return ok(createJsonTextResponse(await readLiveEvents(options)));
    const stream = createEventStream({
      ...options,
      signal: request.signal,
      checkRights: () => checkRights(context, openedTopics),
      onHeartbeat: () => void recordViewerUse(context, request.headers).catch(() => undefined),
    });
    return stream
      ? ok(new Response(stream, { headers: streamHeaders }))
      : failed(createFailure("RATE_LIMITED", "Too many live updates are open. Close a page or program."));
  });
}

const topicNotFound: Result<never, Failure> = failed(createFailure("NOT_FOUND", "There is no such topic."));

type OpenedTopic = { watch: Watch; connectionParam: string | undefined; target: ConnectionTarget | undefined };

async function openTopic(
  context: AuthedContext,
  topic: string,
  handlers: Readonly<Record<TopicName, Handler>>,
): Promise<Result<OpenedTopic, Failure>> {
  const parsedTopic = parseTopic(topic);
  if (!parsedTopic) return topicNotFound;
  const { name, id: itemId = "", query } = parsedTopic;
  const { guard, read } = handlers[name];
  const failure = checkGuard(context.viewer, guard);
  if (failure) return failed(failure);
  const search = new URLSearchParams(query);
  // Raw responses are neither limited nor masked.
  if (search.has(RAW_PARAMETER)) return failed(createFailure("INVALID_QUERY", "raw: live updates have no raw values."));
  const connectionParam = search.get(CONNECTION_PARAMETER) ?? undefined;
  // Downloads are listed without the connection's key, so their guard doesn't need a connection.
  const needsTarget = guard.needsConnection || name === "tasks" || connectionParam !== undefined;
  const targetResult = needsTarget ? await resolveTarget(context, connectionParam, findVisibleConnection) : undefined;
  if (targetResult && !targetResult.ok) return targetResult;
  const target = targetResult?.value;
  if (target) search.set(CONNECTION_PARAMETER, target.connection.id);
  search.sort();
  const encodedItem = encodeURIComponent(itemId);
  const relativeUrl = `${topicPaths[name].replace("{id}", () => encodedItem)}?${search.toString()}`;
  const { composition, requestId, viewer } = context;
  const url = new URL(relativeUrl, context.request.url);
  const params = { id: encodedItem, jobId: encodedItem };
  const watch: Watch = {
    name,
    key: writeExactJson([relativeUrl, await getSharingKey(context, name, itemId, target)]),
    connection: target?.connection,
    hasRights: async () => (await checkRights(context, target ? [{ connectionParam, target }] : [])) === undefined,
    async read(signal) {
      const request = new Request(url, { headers: context.request.headers, signal });
      const result = await read({ composition, requestId, viewer, request, params, annotateAudit: () => undefined });
      if (!result.ok) return result;
      // A failed health check is a response with an error status, not a failed result.
      if (!result.value.ok) return failed(createFailure("SERVICE_UNAVAILABLE", "The console is not ready."));
      const unreadable = Number(result.value.headers.get(UNREADABLE_HEADER) ?? 0);
      const bytes = await readBytes(result.value.body, MAX_VALUE_BYTES, { signal });
      if (!bytes) return failed(createFailure("UPSTREAM_TOO_LARGE", "The value is too large for live updates. Show fewer entries."));
      return ok({ text: new TextDecoder().decode(bytes) || "null", unreadable });
    },
    openSource: () => openSource({ composition, viewer }, name, target),
  };
  return ok({ watch, connectionParam, target });
}

async function openSource(context: Context, name: TopicName, target: ConnectionTarget | undefined): ReturnType<Watch["openSource"]> {
  const access = target && (isJobTopic(name) || name === "assets") ? await openForJobs(context, target.connection.id) : undefined;
  if (!access?.ok) return undefined;
  subscribeToLiveOutputs(access.value);
  return (onProgress) => {
    const { isConnected, stop } = watchLiveOutputs(access.value, onProgress);
    const { baseUrl, dialect } = access.value.connection;
    // Other services may only report the jobs of one client, and none reports uploads.
    const hasAllChangeEvents = isJobTopic(name) && (isEmbedded(baseUrl) || dialect === "local");
    return {
      hasChangeEvents: () => hasAllChangeEvents && isConnected(),
      getProgress: (...args) => getLiveProgress(access.value, ...args),
      stop,
    };
  };
}

/** Viewers with the same key share one reader. */
async function getSharingKey(
  { composition, viewer, request }: AuthedContext,
  name: TopicName,
  itemId: string,
  target: ConnectionTarget | undefined,
): Promise<unknown[]> {
  const { memberId, role, credential } = viewer;
  const memberKey = sharedTopics.has(name) ? [] : [memberId, role, credential.id];
  const hasSecretPaths =
    name === "job" && target && (await canSeeSecretPaths({ composition, connection: target.connection, viewer }, itemId));
  // Tokens get absolute URLs with the host of their request.
  const tokenKey = credential.kind === "token" ? [request.headers.get("host")] : [];
  const { id, baseUrl, seenOf } = target?.connection ?? {};
  return [memberKey, hasSecretPaths, tokenKey, id, baseUrl, seenOf, target?.fingerprint];
}

async function checkRights(
  { composition, viewer }: AuthedContext,
  topics: readonly Pick<OpenedTopic, "connectionParam" | "target">[],
): Promise<Failure | undefined> {
  const failure = await checkViewer({ composition, viewer });
  if (failure) return failure;
  for (const [param, previousTarget] of new Map(topics.map(({ connectionParam, target }) => [connectionParam, target] as const))) {
    const currentTarget = previousTarget && (await resolveTarget({ composition, viewer }, param, findVisibleConnection));
    if (currentTarget && (!currentTarget.ok || !isSameTarget(previousTarget, currentTarget.value))) return connectionChangedFailure;
  }
  return undefined;
}
