import { readdir, truncate } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type Behaviour, createPattern } from "@/tests/support/file-source";
import { startFileSource } from "@/tests/support/servers";
import { startService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { download, getContent, getHash, startDownload, waitForBytes, waitForOutcome } from "./downloads-support";
import { asRecord, asString } from "./support";

const SIZE = 300_000;

describe("an interrupted download", async () => {
  const source = await startFileSource(createPattern(10));
  const service = await startService({ downloadHosts: [source.url], requestTimeoutMs: 1000 });
  const client = service.client();
  afterEach(() => {
    expect(service.loggedErrors).toEqual([]);
  });

  let seed = 0;
  /** Resets the source and serves a new file at a new URL. */
  function serveSource(behaviour: Partial<Behaviour> = {}): { url: string; bytes: Buffer } {
    seed += 1;
    const bytes = createPattern(SIZE, seed);
    source.responses.length = 0;
    const validators = { etag: `"${seed}"`, lastModified: undefined, contentRange: undefined };
    const faults = { holdAfter: undefined, drip: undefined, hasRanges: true, hasLength: true, headers: {}, cuts: [], busy: [] };
    Object.assign(source.behaviour, validators, faults, { bytes }, behaviour);
    return { url: `${source.url}/file-${seed}.bin`, bytes };
  }
  const downloadHash = async (url: string) => asRecord((await download(client, url)).result).hash;
  const getStatuses = () => source.responses.map(({ status }) => status);

  it("resumes repeatedly, but only while the file is unchanged", async () => {
    const { url, bytes } = serveSource({ cuts: [100_000, 50_000, 20_000] });
    const task = await download(client, url);
    expect(task).toMatchObject({ status: "completed", bytes_total: SIZE, bytes_downloaded: SIZE, progress: 1 });
    expect(asRecord(task.result)).toMatchObject({ success: true, hash: getHash(bytes), bytes_downloaded: SIZE });
    expect((await getContent(client, task)).equals(bytes)).toBe(true);
    expect(source.responses.map(({ start, ifRange }) => [start, ifRange])).toEqual([
      [0, undefined],
      [100_000, `"${seed}"`],
      [150_000, `"${seed}"`],
      [170_000, `"${seed}"`],
    ]);
    expect(source.countSentBytes()).toBe(SIZE);
  });

  it("resumes by Last-Modified when the ETag is weak", async () => {
    const lastModified = "Wed, 21 Oct 2015 07:28:00 GMT";
    const { url, bytes } = serveSource({ cuts: [100_000], etag: 'W/"1"', lastModified });
    expect(await downloadHash(url)).toBe(getHash(bytes));
    expect(source.responses[1]).toMatchObject({ start: 100_000, ifRange: lastModified });
  });

  it("restarts at zero when the source doesn't support ranges", async () => {
    const { url, bytes } = serveSource({ cuts: [200_000], hasRanges: false });
    expect(await downloadHash(url)).toBe(getHash(bytes));
    expect(getStatuses()).toEqual([200, 200]);
  });

  it.each([
    ["supports If-Range", { etag: '"other"' }, SIZE + 7, [200, 200]],
    ["ignores If-Range", { headers: { etag: '"other"' } }, SIZE, [200, 206, 200]],
  ])("restarts at zero when the file changed and the source %s", async (_name, behaviour, size, statuses) => {
    const { url } = serveSource({ cuts: [100_000] });
    const newBytes = createPattern(size, 1000);
    const path = await startDownload(client, url);
    await until("the first bytes were sent", () => source.responses[0]?.sent === 100_000);
    Object.assign(source.behaviour, { bytes: newBytes, ...behaviour });
    const task = await waitForOutcome(client, path);
    expect(asRecord(task.result)).toMatchObject({ hash: getHash(newBytes), bytes_downloaded: size });
    expect(source.responses[1]).toMatchObject({ ifRange: `"${seed}"` });
    expect(getStatuses()).toEqual(statuses);
  });

  it.each(["bytes 5-9/300000", "bytes 100000-299999/999999", "nonsense"])(
    "rejects a response with an unexpected range (%s)",
    async (contentRange) => {
      const { url, bytes } = serveSource({ cuts: [100_000], contentRange });
      const task = await download(client, url);
      expect((await getContent(client, task)).equals(bytes)).toBe(true);
      expect(getStatuses()).toEqual([200, 206, 200]);
    },
  );

  it("restarts at zero when the source sends no validator", async () => {
    const { url, bytes } = serveSource({ cuts: [100_000], etag: undefined });
    expect(await downloadHash(url)).toBe(getHash(bytes));
    expect(source.responses.map(({ start, status }) => [start, status])).toEqual([[0, 200], [0, 200]]); // prettier-ignore
  });

  it("resumes when a source stalls in the middle", async () => {
    const { url, bytes } = serveSource({ holdAfter: 120_000 });
    const path = await startDownload(client, url);
    await waitForBytes(client, path, 120_000);
    source.behaviour.holdAfter = undefined;
    expect(asRecord((await waitForOutcome(client, path)).result).hash).toBe(getHash(bytes));
    expect(source.responses[1]).toMatchObject({ start: 120_000 });
  });

  it("fails when the source always ends early, and keeps no file", async () => {
    const { url } = serveSource({ cuts: [1000, 1000, 1000, 1000, 1000, 1000], hasRanges: false });
    const task = await download(client, url);
    expect(task).toMatchObject({ status: "failed", error_message: expect.stringContaining("before the file was complete") });
    expect(await readdir(join(service.folder, "downloads"))).toEqual([]);
  });

  it("fails when the source sends too slowly", async () => {
    const { url } = serveSource({ drip: { bytes: 1, everyMs: 20 } });
    const path = await startDownload(client, url);
    expect(await waitForOutcome(client, path)).toMatchObject({ status: "failed", error_message: "The source sends too slowly." });
  });

  it("retries when the source reports that it is busy", async () => {
    const { url, bytes } = serveSource({ busy: [503, 429] });
    expect(await downloadHash(url)).toBe(getHash(bytes));
    expect(source.responses).toHaveLength(1);
  });

  it("refetches nothing when all bytes arrived before a restart", async () => {
    const { url, bytes } = serveSource({ hasLength: false, holdAfter: SIZE });
    const path = await startDownload(client, url);
    await waitForBytes(client, path, SIZE);
    await service.service.stop();
    await service.service.start();
    expect(asRecord((await waitForOutcome(client, path)).result).hash).toBe(getHash(bytes));
    expect(getStatuses()).toEqual([200, 416]);
  });

  it("restarts at zero when the disk lost the partial file", async () => {
    const { url, bytes } = serveSource({ holdAfter: 130_000 });
    const path = await startDownload(client, url);
    await waitForBytes(client, path, 130_000);
    await service.service.stop();
    await truncate(join(service.folder, "downloads", asString(path.split("/").at(-1))), 1000);
    source.behaviour.holdAfter = undefined;
    await service.service.start();
    expect(asRecord((await waitForOutcome(client, path)).result).hash).toBe(getHash(bytes));
    expect(getStatuses()).toEqual([200, 200]);
  });
});
