// Routes of thumbnails, user data files and downloads.

import "server-only";
import { randomUUID } from "node:crypto";
import sharp from "sharp";
import { z } from "zod";
import { maskAddress } from "@/lib/contract/assets/file-refs";
import { RAW_PARAMETER } from "@/lib/contract/console";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { parseJson } from "@/lib/contract/json/parse-json";
import { countSkipped } from "@/lib/contract/json/readers";
import { type Operation } from "@/lib/contract/operation";
import { operations } from "@/lib/contract/operations";
import { decodePercent } from "@/lib/contract/plain-line";
import { downloadBodySchema, taskStartedSchema } from "@/lib/contract/schemas/asset";
import { ImageTooLargeError, MAX_DECODE_PIXELS, requireDecodable, withImage } from "@/lib/shared/decode-image";
import { readImageSize } from "@/lib/shared/image-size";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Access, findConnection, openForJobs } from "../connections/access";
import { type AuthedContext } from "../context";
import { listFiles } from "../operations/list-files";
import { runOperation } from "../operations/run-operation";
import { getConnectionParam, getSearchParams, readBody, readQuery } from "../requests/read-request";
import { createBytesResponse, createJsonResponse, createUnreadableHeaders } from "../requests/responses";
import { checkJobsOnlyFile } from "../responses/jobs-only";
import { redactForBrowser } from "../responses/redact";
import { sealRequest } from "../tasks/sealed-request";
import { createTooLargeFailure, getTooLargeHeaders, previewNotFound } from "../thumbnails/open-image";
import { thumbnailFits } from "../thumbnails/resize";
import { createThumbnailResponse, edges } from "../thumbnails/thumbnail";
import { readBytes, splitHead } from "../upstream/streams";
import { guardedRoute, type Handler } from "./guard";
import { bffRoute } from "./routes";

const HEAD_BYTES = 64 * 1024;
const MAX_CONVERSION_BYTES = 64 * 1024 ** 2;
const MAX_CONVERSION_SECONDS = 30;

type FileQuery = { filename: string; subfolder: string; type: string };
type ImageCheck = { tooLarge: { width: number; height: number } } | "unchanged" | "convert" | "convert-if-rotated";

async function fetchFullImage(access: Access, file: FileQuery, { headers, signal }: Request): Promise<Result<Response, Failure>> {
  const etag = headers.get("if-none-match");
  const result = await access.upstream.forward(operations.view, {
    query: file,
    signal,
    headers: etag === null ? {} : { "if-none-match": etag },
  });
  if (!result.ok || result.value.status !== 200 || !result.value.body) return result.ok ? ok(createBytesResponse(result.value)) : result;
  const { head, rest } = await splitHead(result.value.body, HEAD_BYTES, { signal });
  const check = await checkImage(Buffer.from(head));
  if (typeof check === "object") {
    await rest.cancel();
    return { ok: false, failure: createTooLargeFailure(check.tooLarge) };
  }
  const length = Number(result.value.headers.get("content-length") ?? 0);
  if (check === "unchanged" || length > MAX_CONVERSION_BYTES)
    return ok(createBytesResponse(new Response(rest, { headers: result.value.headers })));
  const bytes = await readBytes(rest, MAX_CONVERSION_BYTES, { signal });
  const convertedBytes = bytes && (await convertImage(bytes, check));
  if (!convertedBytes) return { ok: false, failure: previewNotFound };
  const type = convertedBytes === bytes ? (result.value.headers.get("content-type") ?? "") : "image/webp";
  return ok(
    createBytesResponse(
      new Response(Buffer.from(convertedBytes), { headers: { "content-type": type, "content-length": String(convertedBytes.length) } }),
    ),
  );
}

const EXIF_FLAG = 0x08;
const ANIMATION_FLAG = 0x02;

