// A fake local server over real HTTP that behaves like real ones: one user, no key, its own messages and orders. It runs nothing itself; tests
// advance its jobs. Repeated graphs are served from a cache, which is reported only to clients with an id.
import { randomUUID } from "node:crypto";
import { type ServerResponse } from "node:http";
import { type LocalFiles } from "./local-files";
import { type ReceivedRequest, sendJsonResponse, startTestServer, type TestServer, type Upgrade } from "./test-server";

type QueueItem = [number, string, Record<string, unknown>, Record<string, unknown>, string[]];
type HistoryEntry = { prompt: QueueItem; outputs: Record<string, unknown>; status: Record<string, unknown>; meta: Record<string, unknown> };
type JobsState = { running: QueueItem[]; pending: QueueItem[]; history: Map<string, HistoryEntry> };
export type LocalServer = TestServer & {
  state: JobsState;
  submit(): string;
  startJob(): void;
  /** `outputs`: the results of the graph's first run. */
  endJob(outputs?: HistoryEntry["outputs"]): void;
  /** Interrupts the running job inside this node. */
  interrupt(nodeId: string): void;
  /** Ends the running job with an exception in this node, after completing earlier nodes. */
  fail(nodeId: string, message: string): void;
  /** Loses the queue and the history, as after a restart. */
  restart(): void;
  /** Called once, just before the next change of the queue. */
  beforeChange(action: () => void): void;
};

type LocalServerOptions = { isOld?: boolean; hasAssets?: boolean; objectInfo?: object; upgrade?: Upgrade };

/**
 * `files`: its files, if any. `isOld`: a version before /api/jobs and assets (0.3.64), whose jobs have no times. `hasAssets`: false if it has files
 * but no assets. `objectInfo`: its list of nodes. `upgrade`: handles WebSockets.
 */
