// Two services on one PostgreSQL run jobs together: each job once, fairly between users; each service shows and cancels the other's jobs.
import { beforeEach, expect, it, vi } from "vitest";
import {
  asRecord,
  asRecords,
  asString,
  canvas,
  type Json,
  readJob,
  submit,
  waitForEnd,
  waitForStart,
  waitGraph,
} from "@/tests/integration/service/support";
import { queryDatabase } from "@/tests/support/postgres-server";
import { startTwoServices, type TwoServices } from "@/tests/support/two-services";
import { until } from "@/tests/support/until";

let two: TwoServices;
beforeEach(async () => {
  two = await startTwoServices({ concurrency: 1 });
});

const jobs = (rest = "") =>
  queryDatabase<{ id: string; state: string; holder: string; attempts: string; fence: string }>(
    two.url,
    `SELECT id, state, holder, attempts, fence FROM lightdesk_service.jobs ${rest} ORDER BY seq`,
  );
const entries = async () => (await queryDatabase<{ n: number }>(two.url, "SELECT count(*)::integer AS n FROM lightdesk_queue.jobs"))[0]?.n;

it("runs each job once, wherever it was submitted", async () => {
  const { first, second } = await two.clients();
  const submitted = await Promise.all(
    Array.from({ length: 30 }, async (_, color) => {
      const [client, otherClient] = color % 2 === 0 ? [first, second] : [second, first];
      return { other: otherClient, id: await submit(client, waitGraph(0.05, color + 1)) };
    }),
  );
  for (const { other, id } of submitted) expect(await waitForEnd(other, id)).toMatchObject({ status: "completed", outputs_count: 1 });
  const all = await jobs();
  expect(all.map(({ attempts, fence }) => [attempts, fence])).toEqual(all.map(() => ["1", "1"]));
  expect(new Set(all.map(({ holder }) => holder)).size).toBe(2);
  await until("nothing is left in the queue", async () => (await entries()) === 0);
});

it("shares turns fairly between users across both services", async () => {
  const [ada, bob] = [await two.clients("ada"), await two.clients("bob")];
  const blocking = [await submit(ada.first, waitGraph(3600)), await submit(ada.first, waitGraph(3600, 2))];
  for (const id of blocking) await waitForStart(ada.first, id);
  const submitted: { name: string; id: string; client: typeof ada.first }[] = [];
  for (let color = 1; color <= 8; color += 1)
    submitted.push({ name: "ada", client: ada.first, id: await submit(ada.first, waitGraph(0.05, color)) });
  for (let color = 1; color <= 4; color += 1)
    submitted.push({ name: "bob", client: bob.second, id: await submit(bob.second, waitGraph(0.05, color)) });
  await ada.first.post("/api/jobs/cancel", { job_ids: blocking });
  const began = await Promise.all(
    submitted.map(async ({ name, client, id }) => ({ name, at: Number((await waitForEnd(client, id)).execution_start_time) })),
  );
  const order = began.sort((a, b) => a.at - b.at).map(({ name }) => name);
  // At no point is either user more than two jobs ahead, until all of bob's have begun.
  const counts = { ada: 0, bob: 0 };
  for (const name of order.slice(0, order.lastIndexOf("bob") + 1)) {
    counts[name === "bob" ? "bob" : "ada"] += 1;
    expect(Math.abs(counts.ada - counts.bob), order.join(" ")).toBeLessThanOrEqual(2);
  }
});

it("cancels waiting and running jobs of the other service", async () => {
  const { first, second } = await two.clients();
  const ids = [await submit(first, waitGraph(3600)), await submit(first, waitGraph(3600, 2))];
  for (const id of ids) await waitForStart(first, id);
  const waits = await submit(second, waitGraph(3600, 3));
  const cancelResult = (await first.post("/api/jobs/cancel", { job_ids: [...ids, waits] })).body;
  expect(cancelResult).toMatchObject({});
  for (const id of [...ids, waits]) expect((await readJob(second, id)).status).toBe("cancelled");
  // Both slots are free, as their workers were stopped.
  const next = [await submit(second, canvas(7)), await submit(second, canvas(8))];
  for (const id of next) expect((await waitForEnd(second, id)).status).toBe("completed");
  expect((await jobs(`WHERE id = '${ids[0]}'`))[0]).toMatchObject({ state: "cancelled", attempts: "1" });
});

