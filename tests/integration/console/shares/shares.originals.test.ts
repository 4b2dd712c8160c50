// Shared files stay on the upstream service, which may replace them, disconnect, or not support ranges.
import { createHash } from "node:crypto";
import { type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { beforeEach, expect, test } from "vitest";
import { type CreatedShare } from "@/lib/contract/share";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";
import { createShareHarness, DAY_MS, getBytes, SECRET } from "./share-harness";

const { harness, shared, createShare, requestShare, visit, getStatus, now } = await createShareHarness();
beforeEach(() => harness.renewCookies());

type FileRequest = { name: string; range: string | undefined };
/** Starts a service with a job that has these files. `send` writes the response with a file. */
async function startFileService(filenames: string[], send: (response: ServerResponse, request: FileRequest) => void) {
  const images = filenames.map((filename) => ({ filename, subfolder: "", type: "output" }));
  const service = await openTestServer(({ url, headers }, response) => {
    const name = new URL(url, "http://service.test").searchParams.get("filename") ?? "";
    if (url.includes("/api/view")) return send(response, { name, range: headers.range });
    return sendJsonResponse(response, { id: "j", status: "completed", outputs: { "1": { images } } });
  });
  const connection = await harness.connect(service.url, "sk-service-key");
  const createJobShare = () => createShare({ job: "j", expiresInMs: DAY_MS }, "operator", connection);
  return {
    url: service.url,
    connection,
    createShare: createJobShare,
    async share(): Promise<string> {
      const { path }: CreatedShare = await (await createJobShare()).json();
      return path.slice("/share/".length);
    },
  };
}
const sendImage = (response: ServerResponse, image: Buffer) =>
  response.writeHead(200, { "content-type": "image/png", "content-length": image.length }).end(image);

test("hides a replaced file when the service identifies files by path", async () => {
  let content = shared.file;
  const service = await startFileService(["a.png"], (response) => sendImage(response, content));
  const token = await service.share();
  expect(await getStatus(token, "/1")).toBe(200);
  content = Buffer.concat([content, Buffer.from("replaced")]);
  expect(await getStatus(token, "/1")).toBe(404);
  expect(await getStatus(token, "/1/256")).toBe(404);
});

test("omits unreadable files and rejects a share without readable ones", async () => {
  const readable = new Set(["b.png"]);
  const service = await startFileService(["a.png", "b.png"], (response, { name }) =>
    readable.has(name) ? sendImage(response, shared.file) : response.writeHead(500).end(),
  );
  const share: CreatedShare = await (await service.createShare()).json();
  expect(share.count).toBe(1);
  readable.clear();
  expect((await service.createShare()).status).toBe(422);
  readable.add("a.png");

  // A share created before this check existed.
  const token = "D".repeat(43);
  const item = { file: { filename: "a.png", subfolder: "", type: "output" }, name: "a.png", kind: "image" as const, isFixed: false };
  const source = { memberId: harness.getViewer("operator").memberId, connectionId: service.connection, baseUrl: service.url };
  const options = { title: "", keepsMetadata: true, showsMaker: false, showsWorkflow: false, jobId: undefined, passwordHash: undefined };
  const times = { createdAt: now(), expiresAt: now() + DAY_MS };
  await harness.console.store.shares.create({ id: "unchecked", token, ...source, ...options, ...times, items: [item] });
  expect(await visit(token)).toMatchObject({ kind: "open" });
  for (const path of ["/1", "/1/256"]) expect([path, await getStatus(token, path)]).toEqual([path, 404]);
});

test("creates no share and stays retryable when the service disconnects", async () => {
  let isBroken = true;
  const service = await startFileService(["a.png"], (response) => {
    response.writeHead(200, { "content-type": "image/png", "content-length": shared.file.length });
    if (isBroken) response.write(shared.file.subarray(0, 20), () => response.destroy());
    else response.end(shared.file);
  });
  const before = await harness.console.store.shares.list();
  const failedResponse = await service.createShare();
  const failure = { code: "UPSTREAM_ERROR", message: expect.stringContaining("disconnected") };
  expect([failedResponse.status, await failedResponse.json()]).toMatchObject([502, failure]);
  expect(await harness.console.store.shares.list()).toEqual(before);
  isBroken = false;
  const token = await service.share();
  isBroken = true;
  expect(await getStatus(token, "/1")).toBe(404);
  isBroken = false;
  expect(await getStatus(token, "/1")).toBe(200);
});

function createChunk(type: string, content: Buffer): Buffer {
  const head = Buffer.from(`${type}\0\0\0\0`, "latin1");
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content]);
}
const EXIF = `${SECRET}.`;
/** Larger than the buffer, so removing metadata requires a second read of the file's start. */
const longFile = createChunk(
  "RIFF",
  Buffer.concat([
    Buffer.from("WEBP"),
    createChunk("VP8X", Buffer.from([0x08, ...Buffer.alloc(9)])),
    createChunk("VP8 ", Buffer.alloc(5 * 1024 ** 2, "pixels")),
    createChunk("EXIF", Buffer.from(EXIF)),
  ]),
);

