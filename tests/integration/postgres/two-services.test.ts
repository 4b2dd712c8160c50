// Two services on one PostgreSQL share jobs. Each job runs once, and either service shows and cancels it.
import { beforeEach, expect, it, vi } from "vitest";
import { SERVICE_SCHEMA } from "@/lib/service/store/baseline";
import {
  asRecord,
  asRecords,
  asString,
  createColorGraph,
  createWaitGraph,
  type Json,
  readJob,
  submitGraph,
  waitForEnd,
  waitForStart,
} from "@/tests/integration/service/support";
import { inSchema, queryDatabase } from "@/tests/support/postgres-server";
import { type Client } from "@/tests/support/service";
import { startTwoServices, type TwoServices } from "@/tests/support/two-services";
import { until } from "@/tests/support/until";

let services: TwoServices;
beforeEach(async () => {
  services = await startTwoServices({ concurrency: 1 });
});

/** Runs a long job in the only slot of each service and returns the ids. */
async function occupyBoth(client: Client): Promise<string[]> {
  const ids = [await submitGraph(client, createWaitGraph(3600)), await submitGraph(client, createWaitGraph(3600, 2))];
  for (const id of ids) await waitForStart(client, id);
  return ids;
}

const listJobs = (clause = "") =>
  queryDatabase<{ id: string; state: string; holder: string; attempts: string; fence: string }>(
    services.url,
    `SELECT id, state, holder, attempts, fence FROM lightdesk_service.jobs ${clause} ORDER BY seq`,
  );
const countQueueEntries = async () =>
  (await queryDatabase<{ n: number }>(services.url, "SELECT count(*)::integer AS n FROM lightdesk_queue.jobs"))[0]?.n;

it("runs each job once when both services receive jobs", async () => {
  const { first, second } = await services.createClients();
  const submissions = await Promise.all(
    Array.from({ length: 30 }, async (_, color) => {
      const [client, otherClient] = color % 2 === 0 ? [first, second] : [second, first];
      return { other: otherClient, id: await submitGraph(client, createWaitGraph(0.05, color + 1)) };
    }),
  );
  for (const { other, id } of submissions) expect(await waitForEnd(other, id)).toMatchObject({ status: "completed", outputs_count: 1 });
  const finalJobs = await listJobs();
  expect(finalJobs.map(({ attempts, fence }) => [attempts, fence])).toEqual(finalJobs.map(() => ["1", "1"]));
  expect(new Set(finalJobs.map(({ holder }) => holder)).size).toBe(2);
  await until("the queue is empty", async () => (await countQueueEntries()) === 0);
});

it("schedules users fairly across both services", async () => {
  const [ada, bob] = [await services.createClients("ada"), await services.createClients("bob")];
  const blockingIds = await occupyBoth(ada.first);
  const submissions: { name: string; id: string; client: typeof ada.first }[] = [];
  for (let color = 1; color <= 8; color += 1)
    submissions.push({ name: "ada", client: ada.first, id: await submitGraph(ada.first, createWaitGraph(0.05, color)) });
  for (let color = 1; color <= 4; color += 1)
    submissions.push({ name: "bob", client: bob.second, id: await submitGraph(bob.second, createWaitGraph(0.05, color)) });
  await ada.first.post("/api/jobs/cancel", { job_ids: blockingIds });
  const starts = await Promise.all(
    submissions.map(async ({ name, client, id }) => ({ name, startTime: Number((await waitForEnd(client, id)).execution_start_time) })),
  );
  const order = starts.sort((a, b) => a.startTime - b.startTime).map(({ name }) => name);
  // Until all of Bob's jobs have started, neither user is more than two jobs ahead.
  const counts = { ada: 0, bob: 0 };
  for (const name of order.slice(0, order.lastIndexOf("bob") + 1)) {
    counts[name === "bob" ? "bob" : "ada"] += 1;
    expect(Math.abs(counts.ada - counts.bob), order.join(" ")).toBeLessThanOrEqual(2);
  }
});

