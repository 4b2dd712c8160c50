// The stand-alone service is killed in the middle of downloads and restarted on the same folder; the source counts the bytes it sent.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { blake3 } from "@napi-rs/blake-hash";
import { describe, expect, it } from "vitest";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { startFileSource } from "@/tests/support/servers";
import { temporaryFolder } from "@/tests/support/temporary-folder";
import { createPattern } from "../support/file-source";
import { createKey, httpClient, type ServiceProcess, startServiceProcess } from "../support/service-process";
import { until } from "../support/until";

const SIZE = 6_000_000;
const KILLS = 4;

type Task = { status: string; bytes_downloaded: number; result?: { hash?: string; asset_id?: string }; completed_at?: string };

describe("a download in a killed process", async () => {
  const dataDir = temporaryFolder();
  const key = await createKey(dataDir, "ada");
  const source = await startFileSource(createPattern(SIZE), { etag: '"one"', drip: { bytes: 32 * 1024, everyMs: 10 } });

  const start = () => startServiceProcess(dataDir, { LIGHTDESK_DOWNLOAD_HOSTS: source.url });
  async function begin({ url }: ServiceProcess, name: string): Promise<string> {
    const { body } = await httpClient(url, key).post("/api/assets/download", { source_url: `${source.url}/${name}` });
    return (body as { task_id: string }).task_id;
  }
  const read = async ({ url }: ServiceProcess, id: string) => (await httpClient(url, key).get(`/api/tasks/${id}`)).body as Task;
  async function reached(service: ServiceProcess, id: string, bytes: number): Promise<number> {
    return until(`${bytes} bytes have come`, async () => {
      const { bytes_downloaded: count } = await read(service, id);
      return count >= bytes && count;
    });
  }
  const ended = (service: ServiceProcess, id: string) =>
    until("the download has ended", async () => {
      const task = await read(service, id);
      return task.completed_at !== undefined && task;
    });
  const partials = () => readdir(join(dataDir, "service", "downloads"));

  it("resumes after repeated kill -9 from the reported progress, byte for byte", async () => {
    let service = await start();
    const id = await begin(service, "killed.bin");
    let reportedBytes = 0;
    for (let kill = 1; kill <= KILLS; kill += 1) {
      reportedBytes = await reached(service, id, Math.max(reportedBytes + 1, (SIZE / (KILLS + 2)) * kill));
      await service.stop("SIGKILL");
      expect(await partials()).toEqual([id]);
      const requestCount = source.responses.length;
      service = await start();
      const retryResponse = await until("it is asked for again", () => source.responses[requestCount]);
      expect(retryResponse).toMatchObject({ status: 206, ifRange: '"one"' });
      expect(retryResponse.start).toBeGreaterThanOrEqual(reportedBytes);
    }
    const task = await ended(service, id);
    expect(task).toMatchObject({ status: "completed", bytes_downloaded: SIZE });
    expect(task.result?.hash).toBe(`blake3:${Buffer.from(blake3(source.behaviour.bytes)).toString("hex")}`);
    const content = await httpClient(service.url, key).raw("GET", `/api/assets/${task.result?.asset_id}/content`);
    expect(Buffer.from(await content.arrayBuffer()).equals(source.behaviour.bytes)).toBe(true);
    // A kill wastes only what was in transit, a small part of the file; starting over each time would have cost several files.
    expect(source.sent()).toBeLessThan(SIZE * 1.5);
    await until("the part is gone", async () => (await partials()).length === 0);
    expect(await service.stop()).toBe(0);

    const database = new SqliteConnection(join(dataDir, "service", "service.sqlite"), { readOnly: true });
    expect(database.pragma("integrity_check")).toBe("ok");
    expect(database.prepare("SELECT count(*) FROM assets WHERE name = 'killed.bin'").pluck().get()).toBe(1);
    database.close();
  });

  it("resumes after SIGTERM, keeps the order and refetches a changed file", async () => {
    source.responses.length = 0;
    source.behaviour.bytes = createPattern(SIZE, 2);
    const first = await start();
    const ids = [await begin(first, "a.bin"), await begin(first, "b.bin"), await begin(first, "c.bin")] as const;
    const reportedBytes = await reached(first, ids[0], 1_000_000);
    expect((await read(first, ids[2])).status).toBe("created");
    expect(await first.stop("SIGTERM")).toBe(0);
    Object.assign(source.behaviour, { drip: undefined });

    const requestCount = source.responses.length;
    const second = await start();
    const results = [];
    for (const id of ids) results.push((await ended(second, id)).result?.hash);
    const hash = `blake3:${Buffer.from(blake3(source.behaviour.bytes)).toString("hex")}`;
    expect(results).toEqual([hash, hash, hash]);
    expect(source.responses.slice(requestCount).map(({ status }) => status)).toEqual([206, 206, 200]);
    expect(Math.max(...source.responses.slice(requestCount, requestCount + 2).map(({ start: from }) => from))).toBeGreaterThanOrEqual(
      reportedBytes,
    );

    Object.assign(source.behaviour, { holdAfter: 2_000_000 });
    const changing = await begin(second, "changing.bin");
    await reached(second, changing, 2_000_000);
    await second.stop("SIGKILL");
    Object.assign(source.behaviour, { holdAfter: undefined, bytes: createPattern(SIZE, 3), etag: '"two"' });
    const third = await start();
    expect((await ended(third, changing)).result?.hash).toBe(`blake3:${Buffer.from(blake3(source.behaviour.bytes)).toString("hex")}`);
    await until("the part is gone", async () => (await partials()).length === 0);
    await third.stop();
  });
});