export async function startLocalServer(
  files?: LocalFiles,
  { isOld = false, hasAssets = !isOld, objectInfo, upgrade }: LocalServerOptions = {},
): Promise<LocalServer> {
  const state: JobsState = { running: [], pending: [], history: new Map() };
  const outputsById = new Map<string, HistoryEntry["outputs"]>();
  let number = 0;
  let latest = 0;
  // Jobs created in the same millisecond get different times.
  const tick = () => (latest = Math.max(Date.now(), latest + 1));
  let beforeNext: (() => void) | undefined;
  const submit = (graph: Record<string, unknown> = { "1": { class_type: "SaveImage", inputs: {} } }, extra: object = {}) => {
    const id = randomUUID();
    const ids = Object.keys(graph);
    number += 1;
    state.pending.push([number - 1, id, graph, { ...extra, ...(!isOld && { create_time: tick() }) }, ids]);
    return id;
  };
  const interruptInNode = (nodeId: string) => {
    for (const item of state.running.splice(0)) state.history.set(item[1], createInterruptedEntry(item, nodeId));
  };
  const server = await startTestServer(async (request, response) => {
    const url = new URL(request.url, "http://local");
    const route = `${request.method} ${url.pathname}`;
    const sendEmpty = (status: number) => void response.writeHead(status).end();
    // Like real servers on loopback, it refuses foreign origins and ignores keys.
    if (request.headers.origin !== undefined) return sendEmpty(403);
    // Without such a route, requests other than GET reach the route for static files.
    if (isOld && /^\/api\/(jobs|assets|tags)(\/|$)/.test(url.pathname)) return sendNoRoute(request, response);
    const isAssetRoute = /^\/api\/(assets|tags)(\/|$)/.test(url.pathname);
    if ((hasAssets || !isAssetRoute) && (await files?.respond(request, response))) return;
    // These routes read a body without checking that there is one.
    if (request.body.length === 0 && ["POST /api/queue", "POST /api/history", "POST /api/free"].includes(route)) return sendEmpty(500);
    const body = readBody(request);
    if (route === "GET /api/system_stats")
      return sendJsonResponse(response, { system: { os: "linux", comfyui_version: isOld ? "0.3.64" : "0.27.0" }, devices: [] });
    if (route === "POST /api/prompt") {
      const client = body.client_id === undefined ? {} : { client_id: body.client_id };
      const prompt_id = submit(toRecord(body.prompt), { ...toRecord(body.extra_data), ...client });
      return sendJsonResponse(response, { prompt_id, number: number - 1, node_errors: {} });
    }
    if (route === "GET /api/prompt")
      return sendJsonResponse(response, { exec_info: { queue_remaining: state.pending.length + state.running.length } });
    if (route === "POST /api/interrupt") {
      const [item] = state.running;
      // Interrupts the given job if it is running; without an id, any running job.
      if (item && [undefined, item[1]].includes(getText(body.prompt_id))) interruptInNode(Object.keys(item[2])[0] ?? "");
      return sendEmpty(200);
    }
    if (route === "POST /api/free") return sendEmpty(200);
    if (route === "GET /api/queue") return sendJsonResponse(response, { queue_running: state.running, queue_pending: state.pending });
    if (route === "POST /api/queue") {
      beforeNext?.();
      beforeNext = undefined;
      if (body.clear === true) state.pending = [];
      const ids = Array.isArray(body.delete) ? body.delete : [];
      state.pending = state.pending.filter((item) => !ids.includes(item[1]));
      return sendEmpty(200);
    }
    if (route === "GET /api/history")
      return sendJsonResponse(response, Object.fromEntries(getHistoryPage([...state.history], url.searchParams)));
    if (url.pathname.startsWith("/api/history/")) {
      const id = url.pathname.slice("/api/history/".length);
      const entry = state.history.get(id);
      return sendJsonResponse(response, entry ? { [id]: entry } : {});
    }
    if (route === "POST /api/history") {
      if (body.clear === true) state.history.clear();
      for (const id of Array.isArray(body.delete) ? body.delete : []) state.history.delete(String(id));
      return sendEmpty(200);
    }
    if (url.pathname === "/api/object_info" && objectInfo) return sendJsonResponse(response, objectInfo);
    // Like real servers, it fails completely if it can't read one job.
    if (url.pathname.startsWith("/api/jobs") && isDamaged(state)) return sendEmpty(500);
    if (route === "GET /api/jobs") return sendJobs(state, url.searchParams, (value, status) => sendJsonResponse(response, value, status));
    const [, jobId] = /^GET \/api\/jobs\/([^/]+)$/.exec(route) ?? [];
    if (jobId !== undefined) {
      const job = getJobDetails(state, jobId);
      return job ? sendJsonResponse(response, job) : sendJsonResponse(response, { error: "Job not found" }, 404);
    }
    if (route === "GET /api/userdata") {
      const dir = url.searchParams.get("dir") ?? "";
      if (dir.startsWith("/")) return sendEmpty(403);
      const isFull = url.searchParams.get("full_info") === "true";
      if (dir === "./")
        return sendJsonResponse(response, isFull ? [{ path: "workflows/a.json", size: 2, modified: 1_767_225_600_000 }] : []);
      if (dir !== "workflows/") return sendEmpty(404);
      return sendJsonResponse(response, isFull ? [{ path: "a.json", size: 2, modified: 1_767_225_600_000 }] : ["a.json"]);
    }
    if (isAssetRoute) return sendJsonResponse(response, { error: { code: "SERVICE_DISABLED", message: "off" } }, 503);
    sendNoRoute(request, response);
  }, upgrade);
  return {
    ...server,
    state,
    submit: () => submit(),
    startJob: () => void state.running.push(...state.pending.splice(0, 1)),
    endJob: (outputs = {}) => {
      for (const item of state.running.splice(0)) {
        const cachedEntry = outputsById.get(JSON.stringify(item[2]));
        outputsById.set(JSON.stringify(item[2]), cachedEntry ?? outputs);
        state.history.set(
          item[1],
          createSuccessEntry(item, cachedEntry === undefined || item[3].client_id !== undefined ? (cachedEntry ?? outputs) : {}),
        );
      }
    },
    interrupt: interruptInNode,
    fail: (nodeId, message) => {
      for (const item of state.running.splice(0)) state.history.set(item[1], createFailedEntry(item, nodeId, message));
    },
    restart: () => {
      state.running = [];
      state.pending = [];
      state.history.clear();
    },
    beforeChange: (action) => (beforeNext = action),
  };
}

/** Creates the history entry of an ended job. Each job took a second. */
function createEntry(
  prompt: QueueItem,
  status_str: string,
  ending: string,
  facts: object = {},
  outputs: HistoryEntry["outputs"] = {},
): HistoryEntry {
  const at = Date.now();
  const factsAt = (ms: number) => ({ prompt_id: prompt[1], timestamp: at + ms });
  const messages = [
    ["execution_start", factsAt(0)],
    [ending, { ...facts, ...factsAt(1000) }],
  ];
  return { prompt, outputs, status: { status_str, completed: status_str === "success", messages }, meta: {} };
}

const createSuccessEntry = (item: QueueItem, outputs: HistoryEntry["outputs"]) =>
  createEntry(item, "success", "execution_success", {}, outputs);
const createInterruptedEntry = (item: QueueItem, nodeId: string) =>
  createEntry(item, "error", "execution_interrupted", createFacts(item, nodeId));

/** Describes a node and the nodes completed before it. */
function createFacts([, , graph]: QueueItem, node_id: string) {
  const ids = Object.keys(graph);
  return { node_id, node_type: toRecord(graph[node_id]).class_type, executed: ids.slice(0, Math.max(0, ids.indexOf(node_id))) };
}

/** The error is the event itself, with the names of completed nodes instead of outputs. */
function createFailedEntry(item: QueueItem, nodeId: string, exception_message: string): HistoryEntry {
  const facts = createFacts(item, nodeId);
  const traceback = [`RuntimeError: ${exception_message}\n`];
  const error = { exception_message, exception_type: "RuntimeError", traceback, current_inputs: {}, current_outputs: facts.executed };
  return createEntry(item, "error", "execution_error", { ...facts, ...error });
}

