// Of two services on one PostgreSQL, one has taken over the other's attempt: the stale attempt completes, fails, cancels, gives back and
// puts out nothing.
import { afterEach, beforeEach, expect, it } from "vitest";
import { canvas, detail, ended, type Json, list, record, running, submit, waiting } from "@/tests/integration/service/support";
import { ask } from "@/tests/support/postgres-server";
import { type Client } from "@/tests/support/service";
import { startTwoServices, type TwoServices } from "@/tests/support/two-services";
import { until } from "@/tests/support/until";

let two: TwoServices;
let here: Client;
let there: Client;
beforeEach(async () => {
  two = await startTwoServices({ concurrency: 1, maxJobPixels: 1000 });
  ({ here, there } = await two.clients());
});
afterEach(() => two.dispose());

/** A job that runs at one service, while the other one's slot is taken. */
async function runThere(graph: Json): Promise<string> {
  const id = await submit(here, graph);
  await running(here, id);
  await submit(here, waiting(3600, 99));
  const busy = "SELECT 1 FROM lightdesk_service.jobs WHERE state = 'in_progress'";
  await until("both are busy", async () => (await ask(two.url, busy)).length === 2);
  return id;
}

/** Takes the job over as the other service would, unnoticed by this one so far. */
async function takeOver(id: string): Promise<void> {
  const url = new URL(two.url);
  url.searchParams.set("options", "-c search_path=lightdesk_service");
  await ask(
    url.href,
    `UPDATE jobs SET fence = fence + 1, holder = (SELECT processes.id FROM processes WHERE processes.id <> holder AND seen_at <> '-infinity') WHERE id = '${id}'`,
  );
}

/** Waits until the stale attempt's slot is free again. */
async function untilOver(): Promise<void> {
  expect((await ended(here, await submit(here, canvas(1)))).status).toBe("completed");
}

async function expectUntouched(id: string): Promise<void> {
  const [job] = await ask(
    two.url,
    `SELECT state, attempts, fence, error, end_time, outputs_count FROM lightdesk_service.jobs WHERE id = '${id}'`,
  );
  expect(job).toEqual({ state: "in_progress", attempts: "1", fence: "2", error: null, end_time: null, outputs_count: "0" });
  const counts = `SELECT (SELECT count(*)::integer FROM lightdesk_service.job_results JOIN lightdesk_service.jobs ON seq = job_seq WHERE id = '${id}') AS results,
    (SELECT count(*)::integer FROM lightdesk_service.assets WHERE prompt_id = '${id}') AS outputs,
    (SELECT count(*)::integer FROM lightdesk_queue.jobs JOIN lightdesk_service.jobs AS j ON key = seq::text WHERE j.id = '${id}') AS entries`;
  expect(await ask(two.url, counts)).toEqual([{ results: 0, outputs: 0, entries: 0 }]);
}

it("completes nothing, and puts out nothing", async () => {
  const id = await runThere(waiting(4));
  await takeOver(id);
  await untilOver();
  await expectUntouched(id);
});

it("fails nothing", async () => {
  const id = await runThere({
    "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 1 } },
    "2": { class_type: "Wait", inputs: { seconds: 4, anything: ["1", 0] } },
    "3": { class_type: "ImageScale", inputs: { image: ["2", 0], upscale_method: "bilinear", width: 512, height: 512, crop: "disabled" } },
    "4": { class_type: "SaveImage", inputs: { images: ["3", 0], filename_prefix: "x" } },
  });
  await takeOver(id);
  await untilOver();
  await expectUntouched(id);
});

it("gives nothing back when its service stops", async () => {
  await two.there.service.stop();
  const id = await submit(here, waiting(3600));
  await running(here, id);
  await two.there.service.start();
  await takeOver(id);
  await two.here.service.stop();
  await expectUntouched(id);
  await two.here.service.start();
});

it("cancels nothing: the attempt that took its place goes on, and is the one that is cancelled", async () => {
  // Each service runs one; the connection of one service is cut below.
  const ids = [await submit(there, waiting(3600)), await submit(there, waiting(3600, 2))];
  for (const id of ids) await running(here, id);
  const before = await ask<{ id: string; holder: string }>(two.url, "SELECT id, holder FROM lightdesk_service.jobs ORDER BY seq");
  expect(new Set(before.map(({ holder }) => holder)).size).toBe(2);
  two.wire.cut();
  const lost = await until("one of them waits again", async () => {
    const [job] = await ask<{ id: string }>(two.url, "SELECT id FROM lightdesk_service.jobs WHERE state = 'pending'");
    return job?.id;
  });
  const kept = ids.find((id) => id !== lost) ?? "";
  await here.post("/api/jobs/cancel", { job_ids: [kept] });
  await until("it runs here", async () => (await detail(here, lost)).status === "in_progress");
  two.wire.mend();
  // Its own run has ended: its slot is free, while the other one's is taken.
  expect((await ended(here, await submit(here, canvas(4)), 30_000)).status).toBe("completed");
  expect((await detail(there, lost)).status).toBe("in_progress");
  const [now] = await ask(two.url, `SELECT state, attempts, fence FROM lightdesk_service.jobs WHERE id = '${lost}'`);
  expect(now).toEqual({ state: "in_progress", attempts: "2", fence: "2" });
  expect((await there.post("/api/jobs/cancel", { job_ids: [lost] })).status).toBe(200);
  expect((await detail(here, lost)).status).toBe("cancelled");
  expect(list(record((await here.get("/api/jobs?status=cancelled")).body).jobs)).toHaveLength(2);
});
