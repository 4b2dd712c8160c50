import { createBodyPromptError, errorStatus } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { type ManageBody, type PromptBody } from "@/lib/contract/schemas/job";
import { listHistory, listOlderHistory, manageHistory, toHistoryEntry, toOlderEntry } from "../jobs/history/history";
import { findJob, findJobIds, formatList, formatObject, type StoredJob } from "../jobs/job-row";
import { listItems, listJobAssets, listQueue, toDetail, toStatus } from "../jobs/job-view";
import { countJobs, listJobs } from "../jobs/list-jobs";
import { submitPrompt } from "../jobs/submit";
import { traceSubmission } from "../metrics";
import { ServiceError, toErrorBody } from "../service-error";
import { type ServiceSettings } from "../settings";
import { type Reader } from "../store/database";
import { requireIdLimit } from "./read-json";
import {
  type Call,
  defineRoute,
  emptyResponse,
  jsonResponse,
  jsonTextResponse,
  type Route,
  type RouteDependencies,
  streamJson,
} from "./route";

type JobCall = Pick<Call<typeof operations.getJob>, "param" | "user">;

export function createJobRoutes(dependencies: RouteDependencies): Route[] {
  const { database, engine, liveRuns, pool } = dependencies;
  const liveState = { getProgress: liveRuns.getProgress, getWaits: pool.describeWaits };

  async function requireJob(call: JobCall, reader: Reader = database): Promise<StoredJob> {
    const job = await findJob(reader, call.user.id, call.param("job_id"));
    if (!job) throw new ServiceError("NOT_FOUND", "There is no such job.");
    return job;
  }

  async function cancelJob(call: JobCall): Promise<Response> {
    const job = await requireJob(call);
    const cancelledIds = await engine.cancel(call.user.id, ["pending", "in_progress"], [job.id]);
    return jsonResponse({ cancelled: cancelledIds.length > 0 });
  }

  return [
    defineRoute(operations.listJobs, async (call) => {
      const query = call.query();
      const { jobs, total } = await database.readSnapshot(async (reader) => {
        const page = await listJobs(reader, call.user.id, query);
        return { jobs: await listItems(reader, page.seqs, liveState), total: page.total };
      });
      const { offset, limit } = query;
      const pagination = { offset, limit, total, has_more: offset + jobs.length < total };
      return jsonTextResponse(formatObject({ pagination }, { jobs: formatList(jobs) }));
    }),

    defineRoute(operations.getJob, async (call) =>
      jsonTextResponse(await database.readSnapshot(async (reader) => toDetail(reader, await requireJob(call, reader), liveState))),
    ),

    defineRoute(operations.getJobStatus, async (call) => jsonResponse(toStatus(await requireJob(call)))),

    defineRoute(operations.cancelJob, cancelJob),
    defineRoute(operations.cancelOneJob, cancelJob),

    defineRoute(operations.cancelJobs, async ({ body, user }) => {
      const { job_ids } = await body();
      requireIdLimit("job_ids", job_ids, dependencies.settings);
      const existingIds = await findJobIds(database, user.id, job_ids);
      const unknownIds = job_ids.filter((id) => !existingIds.has(id));
      if (unknownIds.length > 0)
        throw new ServiceError("NOT_FOUND", "Some of these jobs do not exist; none was cancelled.", { job_ids: unknownIds });
      return jsonResponse({ cancelled: await engine.cancel(user.id, ["pending", "in_progress"], job_ids) });
    }),

    defineRoute(operations.listJobAssets, async (call) => {
      const read = async (reader: Reader) => listJobAssets(reader, (await requireJob(call, reader)).id, call.query(), call.baseUrl);
      return jsonResponse(await database.readSnapshot(read));
    }),
  ];
}

