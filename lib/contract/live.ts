// Topics and events of live updates (GET /api/console/events). Doesn't import zod, to keep it out of the first page's scripts.

import { type Failure } from "./failure";
import { asText, isObject, type JsonObject } from "./json/json";
import { type JobListItem } from "./schemas/job";

export const LIVE_PATH = "/api/console/events";
export const MAX_TOPICS = 32;
export const HEARTBEAT_MS = 15_000;

/** The GET request whose response is the topic's value. `{id}` is the text after the colon in the topic. */
export const topicPaths = {
  jobs: "/api/jobs",
  search: "/api/console/jobs/search",
  history: "/api/history_v2",
  job: "/api/jobs/{id}",
  status: "/api/job/{id}/status",
  queue: "/api/console/queue",
  counts: "/api/console/counts",
  tasks: "/api/console/tasks",
  assets: "/api/assets",
  asset: "/api/assets/{id}",
  files: "/api/userdata",
  runners: "/api/console/runners",
  apps: "/api/apps",
  app: "/api/apps/{id}",
  batches: "/api/apps/{id}/runs",
  usage: "/api/console/usage",
  audit: "/api/console/audit",
  "runs-by-day": "/api/console/runs-by-day",
  session: "/api/console/session",
  health: "/api/health",
} as const;
export type TopicName = keyof typeof topicPaths;
const topicNames = Object.keys(topicPaths).filter((name): name is TopicName => name in topicPaths);

/** The fields with the rows that `job.updated` changes. Other topics are replaced completely. */
export const rowFields: Partial<Record<TopicName, readonly string[]>> = {
  jobs: ["jobs"],
  search: ["jobs"],
  history: ["history"],
  queue: ["running", "pending"],
};

/** `name`, `name:id`, `name?query` or `name:id?query`. The query is that of the GET request and includes the connection. */
export function parseTopic(topic: string): { name: TopicName; id?: string; query: string } | undefined {
  const [, prefix, encodedId, query = ""] = /^([a-z-]+)(?::([^?]+))?(?:\?(.*))?$/s.exec(topic) ?? [];
  const name = topicNames.find((value) => value === prefix);
  if (name === undefined || topicPaths[name].includes("{id}") !== (encodedId !== undefined)) return undefined;
  try {
    return { name, query, ...(encodedId !== undefined && { id: decodeURIComponent(encodedId) }) };
  } catch {
    return undefined;
  }
}

export function getTopicPath(topic: string): `/${string}` | undefined {
  const parsedTopic = parseTopic(topic);
  if (!parsedTopic) return undefined;
  const path = topicPaths[parsedTopic.name].replace("{id}", () => encodeURIComponent(parsedTopic.id ?? ""));
  return `/${path.slice(1)}${parsedTopic.query && `?${parsedTopic.query}`}`;
}

const topicPatterns = topicNames.map((name) => [name, new RegExp(`^${topicPaths[name].replace("{id}", "([^/]+)")}$`)] as const);

/** Undefined if this path has no live updates. The fragment, which distinguishes two uses of one path, is ignored. */
export function getPathTopic(path: string): string | undefined {
  const [, address = "", query = ""] = /^([^?#]*)(?:\?([^#]*))?/.exec(path) ?? [];
  for (const [name, pattern] of topicPatterns) {
    const [match, id] = pattern.exec(address) ?? [];
    if (match !== undefined) return `${name}${id === undefined ? "" : `:${id}`}${query && `?${query}`}`;
  }
  return undefined;
}

export type LiveProgress = NonNullable<JobListItem["progress"]>;

type TopicMessage = { topic: string; atMs: number };
export type LiveEvents = {
  hello: { heartbeatMs: number };
  /** `unreadable`: the number of missing rows, for values without this count. */
  snapshot: TopicMessage & { value: unknown; unreadable?: number };
  "job.updated": TopicMessage & { job: JsonObject };
  "job.progress": TopicMessage & { id: string; progress: LiveProgress };
  failure: TopicMessage & { failure: Failure };
  ping: Record<string, never>;
  end: { failure: Failure };
};
export type LiveEvent = { [E in keyof LiveEvents]: { event: E; data: LiveEvents[E] } }[keyof LiveEvents];
/** The response for `format=json`. `id` is the `Last-Event-ID` of the next request. */
export type LiveResponse = { id: string; events: LiveEvent[] };

const eventChecks: Record<keyof LiveEvents, (data: JsonObject) => boolean> = {
  hello: ({ heartbeatMs }) => typeof heartbeatMs === "number",
  snapshot: (data) => hasTopic(data) && "value" in data,
  "job.updated": (data) => hasTopic(data) && isObject(data.job),
  "job.progress": (data) => hasTopic(data) && typeof data.id === "string" && isObject(data.progress),
  failure: (data) => hasTopic(data) && isObject(data.failure),
  ping: () => true,
  end: ({ failure }) => isObject(failure),
};

function hasTopic({ topic, atMs }: JsonObject): boolean {
  return typeof topic === "string" && typeof atMs === "number";
}

/** Validates an event, because a proxy may have responded instead of the console. */
export function isLiveEvent(item: { event: string; data: unknown }): item is LiveEvent {
  const check = Object.entries(eventChecks).find(([event]) => event === item.event)?.[1];
  return check !== undefined && isObject(item.data) && check(item.data);
}

/** The id of a job's row, which has a different name in the history. */
export function getRowId(row: JsonObject): string | undefined {
  return asText(row.id) ?? asText(row.prompt_id);
}
