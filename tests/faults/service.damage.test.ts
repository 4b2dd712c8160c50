// Rows, pages and blobs that are damaged by the disk or by hand. Damage is reported and affects nothing else.
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { createColorGraph, createWaitGraph, readJob, submitGraph } from "../integration/service/support";
import { type Client, startService, type TestService } from "../support/service";
import { until } from "../support/until";

const waitForState = (client: Client, id: string, state = "completed") =>
  until(`${id} is ${state}`, async () => (await readJob(client, id)).status === state);

function changeRow(service: TestService, sql: string, ...values: unknown[]): void {
  const database = new SqliteConnection(join(service.folder, "service.sqlite"));
  expect(database.prepare(sql).run(...values).changes).toBeGreaterThan(0);
  database.close();
}

const damagedJob = { status: 500, body: { code: "INTERNAL", message: expect.stringMatching(/damaged.*The operator/) } };

describe("a damaged row", async () => {
  const service = await startService();
  const client = service.client();

  it.each([
    ["jobs", "preview"],
    ["job_inputs", "extra_data"],
    ["job_inputs", "prompt"],
    ["job_results", "outputs"],
    ["job_results", "messages"],
    ["job_results", "meta"],
  ])("reports %s.%s in the job's details and keeps lists working", async (table, column) => {
    service.loggedErrors.length = 0;
    const [intactId, damagedId] = [await submitGraph(client, createColorGraph(1)), await submitGraph(client, createColorGraph(2))];
    await waitForState(client, intactId);
    await waitForState(client, damagedId);
    const key = table === "jobs" ? "seq" : "job_seq";
    changeRow(service, `UPDATE ${table} SET ${column} = '{"cut' WHERE ${key} = (SELECT seq FROM jobs WHERE id = ?)`, damagedId);

    expect(await client.get(`/api/jobs/${damagedId}`)).toMatchObject(damagedJob);
    expect(JSON.stringify(service.loggedErrors)).toContain("request failed");
    expect((await readJob(client, intactId)).status).toBe("completed");
    expect((await client.get(`/api/job/${damagedId}/status`)).status).toBe(200);
    for (const path of ["/api/jobs", "/api/history_v2?max_items=10", "/api/queue"]) expect((await client.get(path)).status, path).toBe(200);
    expect(JSON.stringify((await client.get("/api/jobs")).body)).toContain(damagedId);
    expect((await client.post("/api/history", { delete: [damagedId] })).status).toBe(200);
    expect((await client.get(`/api/jobs/${damagedId}`)).status).toBe(404);
  });

  it("fails only its own waiting job", async () => {
    const service = await startService({ concurrency: 1 });
    const client = service.client();
    const first = await submitGraph(client, createWaitGraph(3000));
    const [bad, next] = [await submitGraph(client, createColorGraph(2)), await submitGraph(client, createColorGraph(3))];
    changeRow(service, "UPDATE job_inputs SET prompt = '{\"cut' WHERE job_seq = (SELECT seq FROM jobs WHERE id = ?)", bad);
    expect((await client.get("/api/queue")).status).toBe(200);
    await waitForState(client, first, "in_progress");
    await client.post("/api/interrupt", {});
    await waitForState(client, next);
    const { jobs } = (await client.get("/api/jobs")).body as { jobs: { id: string }[] };
    const failure = {
      status: "failed",
      execution_error: { exception_type: "DamagedJob", exception_message: expect.stringContaining("Submit it again") },
    };
    expect(jobs.find((job) => job.id === bad)).toMatchObject(failure);
  });

  it("keeps lists, filters and bytes readable when metadata is damaged", async () => {
    const damagedAsset = (await client.upload("bad", "bad.txt", { user_metadata: JSON.stringify({ kind: "a" }) })).body as { id: string };
    const intactAsset = (await client.upload("good", "good.txt", { user_metadata: JSON.stringify({ kind: "a" }) })).body as { id: string };
    changeRow(service, "UPDATE assets SET metadata = '{\"cut' WHERE id = ?", damagedAsset.id);
    const filter = encodeURIComponent(JSON.stringify({ kind: "a" }));
    for (const path of ["/api/assets", `/api/assets?metadata_filter=${filter}`, `/api/assets/tags/refine?metadata_filter=${filter}`])
      expect((await client.get(path)).status, path).toBe(200);
    expect(JSON.stringify((await client.get(`/api/assets?metadata_filter=${filter}`)).body)).toContain(intactAsset.id);
    expect((await client.get(`/api/assets/${damagedAsset.id}/content`)).text).toBe("bad");
    expect((await client.call("PUT", `/api/assets/${damagedAsset.id}`, { user_metadata: { kind: "b" } })).status).toBe(200);
    expect((await client.get(`/api/assets/${damagedAsset.id}`)).body).toMatchObject({ user_metadata: { kind: "b" } });
  });
});