export function createQueueRoutes(dependencies: RouteDependencies): Route[] {
  const { database, engine } = dependencies;

  async function readManageBody(read: () => Promise<ManageBody>): Promise<ManageBody> {
    const body = await read();
    requireIdLimit("delete", body.delete, dependencies.settings);
    return body;
  }

  function readEntry(userId: number, id: string, formatEntry: typeof toHistoryEntry): Promise<Record<string, string> | undefined> {
    return database.readSnapshot(async (reader) => {
      const job = await findJob(reader, userId, id);
      const text = job && (await formatEntry(reader, job));
      return job && text !== undefined ? { [job.id]: text } : undefined;
    });
  }

  return [
    defineRoute(operations.listQueue, ({ user }) => streamJson(listQueue(database, user.id))),
    defineRoute(operations.manageQueue, async ({ body, user }) => {
      const { clear, delete: ids = [] } = await readManageBody(body);
      if (clear) return jsonResponse({ deleted: await engine.clearQueue(user.id), cleared: true });
      return jsonResponse({ deleted: await engine.cancel(user.id, ["pending"], ids), cleared: false });
    }),

    defineRoute(operations.listHistory, async ({ query, user }) => streamJson(await listHistory(database, user.id, query()))),
    defineRoute(operations.manageHistory, async ({ body, user }) =>
      jsonResponse({ code: "OK", message: await manageHistory(dependencies, user.id, await readManageBody(body)) }),
    ),
    defineRoute(operations.getHistoryEntry, async (call) => {
      const entry = await readEntry(call.user.id, call.param("job_id"), toHistoryEntry);
      if (!entry) throw new ServiceError("NOT_FOUND", "This job is not in the history.");
      return jsonTextResponse(formatObject({}, entry));
    }),

    defineRoute(operations.listOlderHistory, async ({ query, user }) => streamJson(await listOlderHistory(database, user.id, query()))),
    defineRoute(operations.getOlderHistoryEntry, async (call) =>
      jsonTextResponse(formatObject({}, (await readEntry(call.user.id, call.param("job_id"), toOlderEntry)) ?? {})),
    ),

    defineRoute(operations.interrupt, async ({ body, user }) => {
      const { prompt_id } = (await body()) ?? {};
      if (prompt_id !== undefined && !(await findJob(database, user.id, prompt_id)))
        throw new ServiceError("NOT_FOUND", "There is no such job.");
      await engine.cancel(user.id, ["in_progress"], prompt_id === undefined ? undefined : [prompt_id]);
      return emptyResponse(200);
    }),
  ];
}

export function createPromptRoutes(dependencies: RouteDependencies): Route[] {
  return [
    defineRoute(operations.submitPrompt, async ({ body: readPromptBody, user }) => {
      if (user.status === "waitlisted")
        throw new ServiceError("FORBIDDEN", "This account is on the waiting list: it can read its own data but can't submit jobs yet.");
      const body = await readBody(readPromptBody, dependencies.settings);
      if (body instanceof Response) return body;
      const outcome = await submitPrompt(dependencies, user.id, body);
      if (!outcome.ok) return jsonResponse({ error: outcome.error, node_errors: outcome.nodeErrors }, 400);
      traceSubmission(outcome.id);
      dependencies.events.notifyQueueChanged(user.id);
      return jsonResponse({ prompt_id: outcome.id, number: outcome.number, node_errors: outcome.nodeErrors });
    }),

    defineRoute(operations.getQueueDepth, async ({ user }) =>
      jsonResponse({ exec_info: { queue_remaining: await countJobs(dependencies.database, user.id, ["pending", "in_progress"]) } }),
    ),
  ];
}

/** This operation has its own error format for invalid bodies. */
async function readBody(read: () => Promise<PromptBody>, settings: ServiceSettings): Promise<PromptBody | Response> {
  try {
    const body = await read();
    const nodeCount = Object.keys(body.prompt).length;
    if (nodeCount <= settings.maxGraphNodes) return body;
    const message = `A graph may have at most ${settings.maxGraphNodes} nodes (this one has ${nodeCount}).`;
    const extra_info = { max_graph_nodes: settings.maxGraphNodes, nodes: nodeCount };
    return jsonResponse({ error: { type: "invalid_prompt", message, details: "", extra_info }, node_errors: {} }, 400);
  } catch (error) {
    const errorBody = toErrorBody(error);
    if (!errorBody) throw error;
    return jsonResponse({ error: createBodyPromptError(errorBody), node_errors: {} }, errorStatus[errorBody.code]);
  }
}
