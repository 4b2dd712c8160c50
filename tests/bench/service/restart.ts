// A service killed and restarted with 100,000 pending jobs: time until its first correct response.
// One real, pending job is copied in the killed service's database, so every row has the shape that the service gives it. Then a burst
// of cancels, one job each, and the rest in one call.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { MAX_ATTEMPTS } from "@/lib/service/jobs/transitions";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { type PortService, post, startService } from "../processes";
import { forEachConcurrently, get, queueDepth, submit, withService } from "./client";
import { waiting } from "./graphs";
import { residentMiB } from "./memory";
import { type BenchRow, formatRuns, median } from "./row";

const RUNS = 3;
const PENDING = 100_000;
const BURST = 1000;

export function measureRestart(): Promise<BenchRow[]> {
  return withService({}, async (first, folder) => {
    await submit(first, waiting);
    await submit(first, waiting);
    await first.process.stop("SIGKILL");
    copyPending(join(folder, "service", "service.sqlite"), PENDING);
    const times: number[] = [];
    let isWhole = true;
    let service: PortService | undefined;
    for (let run = 0; run < RUNS; run += 1) {
      await service?.process.stop("SIGKILL");
      const started = performance.now();
      service = await startService(folder, {}, first.headers);
      const depth = await queueDepth(service);
      times.push(performance.now() - started);
      const { pagination } = await get<{ pagination: { total: number } }>(service, "/api/jobs?limit=1");
      // The running job fails after losing its worker for the third time; it stays in the list.
      const abandoned = run + 1 >= MAX_ATTEMPTS ? 1 : 0;
      isWhole &&= depth === PENDING - abandoned && pagination.total === PENDING;
    }
    if (!service) throw new Error("nothing was started");
    const after = await cancels(service);
    await service.process.stop();
    return [
      {
        name: `restart after kill -9 with ${PENDING.toLocaleString("en")} pending jobs, to the first answer`,
        target: "within 2 s, none lost",
        ...formatRuns(times, `ms, ${isWhole ? "none lost" : "jobs lost"}`, 0),
        meets: isWhole && median(times) <= 2000,
      },
      ...after,
    ];
  });
}

async function cancels(service: PortService): Promise<BenchRow[]> {
  const resident = residentMiB(service.process.pid);
  const { jobs } = await get<{ jobs: { id: string }[] }>(service, `/api/jobs?status=pending&limit=${BURST}`);
  const started = performance.now();
  await forEachConcurrently(jobs, 20, async ({ id }) => void (await post(`${service.url}/api/queue`, { delete: [id] }, service.headers)));
  const burst = performance.now() - started;
  const rest = performance.now();
  await post(`${service.url}/api/queue`, { clear: true }, service.headers);
  const cleared = performance.now() - rest;
  const remaining = await queueDepth(service);
  return [
    { name: "memory with all of them", target: "", figure: `${resident.toFixed(0)} MiB resident`, spread: "", meets: true },
    {
      name: `${jobs.length} cancels, one job each, 20 connections; then all that is left with one call`,
      target: "",
      figure: `${burst.toFixed(0)} ms; ${cleared.toFixed(0)} ms`,
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
  const insert = (table: string, row: Record<string, unknown>) => {
    const names = Object.keys(row);
    const marks = names.map((name) => `@${name}`).join(", ");
    return database.prepare<[Record<string, unknown>]>(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${marks})`);
  };
  const [insertJob, insertInputs] = [insert("jobs", job), insert("job_inputs", inputs)];
  database.exclusively(() => {
    for (let index = 2; index < count; index += 1) {
      const at = Number(job.create_time) + index;
      const row = { ...job, id: randomUUID(), number: Number(job.number) + index, create_time: at, update_time: at, state_time: at };
      insertInputs.run({ ...inputs, job_seq: insertJob.run(row).lastInsertRowid });
    }
  });
  database.close();
}
