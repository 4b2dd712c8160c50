// A plain local server over real HTTP, as the wire facts (section 5, 3.2, 3.6 to 3.10, 3.21) describe it: one user, no key, its own words.
// It runs nothing by itself: a test moves its jobs.
import { randomUUID } from "node:crypto";
import { type LocalFiles } from "./local-files";
import { answerJson, type LittleServer, type Seen, startLittleServer } from "./little-server";

type Item = [number, string, Record<string, unknown>, Record<string, unknown>, string[]];
type Entry = { prompt: Item; outputs: Record<string, unknown>; status: Record<string, unknown>; meta: Record<string, unknown> };
type Place = { running: Item[]; pending: Item[]; history: Map<string, Entry> };
export type LocalServer = LittleServer & {
  place: Place;
  submit(): string;
  begin(): void;
  end(): void;
  /** Runs once, just before the next change of the queue is carried out. */
  beforeChange(act: () => void): void;
};

/** `files`: what it keeps; without them it was started without assets and holds next to nothing. */
export async function startLocalServer(files?: LocalFiles): Promise<LocalServer> {
  const place: Place = { running: [], pending: [], history: new Map() };
  let number = 0;
  let beforeNext: (() => void) | undefined;
  const submit = (graph: Record<string, unknown> = { "1": { class_type: "SaveImage", inputs: {} } }, extra: object = {}) => {
    const id = randomUUID();
    place.pending.push([number++, id, graph, { ...extra, create_time: 1_767_225_600_000 + number * 1000 }, ["1"]]);
    return id;
  };
  const server = await startLittleServer(async (request, response) => {
    const url = new URL(request.url, "http://local");
    const route = `${request.method} ${url.pathname}`;
    const nothing = (status: number) => void response.writeHead(status).end();
    // On loopback an Origin that is not its own host is refused; a key means nothing to it.
    if (request.headers.origin !== undefined) return nothing(403);
    if (await files?.answer(request, response)) return;
    const body = readBody(request);
    if (route === "GET /api/system_stats") return answerJson(response, { system: { os: "linux", comfyui_version: "0.3.71" }, devices: [] });
    if (route === "POST /api/prompt") {
      const prompt_id = submit(record(body.prompt), record(body.extra_data));
      return answerJson(response, { prompt_id, number: number - 1, node_errors: {} });
    }
    if (route === "GET /api/queue") return answerJson(response, { queue_running: place.running, queue_pending: place.pending });
    if (route === "POST /api/queue") {
      beforeNext?.();
      beforeNext = undefined;
      if (body.clear === true) place.pending = [];
      const ids = Array.isArray(body.delete) ? body.delete : [];
      place.pending = place.pending.filter((item) => !ids.includes(item[1]));
      return nothing(200);
    }
    if (route === "GET /api/history") return answerJson(response, Object.fromEntries(historyPage([...place.history], url.searchParams)));
    if (url.pathname.startsWith("/api/history/")) {
      const id = url.pathname.slice("/api/history/".length);
      const entry = place.history.get(id);
      return answerJson(response, entry ? { [id]: entry } : {});
    }
    if (route === "POST /api/history") {
      if (body.clear === true) place.history.clear();
      for (const id of Array.isArray(body.delete) ? body.delete : []) place.history.delete(String(id));
      return nothing(200);
    }
    if (url.pathname === "/api/jobs") return answerJobs(place, url.searchParams, (value, status) => answerJson(response, value, status));
    if (url.pathname.startsWith("/api/jobs/")) {
      const job = allJobs(place).find(({ id }) => id === url.pathname.slice("/api/jobs/".length));
      return job ? answerJson(response, job) : answerJson(response, { error: "Job not found" }, 404);
    }
    if (route === "GET /api/userdata") {
      const dir = url.searchParams.get("dir") ?? "";
      if (dir.startsWith("/")) return nothing(403);
      const isFull = url.searchParams.get("full_info") === "true";
      if (dir === "./") return answerJson(response, isFull ? [{ path: "workflows/a.json", size: 2, modified: 1_767_225_600_000 }] : []);
      if (dir !== "workflows/") return nothing(404);
      return answerJson(response, isFull ? [{ path: "a.json", size: 2, modified: 1_767_225_600_000 }] : ["a.json"]);
    }
    if (url.pathname.startsWith("/api/assets")) return answerJson(response, { error: { code: "SERVICE_DISABLED", message: "off" } }, 503);
    nothing(404);
  });
  return {
    ...server,
    place,
    submit: () => submit(),
    begin: () => void place.running.push(...place.pending.splice(0, 1)),
    end: () => {
      for (const item of place.running.splice(0)) place.history.set(item[1], ended(item));
    },
    beforeChange: (act) => (beforeNext = act),
  };
}

function ended(item: Item): Entry {
  const messages = [
    ["execution_start", { prompt_id: item[1], timestamp: 1_767_225_700_000 }],
    ["execution_success", { prompt_id: item[1], timestamp: 1_767_225_701_000 }],
  ];
  return { prompt: item, outputs: {}, status: { status_str: "success", completed: true, messages }, meta: {} };
}

/** Oldest first; without an offset the last ones. */
function historyPage(entries: [string, Entry][], query: URLSearchParams): [string, Entry][] {
  const most = Number(query.get("max_items") ?? entries.length);
  const given = Number(query.get("offset") ?? -1);
  const offset = given < 0 ? Math.max(0, entries.length - most) : given;
  return entries.slice(offset, offset + most);
}

function allJobs({ running, pending, history }: Place) {
  const view = (item: Item, status: string, times: object = {}) => ({
    id: item[1],
    status,
    create_time: item[3].create_time,
    priority: item[0],
    outputs_count: 0,
    ...times,
  });
  const times = { execution_start_time: 1_767_225_700_000, execution_end_time: 1_767_225_701_000 };
  return [
    ...pending.map((item) => view(item, "pending")),
    ...running.map((item) => view(item, "in_progress")),
    ...[...history.values()].map(({ prompt }) => view(prompt, "completed", times)),
  ];
}

function answerJobs(place: Place, query: URLSearchParams, answer: (value: unknown, status?: number) => void): void {
  const sort = query.get("sort_by") ?? "created_at";
  if (!["created_at", "execution_duration"].includes(sort)) {
    return answer({ error: "sort_by must be 'created_at' or 'execution_duration'" }, 400);
  }
  const asked = (query.get("status") ?? "").split(",").filter((word) => word !== "");
  const jobs = allJobs(place).filter(({ status }) => asked.length === 0 || asked.includes(status));
  const offset = Number(query.get("offset") ?? 0);
  const limit = query.has("limit") ? Number(query.get("limit")) : null;
  const page = jobs.slice(offset, limit === null ? undefined : offset + limit);
  answer({ jobs: page, pagination: { offset, limit, total: jobs.length, has_more: offset + page.length < jobs.length } });
}

function readBody({ body }: Seen): Record<string, unknown> {
  return body.length === 0 ? {} : record(JSON.parse(body.toString("utf8")));
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