function sendNoRoute({ method }: ReceivedRequest, response: ServerResponse): void {
  const [status, message] = method === "GET" ? [404, "404: Not Found"] : [405, "405: Method Not Allowed"];
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(message);
}

/** Returns entries from the oldest to the newest. Without an offset, returns the last ones. */
function getHistoryPage(entries: [string, HistoryEntry][], query: URLSearchParams): [string, HistoryEntry][] {
  const maxItems = Number(query.get("max_items") ?? entries.length);
  const offsetParam = Number(query.get("offset") ?? -1);
  const offset = offsetParam < 0 ? Math.max(0, entries.length - maxItems) : offsetParam;
  return entries.slice(offset, offset + maxItems);
}

function isDamaged(state: JobsState): boolean {
  try {
    return listJobs(state).length < 0;
  } catch {
    return true;
  }
}

function listJobs({ running, pending, history }: JobsState) {
  const toJob = ([priority, id, , extra]: QueueItem, status: string) => {
    const workflow_id = toRecord(toRecord(extra.extra_pnginfo).workflow).id;
    return { id, status, create_time: extra.create_time, priority, outputs_count: 0, workflow_id };
  };
  const getJob = (entry: HistoryEntry) => {
    const [start, ending] = getMessages(entry);
    const status = { execution_error: "failed", execution_interrupted: "cancelled" }[ending?.[0] ?? ""] ?? "completed";
    const files = Object.entries(entry.outputs).flatMap(([nodeId, output]) =>
      Object.entries(toRecord(output)).flatMap(([mediaType, items]) =>
        (Array.isArray(items) ? items : []).map(toRecord).flatMap((file) => (file.filename ? [{ ...file, nodeId, mediaType }] : [])),
      ),
    );
    return {
      ...toJob(entry.prompt, status),
      execution_start_time: start?.[1].timestamp,
      execution_end_time: ending?.[1].timestamp,
      outputs_count: files.length,
      preview_output: files.find((file) => toRecord(file).type === "output") ?? files[0],
      execution_error: status === "failed" ? ending?.[1] : undefined,
    };
  };
  return [
    ...pending.map((item) => toJob(item, "pending")),
    ...running.map((item) => toJob(item, "in_progress")),
    ...[...history.values()].map(getJob),
  ];
}

function getMessages({ status }: HistoryEntry): [string, Record<string, unknown>][] {
  return Array.isArray(status.messages) ? (status.messages as [string, Record<string, unknown>][]) : [];
}

/** Omits the graph of pending and running jobs, which is in the queue. */
function getJobDetails(state: JobsState, id: string) {
  const job = listJobs(state).find((item) => item.id === id);
  const entry = state.history.get(id);
  if (!job || !entry) return job;
  const [, , prompt, extra_data] = entry.prompt;
  return { ...job, outputs: entry.outputs, execution_status: entry.status, workflow: { prompt, extra_data } };
}

const jobStates = ["pending", "in_progress", "completed", "failed", "cancelled"];

function sendJobs(state: JobsState, query: URLSearchParams, sendJson: (value: unknown, status?: number) => void): void {
  const sendError = (error: string) => sendJson({ error }, 400);
  const statuses = (query.get("status") ?? "")
    .split(",")
    .map((value) => value.trim().toLowerCase())
    .filter((value) => value !== "");
  const unknown = statuses.filter((value) => !jobStates.includes(value));
  if (unknown.length > 0) return sendError(`Invalid status value(s): ${unknown.join(", ")}. Valid values: ${jobStates.join(", ")}`);
  const sort = query.get("sort_by") ?? "created_at";
  if (!["created_at", "execution_duration"].includes(sort)) return sendError("sort_by must be 'created_at' or 'execution_duration'");
  const order = query.get("sort_order") ?? "desc";
  if (!["asc", "desc"].includes(order)) return sendError("sort_order must be 'asc' or 'desc'");
  const limit = query.has("limit") ? Number(query.get("limit")) : null;
  if (limit !== null && !Number.isInteger(limit)) return sendError("limit must be an integer");
  if (limit !== null && limit < 1) return sendError("limit must be a positive integer");
  const offset = Math.max(0, Number(query.get("offset") ?? 0));
  const jobs = listJobs(state).filter(({ status }) => statuses.length === 0 || statuses.includes(status));
  const getSortKey = (job: Record<string, unknown>) =>
    sort === "created_at" ? Number(job.create_time ?? 0) : Number(job.execution_end_time ?? 0) - Number(job.execution_start_time ?? 0);
  const sorted = jobs.sort((job, other) => (order === "asc" ? getSortKey(job) - getSortKey(other) : getSortKey(other) - getSortKey(job)));
  const page = sorted.slice(offset, limit === null ? undefined : offset + limit);
  sendJson({ jobs: page, pagination: { offset, limit, total: jobs.length, has_more: offset + page.length < jobs.length } });
}

function readBody({ body }: ReceivedRequest): Record<string, unknown> {
  return body.length === 0 ? {} : toRecord(JSON.parse(body.toString("utf8")));
}

function getText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function toRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
