// Presigned URLs of bucket files: access, lifetime, and the requests that the service serves itself.
import { Readable } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { operations } from "@/lib/contract/operations";
import { createGuardedSend, createHttpSend } from "@/lib/server/upstream/send";
import { createUpstream } from "@/lib/server/upstream/upstream";
import { createLocalHolds } from "@/lib/service/assets/blob-store";
import { createBucketSettings } from "@/tests/support/blob-backends";
import { openTestServer, startStrictS3 } from "@/tests/support/servers";
import { createClient, startService } from "@/tests/support/service";
import { asRecord, asString, createGate, createPng } from "./support";

describe("presigned blob URLs", async () => {
  const URL_LIFETIME_SECONDS = 60;
  const image = createPng(20, 20, { seed: 5 });
  const s3 = await startStrictS3();
  const service = await startService(createBucketSettings(s3, "here", { LIGHTDESK_BLOBS_PRESIGNED_SECONDS: String(URL_LIFETIME_SECONDS) }));
  const { key } = await service.service.keys.createKey("ada");
  const client = createClient((request) => service.service.fetch(request), key);
  afterEach(() => {
    s3.state.aheadMs = 0;
    s3.state.isMissing = false;
  });

  async function upload(bytes: Uint8Array<ArrayBuffer> | string, name: string) {
    const { body } = await client.upload(bytes, name);
    return { id: asString(asRecord(body).id), hash: asString(asRecord(body).asset_hash).slice(7) };
  }
  const getPaths = ({ id, hash }: { id: string; hash: string }, extension: string) => [
    `/api/assets/${id}/content`,
    `/api/view?filename=${hash}.${extension}`,
  ];
  async function fetchRedirectUrl(path: string): Promise<string> {
    const response = await client.raw("GET", path);
    expect([path, response.status, response.headers.get("cache-control"), await response.text()]).toEqual([path, 302, "no-store", ""]);
    return response.headers.get("location") ?? "";
  }

  it("redirects permitted downloads to the bucket with type and name", async () => {
    const file = await upload(image, "Grüße 1.png");
    for (const path of getPaths(file, "png")) {
      const response = await fetch(await fetchRedirectUrl(path));
      const { headers } = response;
      expect([response.status, headers.get("content-type"), headers.get("content-disposition")]).toEqual([
        200,
        "image/png",
        `inline; filename="Gr__e 1.png"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%201.png`,
      ]);
      expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.from(image))).toBe(true);
    }
    expect(
      (await fetch(await fetchRedirectUrl(`/api/assets/${file.id}/content?disposition=attachment`))).headers.get("content-disposition"),
    ).toMatch(/^attachment; /);
    const page = await upload("<script>1</script>", "page.html");
    for (const path of getPaths(page, "html"))
      expect((await fetch(await fetchRedirectUrl(path))).headers.get("content-disposition")).toMatch(/^attachment; /);
  });

  it("returns no URL to clients that may not read the file", async () => {
    const file = await upload(image, "private.png");
    const otherUser = service.client("eve");
    for (const path of getPaths(file, "png")) {
      for (const response of [await otherUser.raw("GET", path), await service.anonymous().raw("GET", path)])
        expect([path, [401, 404].includes(response.status), response.headers.get("location")]).toEqual([path, true, null]);
    }
  });

  it("signs path, type, method and expiry so the bucket rejects changes", async () => {
    const file = await upload(image, "signed.png");
    const otherUpload = await upload("other", "other.txt");
    const signedUrl = await fetchRedirectUrl(`/api/assets/${file.id}/content`);
    expect(new URL(signedUrl).searchParams.get("X-Amz-Expires")).toBe(String(URL_LIFETIME_SECONDS));
    const getKey = (hash: string) => `${hash.slice(0, 2)}/${hash.slice(2)}`;
    for (const changedUrl of [
      signedUrl.replace(getKey(file.hash), getKey(otherUpload.hash)),
      signedUrl.replace("image%2Fpng", "text%2Fhtml"),
    ]) {
      expect(changedUrl).not.toBe(signedUrl);
      expect((await fetch(changedUrl)).status).toBe(403);
    }
    for (const method of ["PUT", "DELETE"]) expect((await fetch(signedUrl, { method })).status, method).toBe(403);
    s3.state.aheadMs = URL_LIFETIME_SECONDS * 1000 - 5000;
    expect((await fetch(signedUrl)).status).toBe(200);
    s3.state.aheadMs = URL_LIFETIME_SECONDS * 1000 + 5000;
    expect((await fetch(signedUrl)).status).toBe(403);
  });

  it("serves ranges, HEAD, 304, thumbnails, channels and user files directly", async () => {
    const file = await upload(image, "own.png");
    for (const path of getPaths(file, "png")) {
      const part = await client.raw("GET", path, undefined, { range: "bytes=0-3" });
      expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([206, Buffer.from(image.subarray(0, 4))]);
      expect((await client.raw("GET", path, undefined, { range: "bytes=0-3", "if-range": '"another"' })).status).toBe(200);
      const head = await client.raw("HEAD", path);
      expect([head.status, head.headers.get("etag"), head.headers.get("content-length")]).toEqual([
        200,
        `"${file.hash}"`,
        String(image.length),
      ]);
      expect((await client.raw("GET", path, undefined, { "if-none-match": `"${file.hash}"` })).status).toBe(304);
    }
    const viewPath = `/api/view?filename=${file.hash}.png`;
    for (const parameter of ["&res=64", "&channel=rgb"]) expect((await client.raw("GET", viewPath + parameter)).status).toBe(200);
    expect((await client.call("POST", "/api/userdata/a.json", "{}")).status).toBe(200);
    expect((await client.raw("GET", "/api/userdata/a.json")).status).toBe(200);
  });

  it("reports missing files, damaged files and a missing bucket", async () => {
    const file = await upload("to be lost", "lost.txt");
    const path = `/api/assets/${file.id}/content`;
    s3.state.isMissing = true;
    expect(await client.get(path)).toMatchObject({ status: 503, body: { message: expect.stringContaining("object store") } });
    s3.state.isMissing = false;
    const blobKey = `here/blake3-v1/${file.hash.slice(0, 2)}/${file.hash.slice(2)}`;
    await s3.putObject(blobKey, Buffer.from("short"));
    expect(await client.get(path)).toMatchObject({ status: 500, body: { message: expect.stringContaining("are damaged") } });
    s3.objects.delete(blobKey);
    expect(await client.get(path)).toMatchObject({ status: 404, body: { message: expect.stringContaining("are missing") } });
  });

  it("lets a console fetch only from trusted hosts, without its key", async () => {
    const file = await upload(image, "console.png");
    const proxy = await openTestServer(async ({ method, url, headers }, response) => {
      const requestHeaders = new Headers();
      for (const [name, value] of Object.entries(headers)) if (typeof value === "string") requestHeaders.set(name, value);
      const reply = await service.service.fetch(new Request(`http://service.test${url}`, { method, headers: requestHeaders }));
      response.writeHead(reply.status, Object.fromEntries(reply.headers));
      if (reply.body) Readable.from(reply.body).pipe(response);
      else response.end();
    });
    const send = createHttpSend();
    const bucket = new URL(s3.endpoint).host;
    for (const [trustedHosts, isTrusted] of [[[bucket], true] as const, [[], false] as const]) {
      const sendForeign = createGuardedSend({ trustedHosts });
      const { forward } = createUpstream({ baseUrl: proxy.url, apiKey: key, send, sendForeign });
      s3.headers.length = 0;
      const result = await forward(operations.getAssetContent, { params: { id: file.id } });
      expect(result.ok).toBe(isTrusted);
      if (result.ok) {
        expect([result.value.status, result.value.headers.get("content-type")]).toEqual([200, "image/png"]);
        expect(Buffer.from(await result.value.arrayBuffer()).equals(Buffer.from(image))).toBe(true);
      }
      const bucketRequests = s3.headers.filter(({ method }) => method === "GET");
      expect(bucketRequests.length).toBe(isTrusted ? 1 : 0);
      expect(JSON.stringify(bucketRequests)).not.toContain(key);
      await sendForeign.close();
    }
    await send.close();
  });
});