it("cancels waiting and running jobs of the other service", async () => {
  const { first, second } = await services.createClients();
  const ids = await occupyBoth(first);
  const waitingId = await submitGraph(second, createWaitGraph(3600, 3));
  await first.post("/api/jobs/cancel", { job_ids: [...ids, waitingId] });
  for (const id of [...ids, waitingId]) expect((await readJob(second, id)).status).toBe("cancelled");
  // Both slots are free, as their workers were stopped.
  const next = [await submitGraph(second, createColorGraph(7)), await submitGraph(second, createColorGraph(8))];
  for (const id of next) expect((await waitForEnd(second, id)).status).toBe("completed");
  expect((await listJobs(`WHERE id = '${ids[0]}'`))[0]).toMatchObject({ state: "cancelled", attempts: "1" });
});

it("interrupts the user's own running jobs on both services", async () => {
  const [ada, bob] = [await services.createClients("ada"), await services.createClients("bob")];
  const [first, second] = [await submitGraph(ada.first, createWaitGraph(3600)), await submitGraph(bob.first, createWaitGraph(3600))];
  await waitForStart(ada.first, first);
  await waitForStart(bob.first, second);
  await ada.second.post("/api/interrupt");
  await ada.first.post("/api/interrupt");
  expect((await waitForEnd(ada.first, first)).status).toBe("cancelled");
  expect((await readJob(bob.first, second)).status).toBe("in_progress");
  await bob.second.post("/api/interrupt", { prompt_id: second });
  await bob.first.post("/api/interrupt", { prompt_id: second });
  expect((await waitForEnd(bob.second, second)).status).toBe("cancelled");
});

it("clears the queue from one service and resets the turn on both", async () => {
  const [ada, bob] = [await services.createClients("ada"), await services.createClients("bob")];
  const blockingIds = await occupyBoth(bob.first);
  const jobIds = await Promise.all(Array.from({ length: 60 }, (_, color) => submitGraph(ada.first, createWaitGraph(3600, color + 1))));
  const cleared = asRecord((await ada.second.post("/api/queue", { clear: true })).body);
  expect([...(cleared.deleted as string[])].sort()).toEqual([...jobIds].sort());
  expect(await countQueueEntries()).toBe(0);
  await submitGraph(bob.second, createWaitGraph(3600, 3));
  await submitGraph(bob.second, createWaitGraph(3600, 4));
  const next = await submitGraph(ada.second, createColorGraph(3));
  await bob.first.post("/api/jobs/cancel", { job_ids: blockingIds });
  expect((await waitForEnd(ada.first, next)).status).toBe("completed");
  for (const client of [bob.first, bob.second]) await client.post("/api/queue", { clear: true });
  for (const client of [bob.first, bob.second]) await client.post("/api/interrupt");
});

it("requeues a stopping service's jobs without using an attempt", async () => {
  const { first, second } = await services.createClients();
  const ids = await occupyBoth(first);
  await services.second.service.stop();
  const [requeuedId] = (await listJobs("WHERE state = 'pending'")).map(({ id }) => id);
  expect((await listJobs()).map(({ state }) => state).sort()).toEqual(["in_progress", "pending"]);
  await first.post("/api/interrupt");
  await until("the job runs on the remaining service", async () => (await readJob(first, requeuedId ?? "")).status === "in_progress");
  expect((await listJobs(`WHERE id = '${requeuedId}'`))[0]).toMatchObject({ attempts: "1", fence: "2" });
  await first.post("/api/interrupt");
  await services.second.service.start();
  const cancelledIds = asRecords(asRecord((await second.get("/api/jobs?status=cancelled")).body).jobs).map((job: Json) => asString(job.id));
  expect(cancelledIds.sort()).toEqual([...ids].sort());
});