it("interrupts the user's own running jobs on both services", async () => {
  const [ada, bob] = [await two.clients("ada"), await two.clients("bob")];
  const [first, second] = [await submit(ada.first, waitGraph(3600)), await submit(bob.first, waitGraph(3600))];
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

it("clears from one service and resets the user's turn on both", async () => {
  const [ada, bob] = [await two.clients("ada"), await two.clients("bob")];
  const blocking = [await submit(bob.first, waitGraph(3600)), await submit(bob.first, waitGraph(3600, 2))];
  for (const id of blocking) await waitForStart(bob.first, id);
  const jobIds = await Promise.all(Array.from({ length: 60 }, (_, color) => submit(ada.first, waitGraph(3600, color + 1))));
  const cleared = asRecord((await ada.second.post("/api/queue", { clear: true })).body);
  expect([...(cleared.deleted as string[])].sort()).toEqual([...jobIds].sort());
  expect(await entries()).toBe(0);
  await submit(bob.second, waitGraph(3600, 3));
  await submit(bob.second, waitGraph(3600, 4));
  const next = await submit(ada.second, canvas(3));
  await bob.first.post("/api/jobs/cancel", { job_ids: blocking });
  expect((await waitForEnd(ada.first, next)).status).toBe("completed");
  for (const client of [bob.first, bob.second]) await client.post("/api/queue", { clear: true });
  for (const client of [bob.first, bob.second]) await client.post("/api/interrupt");
});

it("requeues a stopping service's jobs without using an attempt", async () => {
  const { first, second } = await two.clients();
  const ids = [await submit(first, waitGraph(3600)), await submit(first, waitGraph(3600, 2))];
  for (const id of ids) await waitForStart(first, id);
  const [holder] = (await queryDatabase<{ id: string }>(two.url, "SELECT id FROM lightdesk_service.processes")).map(({ id }) => id);
  expect(holder).toBeDefined();
  await two.second.service.stop();
  const [left] = (await jobs("WHERE state = 'pending'")).map(({ id }) => id);
  expect((await jobs()).map(({ state }) => state).sort()).toEqual(["in_progress", "pending"]);
  await first.post("/api/interrupt");
  await until("it runs at the one that is left", async () => (await readJob(first, left ?? "")).status === "in_progress");
  expect((await jobs(`WHERE id = '${left}'`))[0]).toMatchObject({ attempts: "1", fence: "2" });
  await first.post("/api/interrupt");
  await two.second.service.start();
  const ids2 = asRecords(asRecord((await second.get("/api/jobs?status=cancelled")).body).jobs).map((job: Json) => asString(job.id));
  expect(ids2.sort()).toEqual([...ids].sort());
});

it("repairs a lost and a stale queue entry at the start", async () => {
  const { first, second } = await two.clients();
  const blocking = [await submit(first, waitGraph(3600)), await submit(first, waitGraph(3600, 2))];
  for (const id of blocking) await waitForStart(first, id);
  const jobIds = [await submit(first, canvas(3)), await submit(first, canvas(4))];
  await queryDatabase(
    two.url,
    "DELETE FROM lightdesk_queue._private_jobs WHERE key = (SELECT max(key) FROM lightdesk_queue._private_jobs)",
  );
  await queryDatabase(
    two.url,
    "SELECT lightdesk_queue.add_job('run', job_key => seq::text) FROM lightdesk_service.jobs WHERE state = 'in_progress'",
  );
  await two.second.service.stop();
  await two.second.service.start();
  await first.post("/api/interrupt");
  for (const id of [...jobIds, await submit(second, canvas(5))]) expect((await waitForEnd(first, id)).status).toBe("completed");
  await until("nothing is left in the queue", async () => (await entries()) === 0);
});

it("requeues jobs that a disconnected service took but did not start", async () => {
  const { first } = await two.clients();
  for (const id of [await submit(first, waitGraph(3600)), await submit(first, waitGraph(3600, 2))]) await waitForStart(first, id);
  const waits = await submit(first, canvas(3));
  const entry = `FROM lightdesk_queue._private_jobs WHERE key = (SELECT seq::text FROM lightdesk_service.jobs WHERE id = '${waits}')`;
  await queryDatabase(two.url, `DELETE ${entry}`);
  two.wire.cut();
  await until("it is given out again", async () => (await queryDatabase(two.url, `SELECT 1 ${entry}`)).length === 1);
  two.wire.mend();
  await first.post("/api/interrupt");
  expect((await waitForEnd(first, waits)).status).toBe("completed");
});

it("runs a job after a hundred failed attempts to claim it", async () => {
  const { first } = await two.clients();
  for (const id of [await submit(first, waitGraph(3600)), await submit(first, waitGraph(3600, 2))]) await waitForStart(first, id);
  const waits = await submit(first, canvas(3));
  await queryDatabase(two.url, "UPDATE lightdesk_queue._private_jobs SET attempts = attempts + 100");
  await first.post("/api/interrupt");
  expect((await waitForEnd(first, waits)).status).toBe("completed");
});

it("runs jobs although its first queue read failed", async () => {
  const { first } = await two.clients();
  await two.first.service.stop();
  await two.second.service.stop();
  await queryDatabase(two.url, "CREATE SEQUENCE failures");
  const fail = "BEGIN PERFORM nextval('failures'); RAISE EXCEPTION 'not now'; END";
  await queryDatabase(two.url, `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ ${fail} $$`);
  const tasks = "lightdesk_queue._private_tasks";
  await queryDatabase(two.url, `CREATE TRIGGER fails BEFORE INSERT ON ${tasks} FOR EACH STATEMENT EXECUTE FUNCTION fail()`);
  await two.first.service.start();
  await until("it has asked", async () => (await queryDatabase<{ is: boolean }>(two.url, "SELECT is_called AS is FROM failures"))[0]?.is);
  await queryDatabase(two.url, `DROP TRIGGER fails ON ${tasks}`);
  expect((await waitForEnd(first, await submit(first, canvas(1)))).status).toBe("completed");
  // The library prints the error.
  for (const [logged] of vi.mocked(console.error).mock.calls) expect(String(logged)).toContain("not now");
  vi.mocked(console.error).mockClear();
  await two.second.service.start();
});

it("requeues a cut-off service's jobs and fails third attempts", async () => {
  const { first: here, second: there } = await two.clients();
  const ids = [await submit(there, waitGraph(3600)), await submit(there, waitGraph(3600, 2))];
  for (const id of ids) await waitForStart(here, id);
  const [first, second] = await jobs();
  two.wire.cut();
  const lostJob = await until("one of them waits", async () => (await jobs("WHERE state = 'pending'"))[0]);
  expect([first, second].find((job) => job?.id === lostJob.id)?.holder).toBe(lostJob.holder);
  expect(lostJob).toMatchObject({ attempts: "1", fence: "1" });
  await here.post("/api/interrupt");
  await until("it runs here", async () => (await readJob(here, lostJob.id)).status === "in_progress");
  two.wire.mend();
  await here.post("/api/interrupt");
  expect((await waitForEnd(there, lostJob.id)).status).toBe("cancelled");

  const laterIds = [await submit(there, waitGraph(3600, 3)), await submit(there, waitGraph(3600, 4))];
  for (const id of laterIds) await waitForStart(here, id);
  const url = new URL(two.url);
  url.searchParams.set("options", "-c search_path=lightdesk_service");
  await queryDatabase(url.href, "UPDATE jobs SET attempts = 3 WHERE state = 'in_progress'");
  two.wire.cut();
  const failed = await until("one of them has failed", async () => (await jobs("WHERE state = 'failed'"))[0]);
  expect(await readJob(here, failed.id)).toMatchObject({ execution_error: { exception_type: "WorkerLost" } });
  two.wire.mend();
  await here.post("/api/interrupt");
  await until("both have a slot free", async () => (await waitForEnd(there, await submit(there, canvas(9)))).status === "completed");
});
