// Lists of the same jobs on both databases: PostgreSQL gives the same answers as SQLite.
// Another test compares SQLite's lists with a sort of every row.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { copyServiceStore, openServiceStore } from "@/lib/service/index";
import { listJobs } from "@/lib/service/jobs/list-jobs";
import { type Database } from "@/lib/service/store/database";
import { openPostgres } from "@/lib/service/store/postgres/database";
import { openDatabase } from "@/lib/service/store/sqlite";
import { seedJobs, workflowId, workflowsOf } from "@/tests/bench/service/seed-jobs";
import { createDatabase, type OwnDatabase } from "@/tests/support/postgres-server";

const JOBS = 3000;
const USER = 1;

let folder: string;
let own: OwnDatabase;
let sqlite: Database;
let postgres: Database;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lightdesk-job-lists-"));
  own = await createDatabase(inject("postgres"));
  const store = await openServiceStore(folder, { concurrency: 1 });
  await store.keys.createKey("bench");
  await store.close();
  const file = join(folder, "service.sqlite");
  seedJobs(file, "bench", JOBS, { waiting: 0.3 });
  await copyServiceStore({ file }, { url: own.url }, () => undefined);
  sqlite = await openDatabase(file, Date.now);
  postgres = await openPostgres(own.url, Date.now);
});

afterAll(async () => {
  await Promise.all([sqlite.close(), postgres.close()]);
  await own.drop();
  rmSync(folder, { recursive: true, force: true });
});

const asked = fc.record(
  {
    status: fc.subarray(["pending", "in_progress", "completed", "failed", "cancelled"] as const),
    workflow_id: fc.constantFrom(...Array.from({ length: workflowsOf(JOBS) }, (_, index) => workflowId(index)), "none-such"),
    output_type: fc.constantFrom("image" as const, "video" as const, "audio" as const),
    sort_by: fc.constantFrom("create_time" as const, "execution_time" as const),
    sort_order: fc.constantFrom("asc" as const, "desc" as const),
    limit: fc.integer({ min: 1, max: 120 }),
    offset: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: JOBS + 10 })),
  },
  { requiredKeys: ["sort_by", "sort_order", "limit", "offset"] },
);

async function expectTheSame(numRuns: number): Promise<void> {
  const both = fc.asyncProperty(asked, async (page) => {
    expect(await listJobs(postgres, USER, page)).toEqual(await listJobs(sqlite, USER, page));
  });
  await fc.assert(both, { numRuns, seed: 20261126 });
}

it("are the same for any filter, in any order, at any offset", () => expectTheSame(300));
