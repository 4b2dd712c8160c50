// The disk of the database is full: writes are refused with a sentence that says who has to free room, reads work, and it recovers by itself.
import { randomBytes } from "node:crypto";
import { expect, inject, it } from "vitest";
import { canMount, makeMounted } from "@/tests/faults/disk/small-disk";
import { canvas, ended, running, submit, waiting } from "@/tests/integration/service/support";
import { ask, createDatabase, startPostgres } from "@/tests/support/postgres-server";
import { startService } from "@/tests/support/service";
import { until } from "@/tests/support/until";

type FullDisk = { url: string; fill(): Promise<void>; free(): Promise<void>; dispose(): Promise<void> };

/** Makes the server refuse writes with its own error code, without filling its disk. */
async function byWord(): Promise<FullDisk> {
  const own = await createDatabase(inject("postgres"));
  const refuse = `CREATE FUNCTION lightdesk_service.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;`;
  const on = "CREATE TRIGGER refuse BEFORE INSERT ON lightdesk_service.job_inputs EXECUTE FUNCTION lightdesk_service.refuse()";
  return {
    url: own.url,
    fill: async () => void (await ask(own.url, refuse + on)),
    free: async () => void (await ask(own.url, "DROP FUNCTION lightdesk_service.refuse() CASCADE")),
    dispose: own.drop,
  };
}

async function byDisk(): Promise<FullDisk> {
  const disk = makeMounted(160);
  const server = await startPostgres({ below: disk.path });
  const own = await createDatabase(server.url);
  return {
    url: own.url,
    fill: () => Promise.resolve(disk.fill()),
    free: () => Promise.resolve(disk.free()),
    async dispose() {
      await server.remove();
      disk.dispose();
    },
  };
}

it.each([["by the server's word", byWord] as const, ...(canMount ? ([["by a small disk", byDisk]] as const) : [])])(
  "refuses what cannot be kept with 507 where it is full %s, cancels what runs and waits, and goes on when there is room",
  async (_, make) => {
    const disk = await make();
    const bench = await startService({ databaseUrl: disk.url, concurrency: 1 });
    const client = bench.client();
    const before = await submit(client, canvas());
    await ended(client, before);
    const stored = (await client.upload("some words", "note.txt")).body as { id: string };
    const runs = await submit(client, waiting(3600));
    await running(client, runs);
    const waits = await submit(client, canvas(2));
    await disk.fill();
    const note = () => ({ prompt: canvas(), extra_data: { note: randomBytes(150_000).toString("base64") } });
    // Free space inside the tables may still take some rows.
    const refused = await until("a submission is refused", async () => {
      const answer = await client.post("/api/prompt", note());
      return answer.status !== 200 && answer;
    });
    expect([refused.status, refused.body]).toEqual([507, expect.objectContaining({ code: "INSUFFICIENT_STORAGE" })]);
    expect(refused.text).toMatch(/disk .* is full\. Nothing of this request was kept\. Whoever runs the service must free space/);
    for (const path of [`/api/jobs/${before}`, "/api/jobs", "/api/assets", "/api/queue"])
      expect([path, (await client.get(path)).status]).toEqual([path, 200]);
    // Deleting and cancelling take hardly any room.
    expect((await client.call("DELETE", `/api/assets/${stored.id}`)).status).toBe(204);
    for (const id of [waits, runs]) {
      expect((await client.post(`/api/jobs/${id}/cancel`)).status).toBe(200);
      expect((await ended(client, id)).status).toBe("cancelled");
    }
    await disk.free();
    const id = await until("a submission is taken", async () => {
      const answer = await client.post("/api/prompt", note());
      return answer.status === 200 && (answer.body as { prompt_id: string }).prompt_id;
    });
    expect(await ended(client, id)).toMatchObject({ status: "completed" });
    await bench.dispose();
    await disk.dispose();
  },
);
