// Shared files are stored at their service, which may lose or replace them, disconnect, or lack ranges.
import { createHash } from "node:crypto";
import { type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import sharp from "sharp";
import { afterAll, beforeEach, expect, test } from "vitest";
import { type CreatedShare } from "@/lib/contract/share";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";
import { createShareWorld, DAY, getBytes, SECRET } from "./share-world";

const { harness, shared, ask, visit, statusOf, now } = await createShareWorld();
beforeEach(() => harness.renewCookies());
afterAll(() => harness.dispose());

test("hides a replaced file on a service that names files by path", async () => {
  let content = Buffer.concat([
    await sharp({ create: { width: 9, height: 9, channels: 3, background: "red" } })
      .png()
      .toBuffer(),
  ]);
  const service = await openTestServer((request, response) => {
    if (request.url?.includes("/api/view"))
      return void response.writeHead(200, { "content-type": "image/png", "content-length": content.length }).end(content);
    return sendJsonResponse(response, {
      id: "j",
      status: "completed",
      outputs: { "1": { images: [{ filename: "a.png", subfolder: "", type: "output" }] } },
    });
  });
  const connection = await harness.connect(service.url, "sk-key-of-the-service");
  const reply = await harness.request(`/api/console/shares?connection=${connection}`, {
    as: "operator",
    method: "POST",
    json: { job: "j", expiresInMs: DAY },
  });
  const { path }: CreatedShare = await reply.json();
  const token = path.slice("/share/".length);
  expect(await statusOf(token, "/1")).toBe(200);
  content = Buffer.concat([content, Buffer.from("replaced")]);
  expect(await statusOf(token, "/1")).toBe(404);
  expect(await statusOf(token, "/1/256")).toBe(404);
  await service.close();
});

test("leaves out unreadable files and refuses a share with none left", async () => {
  const picture = await sharp({ create: { width: 9, height: 9, channels: 3, background: "red" } })
    .png()
    .toBuffer();
  const readable = new Set(["b.png"]);
  const service = await openTestServer((request, response) => {
    const name = new URL(request.url ?? "", "http://service.test").searchParams.get("filename");
    if (request.url?.includes("/api/view"))
      return readable.has(name ?? "")
        ? void response.writeHead(200, { "content-type": "image/png", "content-length": picture.length }).end(picture)
        : void response.writeHead(500).end();
    const images = ["a.png", "b.png"].map((filename) => ({ filename, subfolder: "", type: "output" }));
    return sendJsonResponse(response, { id: "j", status: "completed", outputs: { "1": { images } } });
  });
  const connection = await harness.connect(service.url, "sk-key-of-the-service");
  const make = () =>
    harness.request(`/api/console/shares?connection=${connection}`, {
      as: "operator",
      method: "POST",
      json: { job: "j", expiresInMs: DAY },
    });
  const share: CreatedShare = await (await make()).json();
  expect(share.count).toBe(1);
  readable.clear();
  expect((await make()).status).toBe(422);
  readable.add("a.png");

  // A share created before this check existed.
  const { store } = harness.console;
  const token = "D".repeat(43);
  const item = { file: { filename: "a.png", subfolder: "", type: "output" }, name: "a.png", kind: "image" as const, isFixed: false };
  const about = { id: "unchecked", memberId: harness.viewerOf("operator").memberId, connectionId: connection, baseUrl: service.url };
  const how = { title: "", keepsMetadata: true, showsMaker: false, showsWorkflow: false, jobId: undefined, passwordHash: undefined };
  await store.shares.create({ ...about, ...how, token, createdAt: now(), expiresAt: now() + DAY, items: [item] });
  expect(await visit(token)).toMatchObject({ kind: "open" });
  for (const rest of ["/1", "/1/256"]) expect([rest, await statusOf(token, rest)]).toEqual([rest, 404]);
  await service.close();
});

/** A service with a job of one file, which `send` serves. */
async function serve(filename: string, send: (range: string | undefined, response: ServerResponse) => void) {
  const service = await openTestServer((request, response) => {
    if (request.url?.includes("/api/view")) return send(request.headers.range, response);
    const outputs = { "1": { images: [{ filename, subfolder: "", type: "output" }] } };
    return sendJsonResponse(response, { id: "j", status: "completed", outputs });
  });
  const connection = await harness.connect(service.url, "sk-key-of-the-service");
  const make = () =>
    harness.request(`/api/console/shares?connection=${connection}`, {
      as: "operator",
      method: "POST",
      json: { job: "j", expiresInMs: DAY },
    });
  return {
    make,
    close: () => service.close(),
    async share(): Promise<string> {
      const { path }: CreatedShare = await (await make()).json();
      return path.slice("/share/".length);
    },
  };
}

test("reports no share and no permanent reason when the service disconnects", async () => {
  let isBroken = true;
  const service = await serve("a.png", (_range, response) => {
    response.writeHead(200, { "content-type": "image/png", "content-length": shared.file.length });
    if (isBroken) response.write(shared.file.subarray(0, 20), () => response.destroy());
    else response.end(shared.file);
  });
  const before = await harness.console.store.shares.list();
  const refusal = await service.make();
  expect([refusal.status, await refusal.json()]).toMatchObject([
    502,
    { code: "UPSTREAM_ERROR", message: expect.stringContaining("disconnected") },
  ]);
  expect(await harness.console.store.shares.list()).toEqual(before);
  isBroken = false;
  const token = await service.share();
  isBroken = true;
  expect(await statusOf(token, "/1")).toBe(404);
  isBroken = false;
  expect(await statusOf(token, "/1")).toBe(200);
  await service.close();
});

function chunk(type: string, content: Buffer): Buffer {
  const head = Buffer.from(`${type}\0\0\0\0`, "latin1");
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content]);
}
const EXIF = `${SECRET}.`;
/** Longer than the part in memory, and its beginning is needed again at the end. */
const long = chunk(
  "RIFF",
  Buffer.concat([
    Buffer.from("WEBP"),
    chunk("VP8X", Buffer.from([0x08, ...Buffer.alloc(9)])),
    chunk("VP8 ", Buffer.alloc(5 * 1024 ** 2, "pixels")),
    chunk("EXIF", Buffer.from(EXIF)),
  ]),
);