describe("a damaged database", () => {
  /** Overwrites the table's first page, as a failing disk might. */
  function corruptTable(file: string, table: string): void {
    const database = new SqliteConnection(file);
    database.pragma("wal_checkpoint(TRUNCATE)");
    const page = database.prepare<[string], number>("SELECT rootpage FROM sqlite_master WHERE name = ?").pluck().get(table) ?? 0;
    const size = Number(database.pragma("page_size"));
    database.close();
    const bytes = readFileSync(file);
    bytes.fill(0xff, (page - 1) * size, page * size);
    writeFileSync(file, bytes);
  }

  it("returns 503 with a remedy only where data is damaged", async () => {
    const service = await startService();
    const client = service.client();
    const id = await submitGraph(client, createColorGraph());
    await waitForState(client, id);
    await service.service.stop();
    corruptTable(join(service.folder, "service.sqlite"), "job_results");
    await service.service.start();
    const failure = { status: 503, body: { code: "SERVICE_UNAVAILABLE", message: expect.stringMatching(/database is damaged.*backup/) } };
    expect(await client.get(`/api/jobs/${id}`)).toMatchObject(failure);
    expect((await client.get("/api/jobs")).status).toBe(200);
    expect((await client.upload("still", "still.txt")).status).toBe(201);
    expect(JSON.stringify(service.loggedErrors)).toContain("SQLITE_CORRUPT");
  });

  it("refuses to start and explains why when its header is overwritten", async () => {
    const service = await startService();
    await service.service.stop();
    writeFileSync(join(service.folder, "service.sqlite"), "no database at all ".repeat(500));
    for (const name of ["-wal", "-shm"]) rmSync(join(service.folder, `service.sqlite${name}`), { force: true });
    await expect(service.service.start()).rejects.toThrow(/data folder .* cannot be used\. The service's database is damaged\. .*backup/);
  });
});

describe("a damaged blob", async () => {
  const service = await startService();
  const client = service.client();
  const getBlobPath = (hash: string) => {
    const digest = hash.replace("blake3:", "");
    return join(service.folder, "blobs", "blake3-v1", digest.slice(0, 2), digest.slice(2));
  };

  it.each([
    ["is missing", (path: string) => rmSync(path)],
    ["was cut short", (path: string) => truncateSync(path, 10)],
    ["was emptied", (path: string) => truncateSync(path, 0)],
  ])("reports a blob that %s, keeps others and repairs it at the next upload", async (condition, damage) => {
    const text = `the very same bytes of one that ${condition} `.repeat(50);
    const { id, asset_hash } = (await client.upload(text, "a.txt")).body as { id: string; asset_hash: string };
    const otherAsset = (await client.upload("other", "b.txt")).body as { id: string };
    damage(getBlobPath(asset_hash));

    for (const path of [`/api/assets/${id}/content`, `/api/view?filename=${encodeURIComponent(asset_hash)}`]) {
      const response = await client.get(path);
      expect(response.status, path).toBeGreaterThanOrEqual(400);
      expect(response.body, path).toMatchObject({ code: expect.any(String), message: expect.stringMatching(/bytes of this file/) });
    }
    expect((await client.get("/api/assets")).status).toBe(200);
    expect((await client.get(`/api/assets/${otherAsset.id}/content`)).text).toBe("other");
    expect(await client.upload(text, "a.txt")).toMatchObject({ status: 200, body: { id } });
    expect((await client.get(`/api/assets/${id}/content`)).text).toBe(text);
  });

  it("replaces changed bytes when the content is uploaded again", async () => {
    const text = "the very same bytes ".repeat(50);
    const { asset_hash } = (await client.upload(text, "a.txt")).body as { asset_hash: string };
    const path = getBlobPath(asset_hash);
    await service.service.stop();
    writeFileSync(path, text.replace("very", "VERY"));
    await service.service.start();
    const bob = service.client("bob");
    const { id } = (await bob.upload(text, "a.txt")).body as { id: string };
    expect((await bob.get(`/api/assets/${id}/content`)).text).toBe(text);
  });

  it("fails a job that loads it and hides the local path", async () => {
    const sample = readFileSync("public/samples/product.png");
    const { name } = (await client.upload(new Uint8Array(sample), "p.png", {}, "image", "/api/upload/image")).body as { name: string };
    rmSync(getBlobPath(name.split(".")[0] ?? ""));
    const prompt = {
      "1": { class_type: "LoadImage", inputs: { image: name } },
      "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "x" } },
    };
    const id = await submitGraph(client, prompt);
    await waitForState(client, id, "failed");
    expect(JSON.stringify(await readJob(client, id))).not.toContain(service.folder);
    await waitForState(client, await submitGraph(client, createColorGraph(9)));
    expect(readdirSync(join(service.folder, "tmp"))).toEqual([]);
  });
});
