// The process is killed with SIGKILL while it takes submissions and uploads and runs jobs; then it starts again on the same folder.
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { blake3 } from "@napi-rs/blake-hash";
import Sqlite from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Client } from "../support/service";
import { httpClient, serviceCommand, startServiceProcess } from "../support/service-process";
import { until } from "../support/until";

const ROUNDS = 6;

type Acknowledged = { jobs: Set<string>; assets: Map<string, string> };

describe("kill -9", () => {
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "lightdesk-kill-"));
  });
  afterAll(() => rm(dataDir, { recursive: true, force: true }));

  it("loses no acknowledged job and no acknowledged asset, finishes nothing twice, and leaves no stray file", async () => {
    const key = await serviceCommand(dataDir, "keys", "create", "--user", "ada");
    const known: Acknowledged = { jobs: new Set(), assets: new Map() };

    for (let round = 0; round < ROUNDS; round += 1) {
      const service = await startServiceProcess(dataDir);
      const client = httpClient(service.url, key);
      // Each round dies at another moment of the same load.
      const load = Promise.all([submitting(client, known, round), uploading(client, known, round)]);
      const enough = known.jobs.size + 8 + round * 3;
      await until("some jobs are acknowledged", () => known.jobs.size >= enough);
      await service.stop("SIGKILL");
      await load;
    }

    const service = await startServiceProcess(dataDir);
    const client = httpClient(service.url, key);
    await until("everything has ended", async () => totalOf(await client.get("/api/jobs?status=pending,in_progress&limit=1")) === 0);
    const completed = new Set(idsOf(await client.get("/api/jobs?status=completed&limit=1000"), "jobs"));
    const lost = [...known.jobs].filter((id) => !completed.has(id));
    // A job that three kills in a row caught while it ran is given up, and says so.
    for (const id of lost) expect(JSON.stringify((await client.get(`/api/jobs/${id}`)).body)).toContain("WorkerLost");
    expect(known.jobs.size).toBeGreaterThan(ROUNDS * 8);

    for (const [id, text] of known.assets) expect((await client.get(`/api/assets/${id}/content`)).text).toBe(text);
    expect(known.assets.size).toBeGreaterThan(0);
    expect(await service.stop()).toBe(0);

    const database = new Sqlite(join(dataDir, "service", "service.sqlite"), { readonly: true });
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
    const twice = database
      .prepare(
        "SELECT prompt_id FROM assets WHERE prompt_id IS NOT NULL GROUP BY prompt_id, node_id, output_key, output_index HAVING count(*) > 1",
      )
      .all();
    expect(twice).toEqual([]);
    const named = new Set(database.prepare<[], string>("SELECT hash FROM blobs").pluck().all());
    database.close();

    expect(await readdir(join(dataDir, "service", "tmp"))).toEqual([]);
    const blobs = join(dataDir, "service", "blobs", "blake3-v1");
    const stored = (
      await Promise.all((await readdir(blobs)).map(async (shard) => (await readdir(join(blobs, shard))).map((rest) => shard + rest)))
    ).flat();
    expect(stored.filter((hash) => !named.has(hash))).toEqual([]);
    expect([...named].filter((hash) => !stored.includes(hash))).toEqual([]);
  }, 60_000);
});

/** Until the line is cut: what was answered counts as acknowledged. */
async function submitting(client: Client, known: Acknowledged, round: number): Promise<void> {
  await untilCut(async (n) => {
    const prompt = {
      "1": { class_type: "EmptyImage", inputs: { width: 16, height: 16, batch_size: 1, color: round * 1000 + n } },
      "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "kill" } },
    };
    const answer = await client.post("/api/prompt", { prompt });
    const [id] = idsOf({ body: { jobs: [{ id: field(answer.body, "prompt_id") }] } }, "jobs");
    if (answer.status === 200 && id) known.jobs.add(id);
  });
}

async function uploading(client: Client, known: Acknowledged, round: number): Promise<void> {
  await untilCut(async (n) => {
    const text = `round ${round} number ${n} `.repeat(5000);
    const answer = await client.upload(text, `${round}-${n}.txt`);
    const id = field(answer.body, "id");
    if (answer.status !== 201 || typeof id !== "string") return;
    expect(field(answer.body, "asset_hash")).toBe(`blake3:${Buffer.from(blake3(text)).toString("hex")}`);
    known.assets.set(id, text);
  });
}

async function untilCut(step: (n: number) => Promise<void>): Promise<void> {
  for (let n = 0; ; n += 1) {
    try {
      await step(n);
    } catch (error) {
      if (error instanceof TypeError) return; // fetch's word for a connection that broke
      throw error;
    }
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined;
}

function idsOf(answer: { body: unknown }, name: string): string[] {
  const items = field(answer.body, name);
  return Array.isArray(items) ? items.map((item: unknown) => field(item, "id")).filter((id): id is string => typeof id === "string") : [];
}

function totalOf(answer: { body: unknown }): unknown {
  return field(field(answer.body, "pagination"), "total");
}