test.each(["ranges", "no ranges", "neither ranges nor lengths"])("cleans a long file of a service with %s", async (knows) => {
  const service = await serve("a.webp", (range, response) => {
    const [, from = "", to = ""] = /^bytes=(\d+)-(\d+)$/.exec(knows === "ranges" ? (range ?? "") : "") ?? [];
    const part = from === "" ? long : long.subarray(Number(from), Number(to) + 1);
    response.writeHead(from === "" ? 200 : 206, {
      "content-type": "image/webp",
      etag: '"long"',
      ...(knows !== "neither ranges nor lengths" && { "content-length": part.length }),
      ...(from !== "" && { "content-range": `bytes ${from}-${Number(from) + part.length - 1}/${long.length}` }),
    });
    response.end(part);
  });
  const clean = await getBytes(await ask(await service.share(), "/1"));
  expect(clean.length).toBe(long.length - 8 - EXIF.length);
  expect(clean.includes(SECRET)).toBe(false);
  expect(createHash("sha256").update(clean.subarray(30)).digest("hex")).toBe(
    createHash("sha256").update(long.subarray(30, clean.length)).digest("hex"),
  );
  await service.close();
});

test("reads only the shown bytes of an uncleaned file, also without ranges", async () => {
  const piece = Buffer.alloc(1024 ** 2, "\0\0\0\x20ftypavif");
  const pieces = 64;
  let sentCount = 0;
  const service = await serve("a.mp4", (_range, response) => {
    response.writeHead(200, { "content-type": "video/mp4", "content-length": pieces * piece.length, etag: '"long"' });
    sentCount = 0;
    const go = () => {
      while (sentCount < pieces && !response.destroyed) {
        sentCount += 1;
        if (!response.write(piece)) return void response.once("drain", go);
      }
      response.end();
    };
    go();
  });
  const token = await service.share();
  expect(sentCount).toBe(pieces);
  expect(await statusOf(token, "/1")).toBe(404);
  expect(sentCount).toBeLessThan(pieces / 2);
  await service.close();
});