test.each(["ranges", "no ranges", "neither ranges nor lengths"])(
  "removes metadata from a long file of a service with %s",
  async (rangeSupport) => {
    const service = await startFileService(["a.webp"], (response, { range }) => {
      const [, from = "", to = ""] = /^bytes=(\d+)-(\d*)$/.exec(rangeSupport === "ranges" ? (range ?? "") : "") ?? [];
      const body = from === "" ? longFile : longFile.subarray(Number(from), to === "" ? undefined : Number(to) + 1);
      response.writeHead(from === "" ? 200 : 206, {
        "content-type": "image/webp",
        etag: '"long"',
        ...(rangeSupport !== "neither ranges nor lengths" && { "content-length": body.length }),
        ...(from !== "" && { "content-range": `bytes ${from}-${Number(from) + body.length - 1}/${longFile.length}` }),
      });
      response.end(body);
    });
    const cleanedFile = await getBytes(await requestShare(await service.share(), "/1"));
    expect(cleanedFile.length).toBe(longFile.length - 8 - EXIF.length);
    expect(cleanedFile.includes(SECRET)).toBe(false);
    expect(createHash("sha256").update(cleanedFile.subarray(30)).digest("hex")).toBe(
      createHash("sha256").update(longFile.subarray(30, cleanedFile.length)).digest("hex"),
    );
  },
);

test("cleans a large JPEG with one request", async () => {
  const head = Buffer.from("ffd8ffda0008010100003f00", "hex");
  const jpeg = Buffer.concat([head, Buffer.alloc(5 * 1024 ** 2, 1), Buffer.from("ffd9", "hex")]);
  const ranges: unknown[] = [];
  const service = await startFileService(["a.jpg"], (response, { range }) => {
    ranges.push(range);
    const [, from = 0, to = jpeg.length - 1] = (/^bytes=(\d+)-(\d+)?$/.exec(range ?? "") ?? []).map((text) => text && Number(text));
    const headers = { "content-type": "image/jpeg", etag: '"long"', "content-range": `bytes ${from}-${to}/${jpeg.length}` };
    response.writeHead(206, headers).end(jpeg.subarray(Number(from), Number(to) + 1));
  });
  const token = await service.share();
  ranges.length = 0;
  expect((await getBytes(await requestShare(token, "/1"))).equals(jpeg)).toBe(true);
  expect(ranges).toEqual(["bytes=0-", `bytes=0-${jpeg.length - 1}`]);
});

test("stops reading a file that can't be cleaned, even without ranges", async () => {
  const block = Buffer.alloc(1024 ** 2, "\0\0\0\x20ftypavif");
  const blockCount = 64;
  let sentCount = 0;
  const service = await startFileService(["a.mp4"], (response) => {
    response.writeHead(200, { "content-type": "video/mp4", "content-length": blockCount * block.length, etag: '"long"' });
    sentCount = 0;
    const writeMore = () => {
      while (sentCount < blockCount && !response.destroyed) {
        sentCount += 1;
        if (!response.write(block)) return void response.once("drain", writeMore);
      }
      response.end();
    };
    writeMore();
  });
  const token = await service.share();
  expect(sentCount).toBe(blockCount);
  expect(await getStatus(token, "/1")).toBe(404);
  expect(sentCount).toBeLessThan(blockCount / 2);
});

