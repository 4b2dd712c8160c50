// Formats a job in the API's three views, and the queue. Outputs and timings appear once the job has ended, progress while it runs.

import { type KnownJobState } from "@/lib/contract/jobs/job-list";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { BUILT_IN_RUNNER, type JobRunner, type JobWaitReason } from "@/lib/contract/runners/runners";
import { formatCount } from "@/lib/shared/text";
import { getFileName, readAssets, toAsset } from "../assets/asset-view";
import { type Database, query, type Reader } from "../store/database";
import { type StoreDialect } from "../store/dialect";
import {
  batchBySize,
  createDamagedJobError,
  formatList,
  formatObject,
  readInputTexts,
  readQueuedTexts,
  readRecord,
  readResultTexts,
  requireTexts,
  type StoredJob,
  streamList,
} from "./job-row";
import { createInterruptedResult } from "./run/finish";
import { type Progress, type RunnerQueuePosition } from "./run/run-record";
import { isTerminal, terminalStates } from "./transitions";

const formatMember = (name: string, value: string, condition: string) =>
  `CASE WHEN ${condition} THEN ',"${name}":' || ${value} ELSE '' END`;
const endedCondition = `state IN (${terminalStates.map((state) => `'${state}'`).join(", ")})`;

/** A list item as JSON without its closing brace. SQLite formats a page in a fifth of the time that reading rows takes. */
function createItemColumns({ isJson, isJsonObject, asJson }: StoreDialect, createTime: string): string {
  /** A stored object. A damaged one is empty, so that one damaged row does not break a list. */
  const createObjectColumn = (column: string) => `CASE WHEN ${isJsonObject(column)} THEN ${column} ELSE '{}' END`;
  const createValidityCondition = (column: string) => `(${column} IS NULL OR ${isJson(column)})`;
  return `
    jobs.id, state, start_time, needs, slot, ${createValidityCondition("preview")} AND ${createValidityCondition("error")} AS is_sound,
    '{"id":' || ${asJson("jobs.id")} || ',"status":"' || state || '","create_time":' || (${createTime}) || ',"workflow_id":' || ${asJson("workflow_id")}
    || ${formatMember("runner_id", asJson(`coalesce(runner, '${BUILT_IN_RUNNER}')`), "attempts > 0 AND slot IS NOT NULL")}
    || ${formatMember("outputs_count", "outputs_count", endedCondition)}
    || ${formatMember("execution_start_time", "start_time", `${endedCondition} AND start_time IS NOT NULL`)}
    || ${formatMember("execution_end_time", "end_time", `${endedCondition} AND end_time IS NOT NULL`)}
    || ${formatMember("preview_output", createObjectColumn("preview"), "preview IS NOT NULL")}
    || ${formatMember("execution_error", createObjectColumn("error"), "error IS NOT NULL")} AS text`;
}

type Item = {
  id: string;
  state: KnownJobState;
  start_time: number | null;
  needs: number | null;
  slot: string | null;
  is_sound: number;
  text: string;
};
type LiveState = {
  getProgress: (reader: Reader, jobIds: readonly string[]) => Promise<ReadonlyMap<string, Progress>>;
  getWaits: (reader: Reader, needs: Iterable<number | null>) => Promise<ReadonlyMap<number | null, JobWaitReason>>;
};

export async function listItems(reader: Reader, seqs: readonly number[], liveState: LiveState): Promise<string[]> {
  const columns = createItemColumns(reader.dialect, "create_time");
  const rows = await reader.rows(reader.dialect.selectInOrder<Item>(columns, "jobs", seqs));
  return addStates(reader, rows, liveState, "}");
}

/** Only ended jobs have execution_start_time. For running jobs, the start time is part of the progress. */
async function addStates(reader: Reader, items: readonly Item[], { getProgress, getWaits }: LiveState, suffix = ""): Promise<string[]> {
  const waitingNeeds = items.filter(({ state, slot }) => state === "pending" && slot === null).map(({ needs }) => needs);
  const waitsByNeeds = await getWaits(reader, new Set(waitingNeeds));
  const runnerJobIds = items
    .filter(({ state, slot }) => state === "in_progress" || (state === "pending" && slot !== null))
    .map(({ id }) => id);
  const progressById = await getProgress(reader, runnerJobIds);
  return items.map(({ id, state, start_time, needs, slot, text }) => {
    const progress = progressById.get(id);
    if (state === "pending") {
      const waitReason = slot === null ? waitsByNeeds.get(needs) : progress?.queued && toQueuedWait(progress.queued);
      return waitReason ? `${text},"waits":${writeExactJson(waitReason)}${suffix}` : text + suffix;
    }
    return progress ? `${text},"progress":${writeExactJson({ ...progress, start_time })}${suffix}` : text + suffix;
  });
}

function toQueuedWait({ runner, ahead }: RunnerQueuePosition): JobWaitReason {
  const behindText = ahead === 0 ? "" : `, behind ${formatCount(ahead, "job")}`;
  return { state: "queued", runners: [runner], ahead, message: `Queued on ${runner}${behindText}.` };
}