/** Browsers apply a JPEG's orientation, but not always that of other formats. Most can't show TIFF. */
async function checkImage(head: Buffer): Promise<ImageCheck> {
  try {
    const { format, orientation = 1, pages = 1 } = await requireDecodable(head);
    if (format === "tiff" || (format !== "jpeg" && pages === 1 && orientation > 1)) return "convert";
  } catch (error) {
    if (error instanceof ImageTooLargeError && error.size) return { tooLarge: error.size };
    // The headers of some formats can only be read from the complete file.
    const size = await readImageSize(head);
    if (size && size.width * size.height > MAX_DECODE_PIXELS) return { tooLarge: size };
  }
  // A WebP stores its orientation after its pixels.
  const flags = head.toString("latin1", 8, 16) === "WEBPVP8X" ? (head[20] ?? 0) : 0;
  return (flags & (EXIF_FLAG | ANIMATION_FLAG)) === EXIF_FLAG ? "convert-if-rotated" : "unchanged";
}

/** Returns the same bytes if nothing needs to change, or undefined if they are unreadable. */
async function convertImage(bytes: Uint8Array, change: "convert" | "convert-if-rotated"): Promise<Uint8Array | undefined> {
  try {
    return await withImage(bytes, async ({ orientation = 1 }) => {
      if (orientation === 1 && change === "convert-if-rotated") return bytes;
      return sharp(bytes, { limitInputPixels: MAX_DECODE_PIXELS })
        .timeout({ seconds: MAX_CONVERSION_SECONDS })
        .autoOrient()
        .webp({ quality: 95, effort: 0 })
        .toBuffer();
    });
  } catch {
    return undefined;
  }
}

const edgeSchema = z.coerce.number().pipe(z.literal(edges)).default(256);
/** Identifies the image's content, for example by its hash. An image never changes within one version. */
const versionSchema = z.string().min(1).max(300).optional();
const fitSchema = z.enum(thumbnailFits).optional();
const trueSchema = z.literal("true").optional();
const assetQuerySchema = z.object({
  edge: edgeSchema,
  fit: fitSchema,
  whole: z.undefined().optional(),
  version: versionSchema,
  asset: z.string().min(1).max(200),
});
const fileQuerySchema = z.object({
  edge: edgeSchema,
  fit: fitSchema,
  whole: trueSchema,
  filename: z.string().min(1).max(1000),
  subfolder: z.string().max(500).default(""),
  type: z.string().max(50).default("output"),
});

export function thumbnailRoute(): Handler {
  return guardedRoute({ action: "thumbnail", role: "viewer", needsConnection: true }, async ({ request, ...context }) => {
    const search = getSearchParams(request);
    const connectionId = getConnectionParam(request);
    const access = await openForJobs(context, connectionId);
    if (!access.ok) return access;
    const query = search.has("asset") ? readQuery(search, assetQuerySchema) : readQuery(search, fileQuerySchema);
    if (!query.ok) return query;
    const thumbnailQuery = search.has("asset") ? assetQuerySchema.parse(query.value) : fileQuerySchema.parse(query.value);
    const { edge, fit, whole: isFullImage, ...subject } = thumbnailQuery;
    // Checked here, because a cached thumbnail is returned without a request to the service.
    const failure = await checkJobsOnlyFile(context.composition, access.value.connection, subject);
    if (failure) return failed(failure);
    if ("filename" in subject && isFullImage) return emptyIfTooLarge(await fetchFullImage(access.value, subject, request), access.value);
    const version = "version" in thumbnailQuery ? thumbnailQuery.version : undefined;
    // A content-addressed file never changes. Neither does one version of an asset.
    const isImmutable = "filename" in thumbnailQuery ? /^[0-9a-f]{64}\b/.test(thumbnailQuery.filename) : version !== undefined;
    const thumbnailRequest = { subject, edge, fit, version, isImmutable, client: request };
    return createThumbnailResponse(access.value, context.composition, thumbnailRequest, connectionId !== undefined && isImmutable);
  });
}

function emptyIfTooLarge(result: Result<Response, Failure>, access: Access): Result<Response, Failure> {
  if (result.ok) return result;
  const headers = getTooLargeHeaders(result.failure);
  if (!headers) return failed(redactForBrowser(result.failure, access));
  return ok(new Response(null, { status: 204, headers: { "cache-control": "private, no-cache", ...headers } }));
}

const MAX_PATH_LENGTH = 2000;
const USERDATA_PREFIX = "/api/userdata/";

