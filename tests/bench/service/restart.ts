// Measures the first correct response of a service that was killed and restarted with 100,000 pending jobs. The jobs are copies of a
// real one in the killed service's database. Then measures a burst of cancels of one job each, and one call that cancels all others.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { MAX_ATTEMPTS } from "@/lib/service/jobs/transitions";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { post, type ServiceProcess, startService } from "../processes";
import { forEachConcurrently, getJson, getQueueDepth, submitGraph, withService } from "./client";
import { waitingGraph } from "./graphs";
import { getResidentMiB } from "./memory";
import { type BenchRow, formatRuns, median } from "./row";

const RUNS = 3;
const PENDING_COUNT = 100_000;
const BURST_SIZE = 1000;

export function measureRestart(): Promise<BenchRow[]> {
  return withService({}, async (initialService, folder) => {
    await submitGraph(initialService, waitingGraph);
    await submitGraph(initialService, waitingGraph);
    await initialService.process.stop("SIGKILL");
    copyPending(join(folder, "service", "service.sqlite"), PENDING_COUNT);
    const times: number[] = [];
    let isComplete = true;
    let service: ServiceProcess | undefined;
    for (let run = 0; run < RUNS; run += 1) {
      await service?.process.stop("SIGKILL");
      const started = performance.now();
      service = await startService(folder, {}, initialService.headers);
      const depth = await getQueueDepth(service);
      times.push(performance.now() - started);
      const { pagination } = await getJson<{ pagination: { total: number } }>(service, "/api/jobs?limit=1");
      // The running job fails after losing its worker for the third time, but remains in the list.
      const failedCount = run + 1 >= MAX_ATTEMPTS ? 1 : 0;
      isComplete &&= depth === PENDING_COUNT - failedCount && pagination.total === PENDING_COUNT;
    }
    if (!service) throw new Error("the service was not started");
    const cancelRows = await measureCancels(service);
    await service.process.stop();
    return [
      {
        name: `restart after kill -9 with ${PENDING_COUNT.toLocaleString("en")} pending jobs, to the first response`,
        target: "within 2 s, none lost",
        ...formatRuns(times, `ms, ${isComplete ? "none lost" : "jobs lost"}`, 0),
        meets: isComplete && median(times) <= 2000,
      },
      ...cancelRows,
    ];
  });
}

async function measureCancels(service: ServiceProcess): Promise<BenchRow[]> {
  const memoryMiB = getResidentMiB(service.process.pid);
  const { jobs } = await getJson<{ jobs: { id: string }[] }>(service, `/api/jobs?status=pending&limit=${BURST_SIZE}`);
  const started = performance.now();
  await forEachConcurrently(jobs, 20, async ({ id }) => void (await post(`${service.url}/api/queue`, { delete: [id] }, service.headers)));
  const burstMs = performance.now() - started;
  const clearStartedMs = performance.now();
  await post(`${service.url}/api/queue`, { clear: true }, service.headers);
  const clearMs = performance.now() - clearStartedMs;
  const remaining = await getQueueDepth(service);
  return [
    { name: "memory with all pending jobs", target: "", figure: `${memoryMiB.toFixed(0)} MiB resident`, spread: "", meets: true },
    {
      name: `${jobs.length} cancels of one job each, 20 connections; then all other jobs with one call`,
      target: "",
      figure: `${burstMs.toFixed(0)} ms; ${clearMs.toFixed(0)} ms`,
      spread: "",
      meets: remaining <= 1,
    },
  ];
}

/** Copies until there are `count` unfinished jobs, including the running one. */
function copyPending(databaseFile: string, count: number): void {
  const database = new SqliteConnection(databaseFile);
  const template = database.prepare<[], Record<string, unknown>>("SELECT * FROM jobs WHERE state = 'pending' LIMIT 1").get();
  const inputs =
    template && database.prepare<[unknown], Record<string, unknown>>("SELECT * FROM job_inputs WHERE job_seq = ?").get(template.seq);
  if (!template || !inputs) throw new Error("There is no pending job to copy.");
  const { seq: _seq, ...job } = template;
  const prepareInsert = (table: string, row: Record<string, unknown>) => {
    const names = Object.keys(row);
    const placeholders = names.map((name) => `@${name}`).join(", ");
    return database.prepare<[Record<string, unknown>]>(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${placeholders})`);
  };
  const [insertJob, insertInputs] = [prepareInsert("jobs", job), prepareInsert("job_inputs", inputs)];
  database.runExclusively(() => {
    for (let index = 2; index < count; index += 1) {
      const at = Number(job.create_time) + index;
      const row = { ...job, id: randomUUID(), number: Number(job.number) + index, create_time: at, update_time: at, state_time: at };
      insertInputs.run({ ...inputs, job_seq: insertJob.run(row).lastInsertRowid });
    }
  });
  database.close();
}