test("hides a file with too many tiny parts and reads it only once", async () => {
  // Empty clusters: a four-byte id and a size of zero.
  const clusters = Buffer.alloc(5 * 600_000, Buffer.from("1f43b67580", "hex"));
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(clusters.length));
  size[0] = 0x01;
  const video = Buffer.concat([Buffer.from("1a45dfa380", "hex"), Buffer.from("18538067", "hex"), size, clusters]);
  let requestCount = 0;
  const service = await startFileService(["a.webm"], (response) => {
    requestCount += 1;
    response.writeHead(200, { "content-type": "video/webm", "content-length": video.length, etag: '"video"' }).end(video);
  });
  const token = await service.share();
  expect(await getStatus(token, "/1")).toBe(404);
  const before = requestCount;
  expect(await getStatus(token, "/1")).toBe(404);
  expect(requestCount).toBe(before);
});

test("hides a long file of unknown length and reads it only once", async () => {
  const block = Buffer.alloc(1024 ** 2, "\0\0\0\x20ftypisom");
  const blockCount = 129;
  let requestCount = 0;
  const service = await startFileService(["a.mp4"], (response) => {
    requestCount += 1;
    response.writeHead(200, { "content-type": "video/mp4", etag: '"long"' });
    Readable.from(Array.from({ length: blockCount }, () => block)).pipe(response);
  });
  const token = await service.share();
  expect(await getStatus(token, "/1")).toBe(404);
  const before = requestCount;
  expect(await getStatus(token, "/1")).toBe(404);
  expect(requestCount).toBe(before);
});

test("limits parallel checks of one file and returns 503 to excess requests", async () => {
  let requestCount = 0;
  const pending: (() => void)[] = [];
  let isPaused = false;
  const service = await startFileService(["a.png"], (response) => {
    requestCount += 1;
    const send = () => sendImage(response, shared.file);
    if (isPaused) pending.push(send);
    else send();
  });
  const token = await service.share();
  [isPaused, requestCount] = [true, 0];
  const retryAfters: (string | null)[] = [];
  const responses = Array.from({ length: 50 }, async () => {
    const response = await requestShare(token, "/1");
    await response.body?.cancel();
    if (response.status === 503) retryAfters.push(response.headers.get("retry-after"));
    return response.status;
  });
  await until("the queue is full", () => pending.length === 4 && retryAfters.length === 6);
  isPaused = false;
  for (const send of pending) send();
  expect((await Promise.all(responses)).filter((status) => status === 200).length).toBe(44);
  expect(retryAfters).toEqual(Array(6).fill("5"));
  expect(requestCount).toBe(4 + 44);
});

test("rejects a response range that differs from the requested one", async () => {
  let rangeStart: number | undefined;
  const service = await startFileService(["a.png"], (response, { range }) => {
    const isPartial = rangeStart !== undefined && range !== undefined;
    const body = isPartial ? shared.file.subarray(rangeStart) : shared.file;
    const headers = { "content-type": "image/png", "content-length": body.length, etag: '"same"' };
    const rangeHeaders = isPartial ? { "content-range": `bytes ${rangeStart}-${shared.file.length - 1}/${shared.file.length}` } : {};
    response.writeHead(isPartial ? 206 : 200, { ...headers, ...rangeHeaders }).end(body);
  });
  const token = await service.share();
  const cleanedFile = await getBytes(await requestShare(token, "/1"));
  rangeStart = 5;
  expect(await getStatus(token, "/1")).toBe(404);
  rangeStart = undefined;
  expect((await getBytes(await requestShare(token, "/1"))).equals(cleanedFile)).toBe(true);
});
