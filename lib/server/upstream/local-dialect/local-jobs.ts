// Jobs at a local server: its list has other sort fields and no filter by kind of output, and a job has no short status.

import "server-only";
import { z } from "zod";
import { own } from "@/lib/contract/json/own";
import { toMilliseconds } from "@/lib/contract/times";
import { queueSchema, wholeOf } from "./local-entries";
import { hasNoJobs, type LocalExchange, notThere, readLocal, translated, type Translation, wording } from "./local-exchange";
import { listOlderJobs, olderJob } from "./older-jobs";

const sortFields: Readonly<Record<string, string>> = { create_time: "created_at", execution_time: "execution_duration" };

const jobSchema = z.looseObject({
  id: z.string(),
  status: z.string().catch("unknown"),
  create_time: z.unknown().optional(),
  execution_start_time: z.unknown().optional(),
  execution_end_time: z.unknown().optional(),
  execution_error: z.looseObject({ exception_message: z.string() }).optional().catch(undefined),
});

/** Undefined for a waiting or running job without a graph. */
const wholeJob = wording("job", ([answer]) => {
  const job = jobSchema.parse(answer);
  return job.workflow === undefined && ["pending", "in_progress"].includes(job.status) ? undefined : job;
});
const jobInQueue = wording("job-in-queue", ([answer, queue]) => {
  const job = jobSchema.parse(answer);
  const { queue_running, queue_pending } = queueSchema.parse(queue);
  const item = [...queue_running, ...queue_pending].find((one) => one?.[1] === job.id);
  return { ...job, ...(item && wholeOf(item)) };
});
const jobStatus = wording("job-status", ([job]) => toStatus(jobSchema.parse(job)));
export const wordsOfJobs = [wholeJob, jobInQueue, jobStatus];

export const jobTranslations: readonly Translation[] = [
  {
    method: "GET",
    path: /\/api\/jobs$/,
    async speak(exchange) {
      const { url, pass } = exchange;
      // The server would ignore it: the list would look filtered without being so.
      if (url.searchParams.has("output_type")) return notThere("A local server does not filter its jobs by kind of output.");
      const answer = await pass((query) => {
        const field = own(sortFields, query.get("sort_by") ?? "");
        if (field !== undefined) query.set("sort_by", field);
      });
      if (!hasNoJobs(answer)) return answer;
      await answer.body?.cancel();
      return listOlderJobs(exchange);
    },
  },
  {
    method: "GET",
    path: /\/api\/jobs\/([^/]+)$/,
    speak: readJob,
  },
  {
    method: "GET",
    path: /\/api\/job\/([^/]+)\/status$/,
    async speak(exchange) {
      const read = await readLocal(await readJob(exchange));
      if (!read.ok) return read.answer;
      return (await exchange.say(jobStatus, [read.bytes], undefined)) ?? translated(null);
    },
  },
];

/** In versions whose details leave out the graph, a waiting or running job has its graph only in the queue. */
async function readJob(exchange: LocalExchange): Promise<Response> {
  const id = decodeURIComponent(exchange.caught[0] ?? "");
  const answer = await exchange.ask(`/api/jobs/${encodeURIComponent(id)}`);
  if (hasNoJobs(answer)) {
    await answer.body?.cancel();
    return olderJob(exchange, id);
  }
  const read = await readLocal(answer);
  if (!read.ok) return read.answer;
  // Copied, because the bytes are transferred; a Buffer's own slice does not copy.
  const whole = await exchange.say(wholeJob, [new Uint8Array(read.bytes)], undefined);
  if (whole) return whole;
  const queue = await readLocal(await exchange.ask("/api/queue"));
  if (!queue.ok) return queue.answer;
  return (await exchange.say(jobInQueue, [read.bytes, queue.bytes], undefined)) ?? translated(null);
}

function toStatus(job: z.infer<typeof jobSchema>) {
  const created = toMilliseconds(job.create_time);
  const changed = toMilliseconds(job.execution_end_time) ?? toMilliseconds(job.execution_start_time) ?? created;
  return {
    id: job.id,
    status: job.status === "failed" ? "error" : job.status,
    created_at: toText(created),
    updated_at: toText(changed),
    last_state_update: toText(changed),
    error_message: job.execution_error?.exception_message,
  };
}

function toText(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}
