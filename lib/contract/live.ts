// Topics and events of live updates (GET /api/console/events). Free of zod: browsers load it with the first page.

import { type Failure } from "./failure";
import { isObject, type JsonObject, textOf } from "./json/json";
import { type Outputs } from "./schemas/execution";
import { type JobListItem } from "./schemas/job";

export const LIVE_PATH = "/api/console/events";
export const MAX_TOPICS = 32;
export const HEARTBEAT_MS = 15_000;

/** The GET whose answer is the topic's value. `{id}`: what follows the colon in the topic. */
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
const names = Object.keys(topicPaths).filter((name): name is TopicName => name in topicPaths);

/** Where a value has the rows that `job.updated` changes. A topic without an entry changes as a whole. */
export const rowLists: Partial<Record<TopicName, readonly string[]>> = {
  jobs: ["jobs"],
  search: ["jobs"],
  history: ["history"],
  queue: ["running", "pending"],
};

/** `name`, `name:id`, `name?query` or `name:id?query`. The query is the one of the GET, and names the connection. */
export function readTopic(topic: string): { name: TopicName; id?: string; query: string } | undefined {
  const [, word, encoded, query = ""] = /^([a-z-]+)(?::([^?]+))?(?:\?(.*))?$/s.exec(topic) ?? [];
  const name = names.find((value) => value === word);
  if (name === undefined || topicPaths[name].includes("{id}") !== (encoded !== undefined)) return undefined;
  try {
    return { name, query, ...(encoded !== undefined && { id: decodeURIComponent(encoded) }) };
  } catch {
    return undefined;
  }
}

export function topicPath(topic: string): `/${string}` | undefined {
  const parsedTopic = readTopic(topic);
  if (!parsedTopic) return undefined;
  const path = topicPaths[parsedTopic.name].replace("{id}", () => encodeURIComponent(parsedTopic.id ?? ""));
  return `/${path.slice(1)}${parsedTopic.query && `?${parsedTopic.query}`}`;
}

const patterns = names.map((name) => [name, new RegExp(`^${topicPaths[name].replace("{id}", "([^/]+)")}$`)] as const);

/** Undefined if the GET of this path has no live updates. A fragment, which distinguishes two uses of one path, is ignored. */
export function pathTopic(path: string): string | undefined {
  const [, address = "", query = ""] = /^([^?#]*)(?:\?([^#]*))?/.exec(path) ?? [];
  for (const [name, pattern] of patterns) {
    const [match, id] = pattern.exec(address) ?? [];
    if (match !== undefined) return `${name}${id === undefined ? "" : `:${id}`}${query && `?${query}`}`;
  }
  return undefined;
}

export type LiveProgress = NonNullable<JobListItem["progress"]>;

type TopicMessage = { topic: string; atMs: number };
export type LiveEvents = {
  hello: { heartbeatMs: number };
  /** `unreadable`: how many rows the value lacks, where the value itself does not say. */
  snapshot: TopicMessage & { value: unknown; unreadable?: number };
  "job.updated": TopicMessage & { job: JsonObject };
  "job.progress": TopicMessage & { id: string; progress: LiveProgress };
  failure: TopicMessage & { failure: Failure };
  ping: Record<string, never>;
  end: { failure: Failure };
};
export type LiveEvent = { [E in keyof LiveEvents]: { event: E; data: LiveEvents[E] } }[keyof LiveEvents];
/** The answer with `format=json`. `id`: for the next request's `Last-Event-ID`. */
export type LiveAnswer = { id: string; events: LiveEvent[] };

const fields: Record<keyof LiveEvents, (data: JsonObject) => boolean> = {
  hello: ({ heartbeatMs }) => typeof heartbeatMs === "number",
  snapshot: (data) => isOfTopic(data) && "value" in data,
  "job.updated": (data) => isOfTopic(data) && isObject(data.job),
  "job.progress": (data) => isOfTopic(data) && typeof data.id === "string" && isObject(data.progress),
  failure: (data) => isOfTopic(data) && isObject(data.failure),
  ping: () => true,
  end: ({ failure }) => isObject(failure),
};

function isOfTopic({ topic, atMs }: JsonObject): boolean {
  return typeof topic === "string" && typeof atMs === "number";
}

/** For events of the console: a proxy may have answered in its place. */
export function isLiveEvent(item: { event: string; data: unknown }): item is LiveEvent {
  const check = Object.entries(fields).find(([event]) => event === item.event)?.[1];
  return check !== undefined && isObject(item.data) && check(item.data);
}

/** The id of a job's row, which the history names differently. */
export function rowId(row: JsonObject): string | undefined {
  return textOf(row.id) ?? textOf(row.prompt_id);
}