it("repairs lost and stale queue entries at startup", async () => {
  const { first, second } = await services.createClients();
  await occupyBoth(first);
  const jobIds = [await submitGraph(first, createColorGraph(3)), await submitGraph(first, createColorGraph(4))];
  await queryDatabase(
    services.url,
    "DELETE FROM lightdesk_queue._private_jobs WHERE key = (SELECT max(key) FROM lightdesk_queue._private_jobs)",
  );
  await queryDatabase(
    services.url,
    "SELECT lightdesk_queue.add_job('run', job_key => seq::text) FROM lightdesk_service.jobs WHERE state = 'in_progress'",
  );
  await services.second.service.stop();
  await services.second.service.start();
  await first.post("/api/interrupt");
  for (const id of [...jobIds, await submitGraph(second, createColorGraph(5))])
    expect((await waitForEnd(first, id)).status).toBe("completed");
  await until("the queue is empty", async () => (await countQueueEntries()) === 0);
});

it("requeues jobs a disconnected service claimed but didn't start", async () => {
  const { first } = await services.createClients();
  await occupyBoth(first);
  const waitingId = await submitGraph(first, createColorGraph(3));
  const entrySql = `FROM lightdesk_queue._private_jobs WHERE key = (SELECT seq::text FROM lightdesk_service.jobs WHERE id = '${waitingId}')`;
  await queryDatabase(services.url, `DELETE ${entrySql}`);
  services.databaseProxy.cut();
  await until("the job is queued again", async () => (await queryDatabase(services.url, `SELECT 1 ${entrySql}`)).length === 1);
  services.databaseProxy.restore();
  await first.post("/api/interrupt");
  expect((await waitForEnd(first, waitingId)).status).toBe("completed");
});

it("runs a job after a hundred failed attempts to claim it", async () => {
  const { first } = await services.createClients();
  await occupyBoth(first);
  const waitingId = await submitGraph(first, createColorGraph(3));
  await queryDatabase(services.url, "UPDATE lightdesk_queue._private_jobs SET attempts = attempts + 100");
  await first.post("/api/interrupt");
  expect((await waitForEnd(first, waitingId)).status).toBe("completed");
});

it("runs jobs when the first queue read failed", async () => {
  const { first } = await services.createClients();
  await services.first.service.stop();
  await services.second.service.stop();
  await queryDatabase(services.url, "CREATE SEQUENCE failures");
  const failBody = "BEGIN PERFORM nextval('failures'); RAISE EXCEPTION 'not now'; END";
  await queryDatabase(services.url, `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ ${failBody} $$`);
  const tasksTable = "lightdesk_queue._private_tasks";
  await queryDatabase(services.url, `CREATE TRIGGER fails BEFORE INSERT ON ${tasksTable} FOR EACH STATEMENT EXECUTE FUNCTION fail()`);
  await services.first.service.start();
  await until(
    "the service has read the queue",
    async () => (await queryDatabase<{ is: boolean }>(services.url, "SELECT is_called AS is FROM failures"))[0]?.is,
  );
  await queryDatabase(services.url, `DROP TRIGGER fails ON ${tasksTable}`);
  expect((await waitForEnd(first, await submitGraph(first, createColorGraph(1)))).status).toBe("completed");
  // The library prints the error.
  for (const [logged] of vi.mocked(console.error).mock.calls) expect(String(logged)).toContain("not now");
  vi.mocked(console.error).mockClear();
  await services.second.service.start();
});

it("fails the third attempt of a disconnected service", async () => {
  const { first, second } = await services.createClients();
  await occupyBoth(second);
  await queryDatabase(inSchema(services.url, SERVICE_SCHEMA), "UPDATE jobs SET attempts = 3 WHERE state = 'in_progress'");
  services.databaseProxy.cut();
  const failed = await until("one job has failed", async () => (await listJobs("WHERE state = 'failed'"))[0]);
  expect(await readJob(first, failed.id)).toMatchObject({ execution_error: { exception_type: "WorkerLost" } });
  services.databaseProxy.restore();
  await first.post("/api/interrupt");
  await until(
    "both services have a free slot",
    async () => (await waitForEnd(second, await submitGraph(second, createColorGraph(9)))).status === "completed",
  );
});
