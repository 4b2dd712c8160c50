// A plain local server over real HTTP, as the wire facts (section 5, 3.2, 3.6 to 3.10, 3.21) describe it: one user, no key, its own words.
// It runs nothing by itself: a test moves its jobs. What it has made once it takes from its cache, and tells of that to a named client only.
import { randomUUID } from "node:crypto";
import { type ServerResponse } from "node:http";
import { type LocalFiles } from "./local-files";
import { answerJson, type LittleServer, type Seen, startLittleServer } from "./little-server";

type Item = [number, string, Record<string, unknown>, Record<string, unknown>, string[]];
type Entry = { prompt: Item; outputs: Record<string, unknown>; status: Record<string, unknown>; meta: Record<string, unknown> };
type Place = { running: Item[]; pending: Item[]; history: Map<string, Entry> };
export type LocalServer = LittleServer & {
  place: Place;
  submit(): string;
  begin(): void;
  /** `outputs`: what this graph makes when it runs for the first time. */
  end(outputs?: Entry["outputs"]): void;
  /** Ends what runs as its Interrupt button does, inside this node. */
  interrupt(nodeId: string): void;
  /** As after its process was ended and started: the queue and the history are lost. */
  restart(): void;
  /** Runs once, just before the next change of the queue is carried out. */
  beforeChange(act: () => void): void;
};

/**
 * `files`: what it keeps; without them it was started without assets and holds next to nothing. `isOld`: a version before /api/jobs and
 * before assets (0.3.64), whose jobs carry no time of their own. `objectInfo`: its list of nodes.
 */
export async function startLocalServer(
  files?: LocalFiles,
  { isOld = false, objectInfo }: { isOld?: boolean; objectInfo?: object } = {},
): Promise<LocalServer> {
  const place: Place = { running: [], pending: [], history: new Map() };
  const made = new Map<string, Entry["outputs"]>();
  let number = 0;
  let beforeNext: (() => void) | undefined;
  const submit = (graph: Record<string, unknown> = { "1": { class_type: "SaveImage", inputs: {} } }, extra: object = {}) => {
    const id = randomUUID();
    const ids = Object.keys(graph);
    number += 1;
    place.pending.push([number - 1, id, graph, { ...extra, ...(!isOld && { create_time: 1_767_225_600_000 + number * 1000 }) }, ids]);
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
    if (route === "GET /api/system_stats")
      return answerJson(response, { system: { os: "linux", comfyui_version: isOld ? "0.3.64" : "0.27.0" }, devices: [] });
    if (route === "POST /api/prompt") {
      const client = body.client_id === undefined ? {} : { client_id: body.client_id };
      const prompt_id = submit(record(body.prompt), { ...record(body.extra_data), ...client });
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
    if (url.pathname === "/api/object_info" && objectInfo) return answerJson(response, objectInfo);
    // No route of that name: what is no GET meets the one for static files.
    if (isOld && /^\/api\/(jobs|assets|tags)(\/|$)/.test(url.pathname)) return noRoute(request, response);
    if (url.pathname === "/api/jobs") return answerJobs(place, url.searchParams, (value, status) => answerJson(response, value, status));
    if (url.pathname.startsWith("/api/jobs/")) {
      const job = jobDetails(place, url.pathname.slice("/api/jobs/".length));
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
    noRoute(request, response);
  });
  return {
    ...server,
    place,
    submit: () => submit(),
    begin: () => void place.running.push(...place.pending.splice(0, 1)),
    end: (outputs = {}) => {
      for (const item of place.running.splice(0)) {
        const known = made.get(JSON.stringify(item[2]));
        made.set(JSON.stringify(item[2]), known ?? outputs);
        place.history.set(item[1], ended(item, known === undefined || item[3].client_id !== undefined ? (known ?? outputs) : {}));
      }
    },
    interrupt: (nodeId) => {
      for (const item of place.running.splice(0)) place.history.set(item[1], interrupted(item, nodeId));
    },
    restart: () => {
      place.running = [];
      place.pending = [];
      place.history.clear();
    },
    beforeChange: (act) => (beforeNext = act),
  };
}

const start = (id: string) => ["execution_start", { prompt_id: id, timestamp: 1_767_225_700_000 }];

function ended(item: Item, outputs: Entry["outputs"]): Entry {
  const messages = [start(item[1]), ["execution_success", { prompt_id: item[1], timestamp: 1_767_225_701_000 }]];
  return { prompt: item, outputs, status: { status_str: "success", completed: true, messages }, meta: {} };
}

function interrupted(item: Item, node_id: string): Entry {
  const facts = { prompt_id: item[1], node_id, node_type: record(item[2][node_id]).class_type, executed: [] };
  const messages = [start(item[1]), ["execution_interrupted", { ...facts, timestamp: 1_767_225_701_000 }]];
  return { prompt: item, outputs: {}, status: { status_str: "error", completed: false, messages }, meta: {} };
}

function noRoute({ method }: Seen, response: ServerResponse): void {
  const [status, words] = method === "GET" ? [404, "404: Not Found"] : [405, "405: Method Not Allowed"];
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(words);
}

/** Oldest first; without an offset the last ones. */
function historyPage(entries: [string, Entry][], query: URLSearchParams): [string, Entry][] {
  const most = Number(query.get("max_items") ?? entries.length);
  const given = Number(query.get("offset") ?? -1);
  const offset = given < 0 ? Math.max(0, entries.length - most) : given;
  return entries.slice(offset, offset + most);
}

function allJobs({ running, pending, history }: Place) {
  const view = (item: Item, status: string) => ({
    id: item[1],
    status,
    create_time: item[3].create_time,
    priority: item[0],
    outputs_count: 0,
  });
  const words = ({ status }: Entry) => (status.status_str === "success" ? "completed" : "cancelled");
  return [
    ...pending.map((item) => view(item, "pending")),
    ...running.map((item) => view(item, "in_progress")),
    ...[...history.values()].map((entry) => ({
      ...view(entry.prompt, words(entry)),
      execution_start_time: 1_767_225_700_000,
      execution_end_time: 1_767_225_701_000,
      outputs_count: Object.keys(entry.outputs).length,
    })),
  ];
}

/** Of what waits or runs it tells no graph: that is in its queue. */
function jobDetails(place: Place, id: string) {
  const job = allJobs(place).find((one) => one.id === id);
  const entry = place.history.get(id);
  if (!job || !entry) return job;
  const [, , prompt, extra_data] = entry.prompt;
  return { ...job, outputs: entry.outputs, execution_status: entry.status, workflow: { prompt, extra_data } };
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
