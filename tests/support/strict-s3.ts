// A fake S3 bucket over real HTTP that is strict about the dialect: signatures (version 4, in headers and in URLs), body hashes, order, tags and
// minimum sizes of parts, ranges, conditions, and paged lists. Faults on demand.
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MIN_PART_BYTES = 5 * 1024 ** 2;
const MAX_SKEW_MS = 15 * 60_000;

type Part = { path: string; size: number; etag: string };
type StoredObject = { parts: Part[]; size: number; etag: string; modifiedAt: Date };
type Upload = { key: string; startedAt: Date; parts: Map<number, Part> };
type RequestOptions = { method: string; key: string; query: URLSearchParams; headers: IncomingMessage["headers"]; body: Buffer };
export type Fault =
  /** 503, as under load. */
  | "slow-down"
  /** The body ends half-way through. */
  | "cut"
  /** Completing a multipart upload returns 200 with an error in the body. */
  | "error-in-200"
  /** The request is executed, but its response is lost. */
  | "lost-answer";
export type StrictS3 = Awaited<ReturnType<typeof startStrictS3>>;

class S3Error extends Error {
  constructor(
    readonly code: string,
    readonly status: number,
  ) {
    super(code);
  }
}

export const testKeys = { accessKeyId: "AKIDSTRICT", secretAccessKey: "a secret/that+needs=escapes" };

