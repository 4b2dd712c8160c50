// Jobs in their views, and cancelling them.

import { operations } from "@/lib/contract/operations";
import { cancelJobs } from "../jobs/cancel";
import { listJobAssets } from "../jobs/job-assets";
import { findJob, findJobIds, type StoredJob } from "../jobs/job-row";
import { listItems, toDetail, toStatus } from "../jobs/job-view";
import { listJobs } from "../jobs/list-jobs";
import { listText, objectText } from "../jobs/stored-texts";
import { type Parts } from "../parts";
import { ServiceError } from "../service-error";
import { type Reader } from "../store/database";
import { json, jsonText } from "./answers";
import { requireFew } from "./read-json";
import { type Call, type Route, route } from "./route";

type JobCall = Pick<Call<typeof operations.getJob>, "param" | "user">;

export function jobRoutes(parts: Parts): Route[] {
  const { database, liveRuns, pool } = parts;
  const live = { progressOf: liveRuns.progressOf, waits: pool.waits };

  /** Another user's job answers as if it did not exist. */
  async function requireJob(call: JobCall, reader: Reader = database): Promise<StoredJob> {
    const job = await findJob(reader, call.user.id, call.param("job_id"));
    if (!job) throw new ServiceError("NOT_FOUND", "There is no such job.");
    return job;
  }

  async function cancelOne(call: JobCall): Promise<Response> {
    const job = await requireJob(call);
    const cancelled = await cancelJobs(parts, call.user.id, [job.id]);
    return json({ cancelled: cancelled.length > 0 });
  }

  return [
    route(operations.listJobs, async (call) => {
      const query = call.query();
      const { jobs, total } = await database.reading(async (reader) => {
        const page = await listJobs(reader, call.user.id, query);
        return { jobs: await listItems(reader, page.seqs, live), total: page.total };
      });
      const { offset, limit } = query;
      const pagination = { offset, limit, total, has_more: offset + jobs.length < total };
      return jsonText(objectText({ pagination }, { jobs: listText(jobs) }));
    }),

    route(operations.getJob, async (call) =>
      jsonText(await database.reading(async (reader) => toDetail(reader, await requireJob(call, reader), live))),
    ),

    route(operations.getJobStatus, async (call) => json(toStatus(await requireJob(call)))),

    route(operations.cancelJob, cancelOne),
    route(operations.cancelOneJob, cancelOne),

    route(operations.cancelJobs, async ({ body, user }) => {
      const { job_ids } = await body();
      requireFew("job_ids", job_ids, parts.settings);
      const known = await findJobIds(database, user.id, job_ids);
      const unknown = job_ids.filter((id) => !known.has(id));
      if (unknown.length > 0)
        throw new ServiceError("NOT_FOUND", "Some of these jobs do not exist; none was cancelled.", { job_ids: unknown });
      return json({ cancelled: await cancelJobs(parts, user.id, job_ids) });
    }),

    route(operations.listJobAssets, async (call) => {
      const read = async (reader: Reader) => listJobAssets(reader, (await requireJob(call, reader)).id, call.query(), call.baseUrl);
      return json(await database.reading(read));
    }),
  ];
}
