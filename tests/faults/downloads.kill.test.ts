// Kills the stand-alone service during downloads and restarts it on the same folder. The source counts the bytes it sent.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { blake3 } from "@napi-rs/blake-hash";
import { describe, expect, it } from "vitest";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { startFileSource } from "@/tests/support/servers";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { createPattern } from "../support/file-source";
import { createHttpClient, createKey, type ServiceProcess, startServiceProcess } from "../support/service-process";
import { until } from "../support/until";

const FILE_BYTES = 6_000_000;
const KILL_COUNT = 4;

type Task = { status: string; bytes_downloaded: number; result?: { hash?: string; asset_id?: string }; completed_at?: string };

describe("a download in a killed process", async () => {
  const dataDir = createTemporaryFolder();
  const key = await createKey(dataDir, "ada");
  const source = await startFileSource(createPattern(FILE_BYTES), { etag: '"one"', drip: { bytes: 32 * 1024, everyMs: 10 } });

  const start = () => startServiceProcess(dataDir, { LIGHTDESK_DOWNLOAD_HOSTS: source.url });
  async function startDownload({ url }: ServiceProcess, name: string): Promise<string> {
    const { body } = await createHttpClient(url, key).post("/api/assets/download", { source_url: `${source.url}/${name}` });
    return (body as { task_id: string }).task_id;
  }
  const readTask = async ({ url }: ServiceProcess, id: string) => (await createHttpClient(url, key).get(`/api/tasks/${id}`)).body as Task;
  async function waitForBytes(service: ServiceProcess, id: string, bytes: number): Promise<number> {
    return until(`${bytes} bytes have arrived`, async () => {
      const { bytes_downloaded: count } = await readTask(service, id);
      return count >= bytes && count;
    });
  }
  const waitForEnd = (service: ServiceProcess, id: string) =>
    until("the download has ended", async () => {
      const task = await readTask(service, id);
      return task.completed_at !== undefined && task;
    });
  const listPartialFiles = () => readdir(join(dataDir, "service", "downloads"));

  it("resumes byte for byte from the reported progress after repeated kill -9", async () => {
    let service = await start();
    const id = await startDownload(service, "killed.bin");
    let reportedBytes = 0;
    for (let kill = 1; kill <= KILL_COUNT; kill += 1) {
      reportedBytes = await waitForBytes(service, id, Math.max(reportedBytes + 1, (FILE_BYTES / (KILL_COUNT + 2)) * kill));
      await service.stop("SIGKILL");
      expect(await listPartialFiles()).toEqual([id]);
      const requestCount = source.responses.length;
      service = await start();
      const retryResponse = await until("the file is requested again", () => source.responses[requestCount]);
      expect(retryResponse).toMatchObject({ status: 206, ifRange: '"one"' });
      expect(retryResponse.start).toBeGreaterThanOrEqual(reportedBytes);
    }
    const task = await waitForEnd(service, id);
    expect(task).toMatchObject({ status: "completed", bytes_downloaded: FILE_BYTES });
    expect(task.result?.hash).toBe(`blake3:${Buffer.from(blake3(source.behaviour.bytes)).toString("hex")}`);
    const content = await createHttpClient(service.url, key).raw("GET", `/api/assets/${task.result?.asset_id}/content`);
    expect(Buffer.from(await content.arrayBuffer()).equals(source.behaviour.bytes)).toBe(true);
    // A kill wastes only the bytes in transit. Starting over each time would have sent several files.
    expect(source.countSentBytes()).toBeLessThan(FILE_BYTES * 1.5);
    await until("the partial file is deleted", async () => (await listPartialFiles()).length === 0);
    expect(await service.stop()).toBe(0);

    const database = new SqliteConnection(join(dataDir, "service", "service.sqlite"), { readOnly: true });
    expect(database.pragma("integrity_check")).toBe("ok");
    expect(database.prepare("SELECT count(*) FROM assets WHERE name = 'killed.bin'").pluck().get()).toBe(1);
    database.close();
  });

  it("resumes after SIGTERM, keeps the order and refetches a changed file", async () => {
    source.responses.length = 0;
    source.behaviour.bytes = createPattern(FILE_BYTES, 2);
    const first = await start();
    const ids = [await startDownload(first, "a.bin"), await startDownload(first, "b.bin"), await startDownload(first, "c.bin")] as const;
    const reportedBytes = await waitForBytes(first, ids[0], 1_000_000);
    expect((await readTask(first, ids[2])).status).toBe("created");
    expect(await first.stop("SIGTERM")).toBe(0);
    Object.assign(source.behaviour, { drip: undefined });

    const requestCount = source.responses.length;
    const second = await start();
    const results = [];
    for (const id of ids) results.push((await waitForEnd(second, id)).result?.hash);
    const hash = `blake3:${Buffer.from(blake3(source.behaviour.bytes)).toString("hex")}`;
    expect(results).toEqual([hash, hash, hash]);
    expect(source.responses.slice(requestCount).map(({ status }) => status)).toEqual([206, 206, 200]);
    expect(Math.max(...source.responses.slice(requestCount, requestCount + 2).map(({ start }) => start))).toBeGreaterThanOrEqual(
      reportedBytes,
    );

    Object.assign(source.behaviour, { holdAfter: 2_000_000 });
    const changing = await startDownload(second, "changing.bin");
    await waitForBytes(second, changing, 2_000_000);
    await second.stop("SIGKILL");
    Object.assign(source.behaviour, { holdAfter: undefined, bytes: createPattern(FILE_BYTES, 3), etag: '"two"' });
    const third = await start();
    expect((await waitForEnd(third, changing)).result?.hash).toBe(`blake3:${Buffer.from(blake3(source.behaviour.bytes)).toString("hex")}`);
    await until("the partial file is deleted", async () => (await listPartialFiles()).length === 0);
    await third.stop();
  });
});