test("stops reading a file of tiny parts, and reads it once", async () => {
  // Empty clusters, two bytes more than their name.
  const clusters = Buffer.alloc(5 * 600_000, Buffer.from("1f43b67580", "hex"));
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(clusters.length));
  size[0] = 0x01;
  const film = Buffer.concat([Buffer.from("1a45dfa380", "hex"), Buffer.from("18538067", "hex"), size, clusters]);
  let requestCount = 0;
  const service = await serve("a.webm", (_range, response) => {
    requestCount += 1;
    response.writeHead(200, { "content-type": "video/webm", "content-length": film.length, etag: '"film"' }).end(film);
  });
  const token = await service.share();
  expect(await statusOf(token, "/1")).toBe(404);
  const before = requestCount;
  expect(await statusOf(token, "/1")).toBe(404);
  expect(requestCount).toBe(before);
  await service.close();
});

test("hides a file too long to count, and reads it once", async () => {
  const piece = Buffer.alloc(1024 ** 2, "\0\0\0\x20ftypisom");
  const pieces = 129;
  let requestCount = 0;
  const service = await serve("a.mp4", (_range, response) => {
    requestCount += 1;
    response.writeHead(200, { "content-type": "video/mp4", etag: '"long"' });
    Readable.from(Array.from({ length: pieces }, () => piece)).pipe(response);
  });
  const token = await service.share();
  expect(await statusOf(token, "/1")).toBe(404);
  const before = requestCount;
  expect(await statusOf(token, "/1")).toBe(404);
  expect(requestCount).toBe(before);
  await service.close();
});

test("limits parallel checks of one file and asks the rest to retry", async () => {
  let requestCount = 0;
  const pending: (() => void)[] = [];
  let isPaused = false;
  const service = await serve("a.png", (_range, response) => {
    requestCount += 1;
    const send = () => response.writeHead(200, { "content-type": "image/png", "content-length": shared.file.length }).end(shared.file);
    if (isPaused) pending.push(send);
    else send();
  });
  const token = await service.share();
  [isPaused, requestCount] = [true, 0];
  const refused: (string | null)[] = [];
  const responses = Array.from({ length: 50 }, async () => {
    const response = await ask(token, "/1");
    await response.body?.cancel();
    if (response.status === 503) refused.push(response.headers.get("retry-after"));
    return response.status;
  });
  await until("the queue is full", () => pending.length === 4 && refused.length === 6);
  isPaused = false;
  for (const send of pending) send();
  expect((await Promise.all(responses)).filter((status) => status === 200).length).toBe(44);
  expect(refused).toEqual(Array(6).fill("5"));
  expect(requestCount).toBe(4 + 44);
  await service.close();
});

test("rejects a range other than requested", async () => {
  let begin: number | undefined;
  const service = await serve("a.png", (range, response) => {
    const isPart = begin !== undefined && range !== undefined;
    const part = isPart ? shared.file.subarray(begin) : shared.file;
    const headers = { "content-type": "image/png", "content-length": part.length, etag: '"same"' };
    const rangeHeaders = isPart ? { "content-range": `bytes ${begin}-${shared.file.length - 1}/${shared.file.length}` } : {};
    response.writeHead(isPart ? 206 : 200, { ...headers, ...rangeHeaders }).end(part);
  });
  const token = await service.share();
  const clean = await getBytes(await ask(token, "/1"));
  begin = 5;
  expect(await statusOf(token, "/1")).toBe(404);
  begin = undefined;
  expect((await getBytes(await ask(token, "/1"))).equals(clean)).toBe(true);
  await service.close();
});
