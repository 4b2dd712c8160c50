import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { getBlobPath } from "@/lib/service/assets/blob-store";
import { createPattern } from "@/tests/support/file-source";
import { startFileSource } from "@/tests/support/servers";
import { startService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { download, getContent, getHash, readTask, startDownload, waitForOutcome } from "./downloads-support";
import { asRecord, asString, createPng, getRecord, listAssets } from "./support";

describe("POST /api/assets/download", async () => {
  const source = await startFileSource(createPattern(10_000));
  const service = await startService({ downloadHosts: [source.url], downloadsAtOnce: 2 });
  const ada = service.client("ada");
  const eve = service.client("eve");
  afterAll(async () => {
    expect(service.loggedErrors).toEqual([]);
    await service.dispose();
    await source.close();
  });

  let seed = 0;
  /** Serves new bytes at a new URL on each call. */
  function serveModel(name = "model.safetensors", bytes = createPattern(10_000, (seed += 1))): string {
    source.responses.length = 0;
    Object.assign(source.behaviour, { bytes, headers: {}, holdAfter: undefined });
    return `${source.url}/files/${(seed += 1)}/${name}`;
  }

  it("returns 202 with a task and creates the requested asset", async () => {
    const preview = asString(asRecord((await ada.upload(createPng(8, 8), "preview.png")).body).id);
    const url = serveModel("x%20y.safetensors");
    const fields = { tags: ["models", "checkpoints"], user_metadata: { base: { name: "b" } }, preview_id: preview };
    const response = await ada.post("/api/assets/download", { source_url: `${url}#part`, ...fields, unknown: 1 });
    expect(response).toMatchObject({ status: 202, body: { status: "created", message: expect.any(String) as unknown } });
    const id = asString(asRecord(response.body).task_id);
    const task = await waitForOutcome(ada, `/api/tasks/${id}`);
    const { bytes } = source.behaviour;
    expect(task).toMatchObject({
      id,
      idempotency_key: id,
      task_name: "task:download_file",
      payload: { source_url: url, ...fields },
      status: "completed",
      bytes_total: bytes.length,
      bytes_downloaded: bytes.length,
      progress: 1,
      result: { success: true, filename: "x y.safetensors", bytes_downloaded: bytes.length, hash: getHash(bytes) },
    });
    for (const field of ["create_time", "update_time", "started_at", "completed_at"])
      expect(new Date(asString(task[field])).toISOString()).toBe(task[field]);
    const asset = await ada.get(`/api/assets/${asString(asRecord(task.result).asset_id)}`);
    expect(asset.body).toMatchObject({ name: "x y.safetensors", asset_hash: getHash(bytes), size: bytes.length, ...fields });
    expect((await getContent(ada, task)).equals(bytes)).toBe(true);
    expect((await eve.get(`/api/tasks/${id}`)).status).toBe(404);
    expect((await ada.get("/api/tasks/nonsense")).status).toBe(404);
  });

  it("returns 200 for an earlier download, adds tags and makes no request", async () => {
    const url = serveModel();
    const first = asRecord((await download(ada, url, { tags: ["a"] })).result);
    source.responses.length = 0;
    const secondResponse = await ada.post("/api/assets/download", { source_url: url, tags: [" b"] });
    expect(secondResponse).toMatchObject({ status: 200, body: { id: first.asset_id, created_new: false, tags: ["a", " b"] } });
    expect(source.responses).toEqual([]);
  });

  it("creates a separate task when another user downloads the same URL", async () => {
    const url = serveModel();
    const first = asRecord((await download(ada, url)).result);
    const otherDownload = asRecord((await download(eve, url)).result);
    expect(otherDownload.hash).toBe(first.hash);
    expect(otherDownload.asset_id).not.toBe(first.asset_id);
    expect(source.responses).toHaveLength(2);
    await ada.call("DELETE", `/api/assets/${asString(first.asset_id)}`);
    expect((await ada.post("/api/assets/download", { source_url: url })).status).toBe(202);
    expect((await eve.post("/api/assets/download", { source_url: url })).status).toBe(200);
  });

  it("downloads a file again when its blob is missing", async () => {
    const url = serveModel();
    const first = asRecord((await download(ada, url)).result);
    await rm(getBlobPath(join(service.folder, "blobs", "blake3-v1"), asString(first.hash).replace("blake3:", "")));
    const secondDownload = await download(ada, url);
    expect(secondDownload).toMatchObject({ status: "completed", result: { asset_id: first.asset_id } });
    expect((await getContent(ada, secondDownload)).equals(source.behaviour.bytes)).toBe(true);
  });

  it("reveals no other user's download, even for equal content", async () => {
    const url = serveModel();
    await download(ada, url);
    await eve.upload(new Uint8Array(source.behaviour.bytes), "own.bin");
    expect((await eve.post("/api/assets/download", { source_url: url })).status).toBe(202);
  });

  it("ends with the existing asset when the content is already stored", async () => {
    const bytes = createPattern(5000, 77);
    const uploaded = asRecord((await ada.upload(new Uint8Array(bytes), "mine.bin")).body);
    expect(asRecord((await download(ada, serveModel("remote.bin", bytes))).result)).toMatchObject({
      asset_id: uploaded.id,
      filename: "mine.bin",
    });
  });

  it("skips the fetch for a hash the user owns, but not another user's", async () => {
    const bytes = createPattern(5000, 78);
    const etagHeader = { "x-linked-etag": `"${createHash("sha256").update(bytes).digest("hex")}"` };
    const uploaded = asRecord((await ada.upload(new Uint8Array(bytes), "mine.bin")).body);

    const url = serveModel("remote.bin", bytes);
    Object.assign(source.behaviour, { headers: etagHeader, holdAfter: 100 });
    expect(asRecord((await download(ada, url)).result)).toMatchObject({ asset_id: uploaded.id });
    source.behaviour.holdAfter = undefined;
    const otherDownload = asRecord((await download(eve, url)).result);
    expect(otherDownload.hash).toBe(getHash(bytes));
    expect(source.responses.at(-1)?.sent).toBe(5000);

    const otherUrl = serveModel("other-name.bin", bytes);
    source.behaviour.headers = etagHeader;
    await ada.get(`/api/assets/remote-metadata?url=${encodeURIComponent(otherUrl)}`);
    expect(await ada.post("/api/assets/download", { source_url: otherUrl })).toMatchObject({ status: 200, body: { id: uploaded.id } });
  });

  it.each([
    [`attachment; filename="../../etc/pass wd.bin"`, "pass wd.bin"],
    [`attachment; filename="C:\\\\dir\\\\model.bin"`, "model.bin"],
    [`inline; filename*=UTF-8''na%C3%AFve%20%E2%98%83.bin; filename="plain.bin"`, "naïve ☃.bin"],
    ["attachment; filename*=iso-8859-1'en'%A3%20rates.bin", "£ rates.bin"],
    [`attachment; filename*=UTF-8''a%2Fb%00%E2%80%AEc.bin`, "bc.bin"],
    [`attachment; filename="${Buffer.from("größe.bin").toString("latin1")}"`, "größe.bin"],
    [`attachment; filename="gr\xf6\xdfe.bin"`, "größe.bin"],
    [`attachment; filename=".."`, "file.bin"],
    [`attachment; filename=token.bin; size=3`, "token.bin"],
    [`attachment; FILENAME = "a;b=c.bin"; size=3`, "a;b=c.bin"],
    [`attachment; filename="${"n".repeat(300)}.bin"`, `${"n".repeat(196)}.bin`],
    ["attachment", "file.bin"],
  ])("sanitizes the asset name from %s", async (disposition, name) => {
    const url = serveModel("file.bin");
    // Node refuses to send a Latin-1 file name together with a length.
    Object.assign(source.behaviour, { headers: { "content-disposition": disposition }, hasLength: false });
    expect(asRecord((await download(ada, url)).result).filename).toBe(name);
    source.behaviour.hasLength = true;
  });

  it("runs two downloads at once, fairly by user, and queues the rest", async () => {
    const url = serveModel();
    source.behaviour.holdAfter = 1000;
    const paths: string[] = [];
    for (const n of [1, 2]) paths.push(await startDownload(ada, `${url}?ada=${n}`));
    await until("two downloads run", () => source.responses.length === 2);
    for (const n of [3, 4]) paths.push(await startDownload(ada, `${url}?ada=${n}`));
    const otherTask = await startDownload(eve, `${url}?eve=1`);
    const getStatus = async (path: string | undefined) => (await readTask(ada, asString(path))).status;
    expect(await Promise.all(paths.map(getStatus))).toEqual(["running", "running", "created", "created"]);
    expect(await readTask(eve, otherTask)).toMatchObject({ status: "created", bytes_total: null, bytes_downloaded: 0, progress: 0 });

    expect((await ada.call("DELETE", asString(paths[3]))).status).toBe(204);
    expect(await getStatus(paths[3])).toBe("cancelled");
    expect((await ada.call("DELETE", asString(paths[0]))).status).toBe(204);
    await until("the other user's download runs", async () => (await readTask(eve, otherTask)).status === "running");
    const listQueries = () => source.requests.map(({ url }) => url.split("?")[1]);
    await until("the other user's file is requested", () => listQueries().includes("eve=1"));
    expect(await getStatus(paths[2])).toBe("created");
    await ada.call("DELETE", asString(paths[1]));
    await until("the first user's next download runs", async () => (await getStatus(paths[2])) === "running");
    await until("its file is requested", () => listQueries().includes("ada=3"));
    // The first two ran at once, so their requests may arrive in either order.
    const recentQueries = listQueries().slice(-4);
    expect([recentQueries.slice(0, 2).sort(), ...recentQueries.slice(2)]).toEqual([["ada=1", "ada=2"], "eve=1", "ada=3"]);
    await ada.call("DELETE", asString(paths[2]));
    await eve.call("DELETE", otherTask);
  });

  it("rejects another user's preview and ignores a preview deleted during the download", async () => {
    const preview = asString(asRecord((await ada.upload(createPng(9, 9), "p.png")).body).id);
    const url = serveModel();
    expect(await eve.post("/api/assets/download", { source_url: url, preview_id: preview })).toMatchObject({
      status: 400,
      body: { code: "INVALID_PREVIEW_ID", details: { field: "preview_id" } },
    });
    source.behaviour.holdAfter = 1000;
    const path = await startDownload(ada, url, { preview_id: preview });
    await until("the download has started", () => source.responses.length === 1);
    await ada.call("DELETE", `/api/assets/${preview}`);
    source.behaviour.holdAfter = undefined;
    for (const response of source.pending) response.destroy();
    const asset = await ada.get(`/api/assets/${asString(asRecord((await waitForOutcome(ada, path)).result).asset_id)}`);
    expect(asset.body).toMatchObject({ preview_id: null });
  });

  it("reads remote metadata by HEAD or by fetching the first byte", async () => {
    const url = serveModel("model.bin");
    source.behaviour.headers = { "content-type": "application/x-thing" };
    const readMetadata = () => getRecord(ada, `/api/assets/remote-metadata?url=${encodeURIComponent(url)}`);
    const expected = {
      content_length: 10_000,
      content_type: "application/x-thing",
      filename: "model.bin",
      name: "model.bin",
      tags: [],
      validation: { is_valid: true, errors: [], warnings: [] },
    };
    expect(await readMetadata()).toEqual(expected);
    expect(source.requests.at(-1)?.method).toBe("HEAD");
    source.behaviour.refusesHead = true;
    expect(await readMetadata()).toEqual(expected);
    Object.assign(source.behaviour, { refusesHead: false, hasLength: false });
    expect(await readMetadata()).toMatchObject({ content_length: -1 });
    source.behaviour.hasLength = true;
  });

  it("rejects downloads above the quota or the size limit", async () => {
    const limitedService = await startService({ downloadHosts: [source.url], userQuotaBytes: 12_000, maxDownloadBytes: 50_000 });
    const client = limitedService.client();
    expect(await download(client, serveModel())).toMatchObject({ status: "completed" });
    const task = await download(client, serveModel());
    expect(task).toMatchObject({ status: "failed", result: { code: "STORAGE_QUOTA_EXCEEDED" } });
    const largeUrl = serveModel("big.bin", createPattern(60_000));
    expect((await limitedService.client("eve").get(`/api/assets/remote-metadata?url=${encodeURIComponent(largeUrl)}`)).body).toMatchObject({
      validation: { is_valid: false, errors: [{ code: "FILE_TOO_LARGE", field: "content_length" }] },
    });
    expect(await listAssets(client)).toHaveLength(1);
  });
});