export function userdataRoute(operation: Operation): Handler {
  return bffRoute(operation, {
    readParams: ({ request }) => {
      const file = decodePath(getRawSegments(request.url));
      return file.ok ? ok({ file: file.value }) : file;
    },
  });
}

export function userdataListRoute(): Handler {
  const { name: action, role } = operations.listUserdata;
  return guardedRoute({ action, role, needsConnection: true }, async (context) => {
    const search = getSearchParams(context.request);
    if (search.has(RAW_PARAMETER)) return runOperation(operations.listUserdata, context, ok({}));
    const files = await listFiles(context, search, context.request.signal);
    return files.ok ? ok(createJsonResponse(files.value, 200, createUnreadableHeaders(countSkipped(files.value)))) : files;
  });
}

export function userdataPostRoute(): Handler {
  const { writeUserdata, moveUserdata } = operations;
  return guardedRoute({ action: writeUserdata.name, role: writeUserdata.role, needsConnection: true }, (context) => {
    const segments = getRawSegments(context.request.url);
    const isMove = segments.length === 3 && segments[1] === "move";
    const file = decodePath(isMove ? segments.slice(0, 1) : segments);
    const dest = isMove ? decodePath(segments.slice(2)) : undefined;
    if (!file.ok) return runOperation(writeUserdata, context, file);
    if (dest === undefined) return runOperation(writeUserdata, context, ok({ file: file.value }));
    return runOperation(moveUserdata, context, dest.ok ? ok({ file: file.value, dest: dest.value }) : dest);
  });
}

function getRawSegments(url: string): string[] {
  const path = url.split(/[?#]/)[0] ?? "";
  const start = path.indexOf(USERDATA_PREFIX);
  return start < 0 ? [] : path.slice(start + USERDATA_PREFIX.length).split("/");
}

function decodePath(segments: readonly string[]): Result<string, Failure> {
  const path = decodePercent(segments.join("/"));
  if (path === undefined) return failed(createFailure("BAD_REQUEST", "The path is not percent-encoded correctly."));
  const reason = findPathProblem(path);
  if (reason !== undefined) return failed(createFailure("FORBIDDEN", `This path is not allowed. ${reason}`));
  return ok(path);
}

function findPathProblem(path: string): string | undefined {
  const names = path.split("/");
  if (names.includes("")) return "It contains an empty name.";
  if (names.includes(".") || names.includes("..")) return '"." and ".." are not names.';
  if (path.length > MAX_PATH_LENGTH) return `It is longer than ${MAX_PATH_LENGTH} characters.`;
  if (path.includes("\\")) return "It contains a backslash.";
  return /[\u0000-\u001f\u007f]/.test(path) ? "It contains a control character." : undefined;
}

export function downloadRoute(): Handler {
  const { downloadAsset } = operations;
  return guardedRoute({ action: downloadAsset.name, role: downloadAsset.role, needsConnection: true }, async (context) => {
    const rawBody = await readBody(context);
    if (!rawBody.ok) return rawBody;
    const { url, headers, signal } = context.request;
    const request = new Request(url, { method: "POST", headers, signal, body: rawBody.value });
    const result = await runOperation(downloadAsset, { ...context, request }, ok({}));
    if (!result.ok || result.value.status !== 202) return result;
    try {
      await storeDownload(context, parseJson(new TextDecoder().decode(rawBody.value)), await result.value.clone().json());
    } catch (err) {
      context.composition.log.error({ err, requestId: context.requestId }, "download task write failed");
    }
    return result;
  });
}

async function storeDownload({ request, ...context }: AuthedContext, submittedBody: unknown, response: unknown): Promise<void> {
  const body = downloadBodySchema.parse(submittedBody);
  const { task_id: taskId, status } = taskStartedSchema.parse(response);
  const connection = await findConnection(context, getConnectionParam(request));
  if (!connection.ok) return;
  const id = randomUUID();
  await context.composition.store.downloadTasks.add({
    id,
    connectionId: connection.value.id,
    memberId: context.viewer.memberId,
    taskId,
    source: maskAddress(body.source_url),
    sealed: sealRequest(context.composition.keyRing, id, body),
    word: status.slice(0, 100),
    now: context.composition.now(),
  });
}
