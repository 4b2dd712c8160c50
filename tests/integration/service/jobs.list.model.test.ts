// Compares queries of thousands of jobs in every state with a filter and sort of all rows.
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { createWorkflowId, getWorkflowCount, seedJobs } from "@/tests/bench/service/seed-jobs";
import { startService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { asRecords, asString, createWaitGraph, getRecord, listJobs } from "./support";

const JOB_COUNT = 3000;

type Row = {
  id: string;
  state: string;
  workflow_id: string;
  create_time: number;
  execution_time: number;
  has_image: number;
  has_video: number;
  has_audio: number;
};
type Query = {
  states: string[];
  workflow?: string;
  output?: "image" | "video" | "audio";
  by: "create_time" | "execution_time";
  order: string;
};

function findExpectedIds(rows: readonly Row[], query: Query): string[] {
  const sign = query.order === "asc" ? 1 : -1;
  return rows
    .filter((row) => query.states.length === 0 || query.states.includes(row.state))
    .filter((row) => query.workflow === undefined || row.workflow_id === query.workflow)
    .filter((row) => query.output === undefined || (row.state === "completed" && row[`has_${query.output}`] === 1))
    .sort((a, b) => sign * (a[query.by] - b[query.by] || (a.id < b.id ? -1 : 1)))
    .map((row) => row.id);
}

const queries = fc.record(
  {
    states: fc.subarray(["pending", "in_progress", "completed", "failed", "cancelled"]),
    workflow: fc.constantFrom(
      ...Array.from({ length: getWorkflowCount(JOB_COUNT) }, (_, index) => createWorkflowId(index)),
      "missing-workflow",
    ),
    output: fc.constantFrom("image" as const, "video" as const, "audio" as const),
    by: fc.constantFrom("create_time" as const, "execution_time" as const),
    order: fc.constantFrom("asc", "desc"),
  },
  { requiredKeys: ["states", "by", "order"] },
);

describe.each([0, 0.8])("job list with a waiting share of %d", async (waitingShare) => {
  const emptyService = await startService();
  emptyService.client("bench");
  await emptyService.service.stop();
  const file = join(emptyService.folder, "service.sqlite");
  seedJobs(file, "bench", JOB_COUNT, { waiting: waitingShare });
  const database = new SqliteConnection(file);
  // The first waiting job occupies the only slot, so the list doesn't change during the test.
  database
    .prepare("UPDATE job_inputs SET prompt = ? WHERE job_seq IN (SELECT seq FROM jobs WHERE state = 'pending')")
    .run(JSON.stringify(createWaitGraph(3600)));
  const service = await startService({ dataDir: emptyService.folder, concurrency: 1 });
  const client = service.client("bench");
  await until("a job runs", async () => (await listJobs(client, "status=in_progress")).length === 1);
  const rows = database.prepare<[], Row>("SELECT * FROM jobs").all();
  database.close();
  afterAll(async () => {
    await client.post("/api/queue", { clear: true });
    await client.post("/api/interrupt");
  });

  const getPath = ({ states, workflow, output, by, order }: Query) =>
    `/api/jobs?sort_by=${by}&sort_order=${order}&status=${states.join(",")}` +
    (workflow === undefined ? "" : `&workflow_id=${workflow}`) +
    (output === undefined ? "" : `&output_type=${output}`);

  it("returns the exact total and has_more for any filter, order and offset", async () => {
    const page = fc.record({
      query: queries,
      limit: fc.integer({ min: 1, max: 120 }),
      offset: fc.integer({ min: 0, max: JOB_COUNT + 10 }),
    });
    await fc.assert(
      fc.asyncProperty(page, async ({ query, limit, offset }) => {
        const json = await getRecord(client, `${getPath(query)}&limit=${limit}&offset=${offset}`);
        const expectedIds = findExpectedIds(rows, query);
        expect(asRecords(json.jobs).map((job) => asString(job.id))).toEqual(expectedIds.slice(offset, offset + limit));
        expect(json.pagination).toEqual({ offset, limit, total: expectedIds.length, has_more: offset + limit < expectedIds.length });
      }),
      { numRuns: 300, seed: 20261121 },
    );
  });

  it("lists only ended jobs in the history, newest first", async () => {
    const endedIds = findExpectedIds(rows, { states: ["completed", "failed", "cancelled"], by: "create_time", order: "desc" });
    for (const offset of [0, 1400, endedIds.length - 5, endedIds.length + 1]) {
      const { history } = await getRecord(client, `/api/history_v2?max_items=50&offset=${offset}`);
      expect(asRecords(history).map((entry) => asString(entry.prompt_id))).toEqual(endedIds.slice(offset, offset + 50));
    }
  });
});