const HASH = "ab".repeat(32);

it("stores bytes only after a running removal has finished", async () => {
  const { open, opened } = createGate();
  const order: string[] = [];
  const holds = createLocalHolds(() => opened.then(() => new Set<string>()));
  const removal = holds.removeUnused(HASH, async () => void order.push("removed"));
  const write = holds.hold([HASH], async () => void order.push("stored"));
  open();
  expect(await Promise.all([removal, write])).toEqual([true, undefined]);
  expect(order).toEqual(["removed", "stored"]);
});

it("keeps held bytes and removes unreferenced bytes once", async () => {
  const rows = new Set([HASH]);
  const removed: string[] = [];
  const remove = async () => {
    rows.add(HASH);
    removed.push(HASH);
  };
  const holds = createLocalHolds(() => Promise.resolve(new Set(rows)));
  await holds.hold([HASH], async () => {
    rows.delete(HASH);
    expect(await holds.removeUnused(HASH, remove)).toBe(false);
  });
  expect(await Promise.all([holds.removeUnused(HASH, remove), holds.removeUnused(HASH, remove)])).toEqual([true, false]);
  expect(removed).toEqual([HASH]);
});

it("stores bytes when their removal fails", async () => {
  const holds = createLocalHolds(() => Promise.resolve(new Set()));
  const removal = holds.removeUnused(HASH, () => Promise.reject(new Error("disk I/O error")));
  const write = holds.hold([HASH], () => Promise.resolve("stored"));
  await expect(removal).rejects.toThrow("disk I/O error");
  expect(await write).toBe("stored");
  expect(await holds.removeUnused(HASH, () => Promise.resolve())).toBe(true);
});
