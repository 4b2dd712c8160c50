import { afterEach, describe, expect, it } from "vitest";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { canvas, detail, ended, list, record, running, submit, waiting } from "./support";

describe("whose turn it is", () => {
  let bench: ServiceBench | undefined;
  afterEach(() => bench?.dispose());

  const began = async (client: Client, id: string) => Number((await ended(client, id)).execution_start_time);

  it("goes round robin between users and in order within one, on one slot", async () => {
    bench = await startService({ concurrency: 1 });
    const [ada, bob, cy] = [bench.client("ada"), bench.client("bob"), bench.client("cy")];
    // Ada's first job holds the slot while all others queue up behind it.
    const first = await submit(ada, waiting(1));
    await running(ada, first);
    const sent: { name: string; client: Client; id: string }[] = [];
    const send = async (name: string, client: Client) => void sent.push({ name, client, id: await submit(client, waiting(0.01)) });
    for (let round = 1; round <= 4; round += 1) await send(`ada${round}`, ada);
    for (let round = 1; round <= 3; round += 1) await send(`bob${round}`, bob);
    for (let round = 1; round <= 2; round += 1) await send(`cy${round}`, cy);

    const starts = await Promise.all(sent.map(async ({ name, client, id }) => ({ name, at: await began(client, id) })));
    const order = starts.sort((a, b) => a.at - b.at).map(({ name }) => name);
    expect(order).toEqual(["bob1", "cy1", "ada1", "bob2", "cy2", "ada2", "bob3", "ada3", "ada4"]);
  });

  it("runs no more jobs at once than the setting says, whoever sent them", async () => {
    bench = await startService({ concurrency: 2 });
    const clients = [bench.client("ada"), bench.client("bob"), bench.client("cy")];
    const sent = await Promise.all(
      clients.flatMap((client) => [1, 2, 3].map(async (color) => ({ client, id: await submit(client, waiting(0.1, color)) }))),
    );
    const spans = await Promise.all(
      sent.map(async ({ client, id }) => {
        const job = await ended(client, id);
        expect(job.status).toBe("completed");
        return { from: Number(job.execution_start_time), to: Number(job.execution_end_time) };
      }),
    );
    for (const { from } of spans) expect(spans.filter((span) => span.from <= from && from < span.to).length).toBeLessThanOrEqual(2);
  });

  it("shows no more jobs running than the setting says, at any moment, while short ones follow each other", async () => {
    bench = await startService({ concurrency: 1 });
    const client = bench.client();
    const sent = await Promise.all(Array.from({ length: 40 }, (_, color) => submit(client, canvas(color + 1))));
    const seen: number[] = [];
    await until(
      "all have ended",
      async () => {
        seen.push(list(record((await client.get("/api/jobs?status=in_progress")).body).jobs).length);
        return Number(record(record((await client.get("/api/prompt")).body).exec_info).queue_remaining) === 0;
      },
      { everyMs: 0 },
    );
    expect(Math.max(...seen)).toBe(1);
    // In the order of submission, and none began before the previous one had ended.
    const spans = await Promise.all(sent.map((id) => ended(client, id)));
    const inOrder = spans.toSorted((a, b) => Number(a.execution_start_time) - Number(b.execution_start_time));
    for (const [index, job] of inOrder.entries()) {
      expect(job.status).toBe("completed");
      const before = inOrder[index - 1];
      if (before) expect(Number(job.execution_start_time)).toBeGreaterThanOrEqual(Number(before.execution_end_time));
    }
  });

  it("counts each user's jobs on their own, and nobody sees or ends those of others", async () => {
    bench = await startService({ concurrency: 1 });
    const [ada, bob] = [bench.client("ada"), bench.client("bob")];
    const blocking = await submit(ada, waiting(30));
    await running(ada, blocking);
    const numbers = [];
    for (const client of [ada, bob, ada, bob]) numbers.push(record((await client.post("/api/prompt", { prompt: waiting(0) })).body).number);
    expect(numbers).toEqual([2, 1, 3, 2]);
    expect((await bob.get("/api/prompt")).body).toEqual({ exec_info: { queue_remaining: 2 } });
    const bobs = record((await bob.get("/api/queue")).body);
    expect([list(bobs.queue_running).length, list(bobs.queue_pending).map((item) => item[0])]).toEqual([0, [1, 2]]);

    expect((await bob.post("/api/queue", { delete: [blocking] })).body).toEqual({ deleted: [], cleared: false });
    await bob.post("/api/interrupt");
    expect((await bob.post("/api/interrupt", { prompt_id: blocking })).status).toBe(404);
    expect((await bob.post(`/api/jobs/${blocking}/cancel`)).status).toBe(404);
    expect((await bob.post("/api/jobs/cancel", { job_ids: [blocking] })).status).toBe(404);
    await bob.post("/api/history", { delete: [blocking], clear: true });
    expect((await detail(ada, blocking)).status).toBe("in_progress");
    expect(record((await bob.post("/api/queue", { clear: true })).body).deleted).toHaveLength(2);
    expect(record((await ada.post("/api/queue", { clear: true })).body).deleted).toHaveLength(2);
    expect((await detail(ada, blocking)).status).toBe("in_progress");
    await ada.post("/api/interrupt");
  });

  it("clears a long queue in pieces, and the slot is free for what comes next", async () => {
    bench = await startService({ concurrency: 1 });
    const client = bench.client();
    const blocking = await submit(client, waiting(3600));
    await running(client, blocking);
    const ids = await Promise.all(Array.from({ length: 1200 }, () => submit(client, waiting(3600))));
    const receipt = record((await client.post("/api/queue", { clear: true })).body);
    expect(receipt.cleared).toBe(true);
    expect([...(Array.isArray(receipt.deleted) ? receipt.deleted : [])].sort()).toEqual([...ids].sort());
    expect(record((await client.get("/api/queue")).body).queue_pending).toEqual([]);
    // They have all ended now, and are removed from the history in parts as well; the running job is not part of it.
    expect((await client.post("/api/history", { delete: ids.slice(0, 300) })).body).toMatchObject({
      message: "300 removed from the history.",
    });
    expect((await client.post("/api/history", { clear: true })).body).toEqual({
      code: "OK",
      message: "The history was cleared: 900 removed.",
    });
    expect(list(record((await client.get("/api/jobs")).body).jobs).map((job) => job.id)).toEqual([blocking]);
    await client.post("/api/interrupt");
    expect((await ended(client, await submit(client, waiting(0)))).status).toBe("completed");
  });
});
