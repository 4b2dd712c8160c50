import { errorStatus } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { type ManageBody, type PromptBody } from "@/lib/contract/schemas/job";
import { traceSubmission } from "../figures";
import { listHistory, listOlderHistory, manageHistory, toHistoryEntry, toOlderEntry } from "../jobs/history/history";
import { findJob, findJobIds, formatList, formatObject, type StoredJob } from "../jobs/job-row";
import { listItems, listJobAssets, listQueue, toDetail, toStatus } from "../jobs/job-view";
import { countJobs, listJobs } from "../jobs/list-jobs";
import { submitPrompt } from "../jobs/submit";
import { ServiceError, toRefusal } from "../service-error";
import { type ServiceSettings } from "../settings";
import { type Reader } from "../store/database";
import { requireIdLimit } from "./read-json";
import { type Call, emptyResponse, jsonResponse, jsonTextResponse, type Route, route, type RouteDependencies, streamJson } from "./route";

type JobCall = Pick<Call<typeof operations.getJob>, "param" | "user">;

export function jobRoutes(parts: RouteDependencies): Route[] {
  const { database, engine, liveRuns, pool } = parts;
  const liveState = { progressOf: liveRuns.progressOf, waits: pool.waits };

  async function requireJob(call: JobCall, reader: Reader = database): Promise<StoredJob> {
    const job = await findJob(reader, call.user.id, call.param("job_id"));
    if (!job) throw new ServiceError("NOT_FOUND", "There is no such job.");
    return job;
  }

  async function cancelJob(call: JobCall): Promise<Response> {
    const job = await requireJob(call);
    const cancelled = await engine.cancel(call.user.id, ["pending", "in_progress"], [job.id]);
    return jsonResponse({ cancelled: cancelled.length > 0 });
  }

  return [
    route(operations.listJobs, async (call) => {
      const query = call.query();
      const { jobs, total } = await database.reading(async (reader) => {
        const page = await listJobs(reader, call.user.id, query);
        return { jobs: await listItems(reader, page.seqs, liveState), total: page.total };
      });
      const { offset, limit } = query;
      const pagination = { offset, limit, total, has_more: offset + jobs.length < total };
      return jsonTextResponse(formatObject({ pagination }, { jobs: formatList(jobs) }));
    }),

    route(operations.getJob, async (call) =>
      jsonTextResponse(await database.reading(async (reader) => toDetail(reader, await requireJob(call, reader), liveState))),
    ),

    route(operations.getJobStatus, async (call) => jsonResponse(toStatus(await requireJob(call)))),

    route(operations.cancelJob, cancelJob),
    route(operations.cancelOneJob, cancelJob),

    route(operations.cancelJobs, async ({ body, user }) => {
      const { job_ids } = await body();
      requireIdLimit("job_ids", job_ids, parts.settings);
      const existingIds = await findJobIds(database, user.id, job_ids);
      const unknown = job_ids.filter((id) => !existingIds.has(id));
      if (unknown.length > 0)
        throw new ServiceError("NOT_FOUND", "Some of these jobs do not exist; none was cancelled.", { job_ids: unknown });
      return jsonResponse({ cancelled: await engine.cancel(user.id, ["pending", "in_progress"], job_ids) });
    }),

    route(operations.listJobAssets, async (call) => {
      const read = async (reader: Reader) => listJobAssets(reader, (await requireJob(call, reader)).id, call.query(), call.baseUrl);
      return jsonResponse(await database.reading(read));
    }),
  ];
}

