// Kills the stand-alone service during downloads and restarts it on the same folder. The source counts the bytes it sent.
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { startFileSource } from "@/tests/support/servers";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { getContent, getHash, readTask, startDownload, waitForBytes, waitForOutcome } from "../integration/service/downloads-support";
import { asRecord } from "../integration/service/support";
import { createPattern } from "../support/file-source";
import { type Client } from "../support/service";
import { createHttpClient, createKey, startServiceProcess } from "../support/service-process";
import { until } from "../support/until";

const FILE_BYTES = 6_000_000;
const KILL_COUNT = 2;

describe("a download in a killed process", async () => {
  const dataDir = createTemporaryFolder();
  const key = await createKey(dataDir, "ada");
  const source = await startFileSource(createPattern(FILE_BYTES), { etag: '"one"', drip: { bytes: 32 * 1024, everyMs: 10 } });

  async function start() {
    const service = await startServiceProcess(dataDir, { LIGHTDESK_DOWNLOAD_HOSTS: source.url });
    return { ...service, client: createHttpClient(service.url, key) };
  }
  const listPartialFiles = () => readdir(join(dataDir, "service", "downloads"));
  const waitForHash = async (client: Client, path: string) => asRecord((await waitForOutcome(client, path)).result).hash;

  it("resumes byte for byte from the reported progress after repeated kill -9", async () => {
    let service = await start();
    const path = await startDownload(service.client, `${source.url}/killed.bin`);
    let reportedBytes = 0;
    for (let kill = 1; kill <= KILL_COUNT; kill += 1) {
      const expectedBytes = Math.max(reportedBytes + 1, (FILE_BYTES / (KILL_COUNT + 2)) * kill);
      reportedBytes = Number((await waitForBytes(service.client, path, expectedBytes)).bytes_downloaded);
      await service.stop("SIGKILL");
      expect(await listPartialFiles()).toEqual([basename(path)]);
      const requestCount = source.responses.length;
      service = await start();
      const retryResponse = await until("the file is requested again", () => source.responses[requestCount]);
      expect(retryResponse).toMatchObject({ status: 206, ifRange: '"one"' });
      expect(retryResponse.start).toBeGreaterThanOrEqual(reportedBytes);
    }
    const task = await waitForOutcome(service.client, path);
    expect(task).toMatchObject({ status: "completed", bytes_downloaded: FILE_BYTES, result: { hash: getHash(source.behaviour.bytes) } });
    expect((await getContent(service.client, task)).equals(source.behaviour.bytes)).toBe(true);
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
    const startNamed = (name: string) => startDownload(first.client, `${source.url}/${name}`);
    const paths = [await startNamed("a.bin"), await startNamed("b.bin"), await startNamed("c.bin")] as const;
    const { bytes_downloaded: reportedBytes } = await waitForBytes(first.client, paths[0], 1_000_000);
    expect((await readTask(first.client, paths[2])).status).toBe("created");
    expect(await first.stop("SIGTERM")).toBe(0);
    Object.assign(source.behaviour, { drip: undefined });

    const requestCount = source.responses.length;
    const second = await start();
    for (const path of paths) expect(await waitForHash(second.client, path)).toBe(getHash(source.behaviour.bytes));
    expect(source.responses.slice(requestCount).map(({ status }) => status)).toEqual([206, 206, 200]);
    const resumedAt = Math.max(...source.responses.slice(requestCount, requestCount + 2).map(({ start }) => start));
    expect(resumedAt).toBeGreaterThanOrEqual(Number(reportedBytes));

    Object.assign(source.behaviour, { holdAfter: 2_000_000 });
    const changing = await startDownload(second.client, `${source.url}/changing.bin`);
    await waitForBytes(second.client, changing, 2_000_000);
    await second.stop("SIGKILL");
    Object.assign(source.behaviour, { holdAfter: undefined, bytes: createPattern(FILE_BYTES, 3), etag: '"two"' });
    const third = await start();
    expect(await waitForHash(third.client, changing)).toBe(getHash(source.behaviour.bytes));
    await until("the partial file is deleted", async () => (await listPartialFiles()).length === 0);
    await third.stop();
  });
});