export async function toDetail(reader: Reader, job: StoredJob, liveState: LiveState): Promise<string> {
  const storedInputs = (await readInputTexts(reader, [job.seq])).get(job.seq);
  const inputs = storedInputs && requireTexts(storedInputs);
  const result = getResult(job, await readResultTexts(reader, [job.seq]));
  const item = await reader.row(
    reader.dialect.selectInOrder<Item>(createItemColumns(reader.dialect, "create_time / 1000"), "jobs", [job.seq]),
  );
  if (!item?.is_sound) throw createDamagedJobError();
  const details = formatObject(
    {
      update_time: Math.floor(job.update_time / 1000),
      ...(job.attempts > 0 && job.slot !== null && { runner: await findRunner(reader, job) }),
    },
    {
      ...(inputs && { workflow: formatObject({}, { prompt: inputs.prompt, extra_data: inputs.extra_data }) }),
      ...(result && { outputs: result.outputs, execution_status: result.status, execution_meta: result.meta }),
    },
  );
  const [text = ""] = await addStates(reader, [item], liveState);
  return `${text},${details.slice(1)}`;
}

async function findRunner(reader: Reader, { runner, attempts }: StoredJob): Promise<JobRunner> {
  const id = runner ?? BUILT_IN_RUNNER;
  const row = await reader.row(query.selectFrom("runners").select("label").where("id", "=", id));
  return { id, label: row?.label ?? id, attempt: attempts };
}

/** The status view uses a different label for failures. */
const statusLabels: Readonly<Record<KnownJobState, string>> = {
  pending: "pending",
  in_progress: "in_progress",
  completed: "completed",
  failed: "error",
  cancelled: "cancelled",
};

export function toStatus(job: StoredJob) {
  const error = readError(job);
  return {
    id: job.id,
    status: statusLabels[job.state],
    created_at: new Date(job.create_time).toISOString(),
    updated_at: new Date(job.update_time).toISOString(),
    last_state_update: new Date(job.state_time).toISOString(),
    ...(job.slot !== null && { assigned_inference: job.slot }),
    ...(error !== undefined && { error_message: error }),
  };
}

export function readError(job: StoredJob): string | undefined {
  return job.error === null ? undefined : String(readRecord(job.error).exception_message ?? "");
}

export function getResult(
  job: StoredJob,
  resultTexts: Awaited<ReturnType<typeof readResultTexts>>,
): Record<"outputs" | "status" | "meta", string> | undefined {
  if (!isTerminal(job.state)) return undefined;
  const texts = resultTexts.get(job.seq) ?? (job.state === "cancelled" ? createInterruptedResult(job.id, job.state_time) : undefined);
  if (!texts) return undefined;
  const { outputs, messages, meta } = requireTexts(texts);
  const isCompleted = job.state === "completed";
  return { outputs, status: formatObject({ status_str: isCompleted ? "success" : "error", completed: isCompleted }, { messages }), meta };
}

export async function listJobAssets(reader: Reader, jobId: string, page: { limit: number; offset: number }, baseUrl: string) {
  const { limit, offset } = page;
  const jobAssets = query.selectFrom("assets").where("prompt_id", "=", jobId);
  const seqs = (await reader.rows(jobAssets.select("seq").orderBy("seq").limit(limit).offset(offset))).map((row) => row.seq);
  const total = (await reader.row(jobAssets.select(({ fn }) => fn.countAll<number>().as("n"))))?.n ?? 0;
  const assets = (await readAssets(reader, seqs)).map((asset) => ({
    ...toAsset(asset, baseUrl),
    hash: `blake3:${asset.hash}`,
    filename: getFileName(asset),
    node_id: asset.node_id,
    output_key: asset.output_key,
    output_index: asset.output_index,
  }));
  return { job_id: jobId, assets, pagination: { offset, limit, total, has_more: offset + assets.length < total } };
}

/** The list is truncated here. GET /api/prompt returns the exact count. */
const MAX_LISTED_JOBS = 5000;

/** Yields JSON text: [position from 1, id, graph, output node ids, { create_time }], oldest first. */
export async function* listQueue(database: Database, userId: number): AsyncIterable<string> {
  const readJobsInState = (reader: Reader, state: KnownJobState) =>
    reader.rows(
      query
        .selectFrom("jobs")
        .select(["seq", "id", "create_time"])
        .where("user_id", "=", userId)
        .where("state", "=", state)
        .orderBy("seq")
        .limit(MAX_LISTED_JOBS),
    );
  const { runningJobs, pendingJobs } = await database.readSnapshot(async (reader) => ({
    runningJobs: await readJobsInState(reader, "in_progress"),
    pendingJobs: await readJobsInState(reader, "pending"),
  }));
  async function* formatTuples(jobs: typeof runningJobs): AsyncIterable<string> {
    let position = 0;
    for await (const batch of batchBySize(database, jobs)) {
      const texts = await readQueuedTexts(database, batch.map((job) => job.seq)); // prettier-ignore
      for (const { seq, id, create_time } of batch) {
        const text = texts.get(seq);
        // Omits jobs that were removed meanwhile. Damaged text becomes empty.
        if (!text) continue;
        const { prompt, outputs_to_execute } = text;
        const values = [String((position += 1)), writeExactJson(id), prompt ?? "{}", outputs_to_execute ?? "[]"];
        yield formatList([...values, writeExactJson({ create_time })]);
      }
    }
  }
  yield* streamList('{"queue_running":[', formatTuples(runningJobs), "]");
  yield* streamList(',"queue_pending":[', formatTuples(pendingJobs), "]}");
}
