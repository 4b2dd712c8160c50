// Clearing a queue of thousands: its jobs are cancelled in many commits, and other requests are answered in between. Also, what an older
// service left of such a clear: notes of jobs whose rows were still those of waiting jobs.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { seedJobs } from "@/tests/bench/service/seed-jobs";
import { auditCounters } from "@/tests/faults/kill/audit-counters";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";
import { canvas, detail, list, record, string, submit, waiting } from "./support";

const JOBS = 6000;

describe("clearing a long queue", () => {
  let bench: ServiceBench;
  let client: Client;
  let file: string;

  beforeEach(async () => {
    const empty = await startService();
    empty.client("bench");
    await empty.service.stop();
    file = join(empty.folder, "service.sqlite");
    seedJobs(file, "bench", JOBS, { waiting: 0.8 });
    const database = new SqliteConnection(file);
    database.prepare("UPDATE job_inputs SET prompt = ?").run(JSON.stringify(waiting(3600)));
    database.close();
    bench = await startService({ dataDir: empty.folder, concurrency: 1 });
    client = bench.client("bench");
  });
  afterEach(async () => {
    await client.post("/api/interrupt");
    await bench.dispose();
  });

  const idsOf = async (query: string) => {
    const { jobs, pagination } = record((await client.get(`/api/jobs?limit=1000&${query}`)).body);
    return { ids: list(jobs).map((job) => string(job.id)), total: Number(record(pagination).total) };
  };

  it("answers with every job that waited, oldest first, while lists are answered and what is sent meanwhile waits on", async () => {
    const before = await idsOf("status=pending&sort_order=asc");
    const cancelled = (await idsOf("status=cancelled")).total;
    expect(before.total).toBeGreaterThan(4000);
    let isAnswered = false;
    const clearing = client.post("/api/queue", { clear: true }).finally(() => (isAnswered = true));
    const totals: number[] = [];
    let later: string | undefined;
    while (!isAnswered) {
      await new Promise((resolve) => setImmediate(resolve));
      totals.push((await idsOf("status=pending")).total);
      // Submitted once part of the queue is gone: this job does not belong to the cleared queue.
      if (later === undefined && totals.some((total) => total < before.total)) later = await submit(client, canvas(5));
    }
    const { deleted } = record((await clearing).body);
    expect(deleted).toHaveLength(before.total);
    expect(Array.isArray(deleted) && deleted.slice(0, 1000)).toEqual(before.ids);
    expect(totals.some((total) => total > 0 && total < before.total)).toBe(true);
    const left = await idsOf("status=pending");
    expect(left).toEqual({ ids: [later], total: 1 });
    expect((await idsOf("status=cancelled")).total).toBe(cancelled + before.total);
    expect(await detail(client, before.ids[0] ?? "")).toMatchObject({ status: "cancelled", outputs: {} });
    expect((await client.get("/api/queue")).text).toContain(`"queue_pending":[[1,"${later}",`);
    const database = new SqliteConnection(file, { readOnly: true });
    auditCounters(database);
    database.close();
  });
});