export function queueRoutes(parts: RouteDependencies): Route[] {
  const { database, engine } = parts;

  async function readManageBody(read: () => Promise<ManageBody>): Promise<ManageBody> {
    const body = await read();
    requireIdLimit("delete", body.delete, parts.settings);
    return body;
  }

  function readEntry(userId: number, id: string, toText: typeof toHistoryEntry): Promise<Record<string, string> | undefined> {
    return database.reading(async (reader) => {
      const job = await findJob(reader, userId, id);
      const text = job && (await toText(reader, job));
      return job && text !== undefined ? { [job.id]: text } : undefined;
    });
  }

  return [
    route(operations.listQueue, ({ user }) => streamJson(listQueue(database, user.id))),
    route(operations.manageQueue, async ({ body, user }) => {
      const { clear, delete: ids = [] } = await readManageBody(body);
      if (clear) return jsonResponse({ deleted: await engine.clearQueue(user.id), cleared: true });
      return jsonResponse({ deleted: await engine.cancel(user.id, ["pending"], ids), cleared: false });
    }),

    route(operations.listHistory, async ({ query, user }) => streamJson(await listHistory(database, user.id, query()))),
    route(operations.manageHistory, async ({ body, user }) =>
      jsonResponse({ code: "OK", message: await manageHistory(parts, user.id, await readManageBody(body)) }),
    ),
    route(operations.getHistoryEntry, async (call) => {
      const entry = await readEntry(call.user.id, call.param("job_id"), toHistoryEntry);
      if (!entry) throw new ServiceError("NOT_FOUND", "This job is not in the history.");
      return jsonTextResponse(formatObject({}, entry));
    }),

    route(operations.listOlderHistory, async ({ query, user }) => streamJson(await listOlderHistory(database, user.id, query()))),
    route(operations.getOlderHistoryEntry, async (call) =>
      jsonTextResponse(formatObject({}, (await readEntry(call.user.id, call.param("job_id"), toOlderEntry)) ?? {})),
    ),

    route(operations.interrupt, async ({ body, user }) => {
      const { prompt_id } = (await body()) ?? {};
      if (prompt_id !== undefined && !(await findJob(database, user.id, prompt_id)))
        throw new ServiceError("NOT_FOUND", "There is no such job.");
      await engine.cancel(user.id, ["in_progress"], prompt_id === undefined ? undefined : [prompt_id]);
      return emptyResponse(200);
    }),
  ];
}

export function promptRoutes(parts: RouteDependencies): Route[] {
  return [
    route(operations.submitPrompt, async ({ body: readPromptBody, user }) => {
      if (user.status === "waitlisted")
        throw new ServiceError("FORBIDDEN", "This account is on the waiting list: it can read its own data but can't submit jobs yet.");
      const body = await readBody(readPromptBody, parts.settings);
      if (body instanceof Response) return body;
      const outcome = await submitPrompt(parts, user.id, body);
      if (!outcome.ok) return jsonResponse({ error: outcome.error, node_errors: outcome.nodeErrors }, 400);
      traceSubmission(outcome.id);
      parts.events.queueChanged(user.id);
      return jsonResponse({ prompt_id: outcome.id, number: outcome.number, node_errors: outcome.nodeErrors });
    }),

    route(operations.getQueueDepth, async ({ user }) =>
      jsonResponse({ exec_info: { queue_remaining: await countJobs(parts.database, user.id, ["pending", "in_progress"]) } }),
    ),
  ];
}

/** This operation has its own error format for invalid bodies. */
async function readBody(read: () => Promise<PromptBody>, settings: ServiceSettings): Promise<PromptBody | Response> {
  try {
    const body = await read();
    const nodes = Object.keys(body.prompt).length;
    if (nodes <= settings.maxGraphNodes) return body;
    const message = `A graph may have ${settings.maxGraphNodes} nodes; this one has ${nodes}.`;
    return promptError(400, "invalid_prompt", message, "", { max_graph_nodes: settings.maxGraphNodes, nodes });
  } catch (error) {
    const refusal = toRefusal(error);
    if (!refusal) throw error;
    const { code, message } = refusal;
    if (code === "INVALID_BODY" && message.startsWith("prompt: "))
      return promptError(400, "no_prompt", "No prompt provided", "No prompt provided");
    return promptError(errorStatus[code], code === "REQUEST_TIMEOUT" ? "request_timeout" : "invalid_prompt", message);
  }
}

function promptError(status: number, type: string, message: string, details = "", extra_info: object = {}): Response {
  return jsonResponse({ error: { type, message, details, extra_info }, node_errors: {} }, status);
}