export async function startStrictS3({ bucket = "blobs", pageSize = 1000 } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "lightdesk-s3-"));
  const objects = new Map<string, StoredObject>();
  const uploads = new Map<string, Upload>();
  /** Method and operation of each request, in order. */
  const operations: string[] = [];
  const faults: { on: RegExp; fault: Fault; times: number }[] = [];
  const pauses: { on: RegExp; until: Promise<void> }[] = [];
  let activeResponses = 0;
  /** `aheadMs`: how far its clock is ahead. */
  const state = { isMissing: false, supportsConditions: true, aheadMs: 0 };
  /** The method and headers of each request. */
  const headers: { method: string; headers: IncomingMessage["headers"] }[] = [];

  async function storePart(body: Buffer): Promise<Part> {
    const path = join(folder, randomBytes(8).toString("hex"));
    await writeFile(path, body);
    return { path, size: body.length, etag: `"${createHash("md5").update(body).digest("hex")}"` };
  }

  function requireNew({ headers, key }: RequestOptions): void {
    if (headers["if-none-match"] === undefined) return;
    if (!state.supportsConditions) throw new S3Error("NotImplemented", 501);
    if (headers["if-none-match"] !== "*") throw new S3Error("NotImplemented", 501);
    if (objects.has(key)) throw new S3Error("PreconditionFailed", 412);
  }

  function requireUpload({ key, query }: RequestOptions): Upload {
    const upload = uploads.get(query.get("uploadId") ?? "");
    if (upload?.key !== key) throw new S3Error("NoSuchUpload", 404);
    return upload;
  }

  function complete(request: RequestOptions): string {
    const upload = requireUpload(request);
    const listedParts = [...request.body.toString().matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part = ""]) => ({
      number: Number(/<PartNumber>(\d+)</.exec(part)?.[1]),
      etag: (/<ETag>(.*?)<\/ETag>/.exec(part)?.[1] ?? "").replaceAll("&quot;", '"'),
    }));
    if (listedParts.length === 0) throw new S3Error("MalformedXML", 400);
    if (listedParts.some(({ number }, index) => number <= (listedParts[index - 1]?.number ?? 0)))
      throw new S3Error("InvalidPartOrder", 400);
    const parts = listedParts.map(({ number, etag }) => {
      const part = upload.parts.get(number);
      if (part?.etag !== etag) throw new S3Error("InvalidPart", 400);
      return part;
    });
    if (parts.slice(0, -1).some(({ size }) => size < MIN_PART_BYTES)) throw new S3Error("EntityTooSmall", 400);
    requireNew(request);
    const etag = `"${createHash("md5")
      .update(parts.map(({ etag }) => etag).join())
      .digest("hex")}-${parts.length}"`;
    objects.set(request.key, { parts, size: parts.reduce((sum, { size }) => sum + size, 0), etag, modifiedAt: new Date() });
    uploads.delete(request.query.get("uploadId") ?? "");
    return `<CompleteMultipartUploadResult><Key>${request.key}</Key><ETag>${etag.replaceAll('"', "&quot;")}</ETag></CompleteMultipartUploadResult>`;
  }

  function list(query: URLSearchParams): string {
    const after = Buffer.from(query.get("continuation-token") ?? "", "base64url").toString();
    const keys = [...objects.keys()].filter((key) => key.startsWith(query.get("prefix") ?? "") && key > after).sort();
    const page = keys.slice(0, pageSize);
    const isCut = keys.length > page.length;
    const next = isCut ? `<NextContinuationToken>${Buffer.from(page.at(-1) ?? "").toString("base64url")}</NextContinuationToken>` : "";
    const contents = page.map((key) => `<Contents><Key>${key}</Key><Size>${objects.get(key)?.size}</Size></Contents>`).join("");
    return `<ListBucketResult><IsTruncated>${isCut}</IsTruncated>${next}${contents}</ListBucketResult>`;
  }

  function listUploads(query: URLSearchParams): string {
    const all = [...uploads].filter(([, { key }]) => key.startsWith(query.get("prefix") ?? ""));
    const rows = all.map(
      ([id, { key, startedAt }]) =>
        `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${startedAt.toISOString()}</Initiated></Upload>`,
    );
    return `<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>${rows.join("")}</ListMultipartUploadsResult>`;
  }

  function requireObject(key: string): StoredObject {
    const stored = objects.get(key);
    if (!stored) throw new S3Error("NoSuchKey", 404);
    return stored;
  }

  async function send({ method, key, headers, query }: RequestOptions, response: ServerResponse, isCut: boolean): Promise<void> {
    const { parts, size, etag, modifiedAt } = requireObject(key);
    const range = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? "");
    if (headers.range !== undefined && !range) throw new S3Error("InvalidArgument", 400);
    const first = Number(range?.[1] ?? 0);
    if (range && first >= size) throw new S3Error("InvalidRange", 416);
    const last = Math.min(size - 1, range?.[2] ? Number(range[2]) : size - 1);
    const objectHeaders = {
      etag,
      "last-modified": modifiedAt.toUTCString(),
      "accept-ranges": "bytes",
      "content-length": String(last - first + 1),
    };
    const overrides = {
      "content-type": query.get("response-content-type"),
      "content-disposition": query.get("response-content-disposition"),
    };
    for (const [name, value] of Object.entries(overrides)) if (value !== null) response.setHeader(name, value);
    response.writeHead(range ? 206 : 200, { ...objectHeaders, ...(range && { "content-range": `bytes ${first}-${last}/${size}` }) });
    if (method === "HEAD") return void response.end();
    let resume = (): void => undefined;
    for (const event of ["drain", "close"]) response.on(event, () => resume());
    let start = 0;
    let remaining = isCut ? Math.floor((last - first + 1) / 2) : Infinity;
    for (const part of parts) {
      const [from, to] = [Math.max(0, first - start), Math.min(part.size, last + 1 - start)];
      start += part.size;
      if (to <= from) continue;
      for await (const chunk of createReadStream(part.path, { start: from, end: to - 1, highWaterMark: 256 * 1024 })) {
        if (response.destroyed || !(chunk instanceof Uint8Array)) return;
        const piece = chunk.subarray(0, remaining);
        remaining -= piece.length;
        if (!response.write(piece)) await new Promise<void>((resolve) => (resume = resolve));
        if (remaining <= 0) return void response.destroy();
      }
    }
    response.end();
  }

  /** Returns the XML of the response; undefined if already sent. */
  async function performRequest(request: RequestOptions, response: ServerResponse, fault: Fault | undefined): Promise<string | undefined> {
    const { method, key, query } = request;
    if (state.isMissing) throw new S3Error("NoSuchBucket", 404);
    if (key === "" && method === "HEAD") return "";
    if (key === "" && method === "GET" && query.get("list-type") === "2") return list(query);
    if (key === "" && method === "GET" && query.has("uploads")) return listUploads(query);
    if (key === "") throw new S3Error("MethodNotAllowed", 405);
    if (method === "POST" && query.has("uploads")) {
      const id = randomBytes(12).toString("hex");
      uploads.set(id, { key, startedAt: new Date(), parts: new Map() });
      return `<InitiateMultipartUploadResult><Key>${key}</Key><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`;
    }
    if (method === "POST" && query.has("uploadId")) {
      return fault === "error-in-200" ? "<Error><Code>InternalError</Code><Message>Try again.</Message></Error>" : complete(request);
    }
    if (method === "PUT" && query.has("partNumber")) {
      const number = Number(query.get("partNumber"));
      if (!(number >= 1 && number <= 10_000)) throw new S3Error("InvalidArgument", 400);
      const part = await storePart(request.body);
      requireUpload(request).parts.set(number, part);
      response.setHeader("etag", part.etag);
      return "";
    }
    if (method === "PUT") {
      requireNew(request);
      const part = await storePart(request.body);
      objects.set(key, { parts: [part], size: part.size, etag: part.etag, modifiedAt: new Date() });
      response.setHeader("etag", part.etag);
      return "";
    }
    if (method === "DELETE") {
      if (query.has("uploadId")) uploads.delete((requireUpload(request), query.get("uploadId") ?? ""));
      else objects.delete(key);
      response.statusCode = 204;
      return "";
    }
    if (method !== "GET" && method !== "HEAD") throw new S3Error("MethodNotAllowed", 405);
    activeResponses += 1;
    await send(request, response, fault === "cut").finally(() => (activeResponses -= 1));
    return undefined;
  }

  async function handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://store");
    const [, bucketName = "", key = ""] = /^\/([^/]*)\/?(.*)$/s.exec(decodeURIComponent(url.pathname)) ?? [];
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) if (chunk instanceof Uint8Array) chunks.push(chunk);
    const s3Request = { method: request.method ?? "", key, query: url.searchParams, headers: request.headers, body: Buffer.concat(chunks) };
    const flags = [...url.searchParams.keys()].filter((name) => /^(uploads|uploadId|partNumber|list-type)$/.test(name)).sort();
    const operation = `${s3Request.method}${flags.length > 0 ? ` ${flags.join("+")}` : ""} ${key}`;
    operations.push(operation);
    headers.push({ method: s3Request.method, headers: s3Request.headers });
    const matchedFault = faults.find(({ on, times }) => times > 0 && on.test(operation));
    if (matchedFault) matchedFault.times -= 1;
    await pauses.find(({ on }) => on.test(operation))?.until;
    try {
      requireSignature(request, url, s3Request.body, state.aheadMs);
      if (bucketName !== bucket) throw new S3Error("NoSuchBucket", 404);
      if (matchedFault?.fault === "slow-down") throw new S3Error("SlowDown", 503);
      const xml = await performRequest(s3Request, response, matchedFault?.fault);
      if (matchedFault?.fault === "lost-answer") return void response.destroy();
      if (xml !== undefined) response.end(xml);
    } catch (error) {
      if (response.headersSent) return void response.destroy();
      const { code, status } = error instanceof S3Error ? error : { code: "InternalError", status: 500 };
      response.writeHead(status, { "content-type": "application/xml" });
      // A real store returns this id, and the client must not forward it.
      const keyElement = code === "SignatureDoesNotMatch" ? `<AWSAccessKeyId>${testKeys.accessKeyId}</AWSAccessKeyId>` : "";
      response.end(
        s3Request.method === "HEAD"
          ? undefined
          : `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message>${keyElement}</Error>`,
      );
    }
  }

  const server = createServer((request, response) => void handleRequest(request, response).catch(() => response.destroy()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  const endpoint = `http://127.0.0.1:${address.port}`;
  return {
    endpoint,
    address: (prefix: string) => `s3://${bucket}/${prefix}?endpoint=${encodeURIComponent(endpoint)}&region=eu-central-1&style=path`,
    objects,
    uploads,
    operations,
    headers,
    state,
    /** Simulates an object written by another client. */
    async putObject(key: string, bytes: Uint8Array): Promise<void> {
      const part = await storePart(Buffer.from(bytes));
      objects.set(key, { parts: [part], size: part.size, etag: part.etag, modifiedAt: new Date() });
    },
    faults,
    /** The number of responses in progress. */
    countActiveResponses: () => activeResponses,
    /** Matching requests wait until the returned function is called. */
    hold(on: RegExp): () => void {
      let release: () => void = () => undefined;
      pauses.push({ on, until: new Promise((resolve) => (release = resolve)) });
      return () => {
        pauses.length = 0;
        release();
      };
    },
    addFault: (on: RegExp, fault: Fault, times = 1) => void faults.push({ on, fault, times }),
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const sha256 = (data: string | Buffer) => createHash("sha256").update(data).digest("hex");
const hmac = (key: string | Buffer, data: string) => createHmac("sha256", key).update(data).digest();
const escape = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);

/** Checks the request's signature (version 4). */
function requireSignature(request: IncomingMessage, url: URL, body: Buffer, aheadMs: number): void {
  const { headers } = request;
  const { accessKeyId, secretAccessKey } = testKeys;
  const now = Date.now() + aheadMs;
  const query = url.searchParams;
  const isPresigned = query.has("X-Amz-Signature");
  const authorization = /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
    headers.authorization ?? "",
  );
  const credential = (isPresigned ? query.get("X-Amz-Credential") : authorization?.[1]) ?? "";
  const signed = ((isPresigned ? query.get("X-Amz-SignedHeaders") : authorization?.[2]) ?? "").split(";");
  const signature = (isPresigned ? query.get("X-Amz-Signature") : authorization?.[3]) ?? "";
  const time = (isPresigned ? query.get("X-Amz-Date") : headers["x-amz-date"]?.toString()) ?? "";
  const [id, ...scope] = credential.split("/");
  if (id !== accessKeyId) throw new S3Error("InvalidAccessKeyId", 403);
  const at = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  const maxAgeMs = isPresigned ? Number(query.get("X-Amz-Expires")) * 1000 : MAX_SKEW_MS;
  if (!(now - at <= maxAgeMs && at - now <= MAX_SKEW_MS)) throw new S3Error(isPresigned ? "AccessDenied" : "RequestTimeTooSkewed", 403);
  const [date = "", region = "", service = "", end = ""] = scope;
  if (!time.startsWith(date) || service !== "s3" || end !== "aws4_request") throw new S3Error("AuthorizationHeaderMalformed", 400);
  const content = isPresigned ? "UNSIGNED-PAYLOAD" : (headers["x-amz-content-sha256"]?.toString() ?? "");
  if (!isPresigned && content !== sha256(body)) throw new S3Error("XAmzContentSHA256Mismatch", 400);
  if (!signed.includes("host") || Object.keys(headers).some((name) => name.startsWith("x-amz-") && !signed.includes(name)))
    throw new S3Error("AccessDenied", 403);
  const pairs = [...query].filter(([name]) => name !== "X-Amz-Signature").map(([name, value]) => `${escape(name)}=${escape(value)}`);
  const path = decodeURIComponent(url.pathname).split("/").map(escape).join("/");
  const lines = signed.map((name) => `${name}:${headers[name]?.toString().trim().replace(/ +/g, " ") ?? ""}\n`);
  const canonical = [request.method, path, pairs.sort().join("&"), lines.join(""), signed.join(";"), content].join("\n");
  const toSign = ["AWS4-HMAC-SHA256", time, scope.join("/"), sha256(canonical)].join("\n");
  const key = [region, service, end].reduce<Buffer>((bytes, scopePart) => hmac(bytes, scopePart), hmac(`AWS4${secretAccessKey}`, date));
  const expectedSignature = createHmac("sha256", key).update(toSign).digest();
  const sentSignature = Buffer.from(signature, "hex");
  if (sentSignature.length !== expectedSignature.length || !timingSafeEqual(sentSignature, expectedSignature))
    throw new S3Error("SignatureDoesNotMatch", 403);
}
