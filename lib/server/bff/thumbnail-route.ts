// The route for thumbnails, and for full images that a browser can't display itself.

import "server-only";
import sharp from "sharp";
import { z } from "zod";
import { type Failure } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { decodableHeader, ImageTooLarge, MAX_DECODE_PIXELS, withImage } from "@/lib/shared/decode-image";
import { pictureSizeOf } from "@/lib/shared/picture-size";
import { failed, ok, type Result } from "@/lib/shared/result";
import { refusalOfFile } from "../answers/jobs-only";
import { toBrowser } from "../answers/to-browser";
import { type Access, openForJobs } from "../connections/access";
import { connectionIn, readQuery, searchOf } from "../requests/read-request";
import { bytesAnswer } from "../requests/responses";
import { headersIfTooLarge, nothing, tooLargeToShow } from "../thumbnails/open-picture";
import { thumbnailFits } from "../thumbnails/resize";
import { edges, thumbnailAnswer } from "../thumbnails/thumbnail";
import { readBytes } from "../upstream/streams";
import { guarded, type Handler } from "./guard";

const HEAD_BYTES = 64 * 1024;
const MAX_BYTES = 64 * 1024 ** 2;
const MAX_SECONDS = 30;

type File = { filename: string; subfolder: string; type: string };
type Judged = { tooLarge: { width: number; height: number } } | "as it is" | "redrawn" | "redrawn if turned";

async function fullPicture(access: Access, file: File, { headers, signal }: Request): Promise<Result<Response, Failure>> {
  const etag = headers.get("if-none-match");
  const opened = await access.upstream.forward(operations.view, {
    query: file,
    signal,
    headers: etag === null ? {} : { "if-none-match": etag },
  });
  if (!opened.ok || opened.value.status !== 200 || !opened.value.body) return opened.ok ? ok(bytesAnswer(opened.value)) : opened;
  const reader = opened.value.body.getReader();
  const head = await readHead(reader);
  const judged = await judge(head);
  const rest = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new Uint8Array(head)),
    async pull(controller) {
      const next = await reader.read();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  if (typeof judged === "object") {
    await rest.cancel();
    return { ok: false, failure: tooLargeToShow(judged.tooLarge) };
  }
  const length = Number(opened.value.headers.get("content-length") ?? 0);
  if (judged === "as it is" || length > MAX_BYTES) return ok(bytesAnswer(new Response(rest, { headers: opened.value.headers })));
  const bytes = await readBytes(rest, MAX_BYTES, { signal });
  const drawn = bytes && (await redrawn(bytes, judged));
  if (!drawn) return { ok: false, failure: nothing };
  const type = drawn === bytes ? (opened.value.headers.get("content-type") ?? "") : "image/webp";
  return ok(bytesAnswer(new Response(Buffer.from(drawn), { headers: { "content-type": type, "content-length": String(drawn.length) } })));
}

async function readHead(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for (let length = 0; length < HEAD_BYTES;) {
    const next = await reader.read();
    if (next.done) break;
    parts.push(next.value);
    length += next.value.byteLength;
  }
  return Buffer.concat(parts);
}

const HAS_EXIF = 0x08;
const IS_ANIMATED = 0x02;

/** Browsers apply a JPEG's orientation, but not all of them that of other formats. None shows TIFF. */
async function judge(head: Buffer): Promise<Judged> {
  try {
    const { format, orientation = 1, pages = 1 } = await decodableHeader(head);
    if (format === "tiff" || (format !== "jpeg" && pages === 1 && orientation > 1)) return "redrawn";
  } catch (error) {
    if (error instanceof ImageTooLarge && error.size) return { tooLarge: error.size };
    // Some formats' headers can only be read with the whole file.
    const size = await pictureSizeOf(head);
    if (size && size.width * size.height > MAX_DECODE_PIXELS) return { tooLarge: size };
  }
  // A WebP stores its orientation after its pixels.
  const flags = head.toString("latin1", 8, 16) === "WEBPVP8X" ? (head[20] ?? 0) : 0;
  return (flags & (HAS_EXIF | IS_ANIMATED)) === HAS_EXIF ? "redrawn if turned" : "as it is";
}

/** Returns the same bytes if nothing needs to change. Undefined if they are unreadable. */
async function redrawn(bytes: Uint8Array, judged: "redrawn" | "redrawn if turned"): Promise<Uint8Array | undefined> {
  try {
    return await withImage(bytes, async ({ orientation = 1 }) => {
      if (orientation === 1 && judged === "redrawn if turned") return bytes;
      return sharp(bytes, { limitInputPixels: MAX_DECODE_PIXELS })
        .timeout({ seconds: MAX_SECONDS })
        .autoOrient()
        .webp({ quality: 95, effort: 0 })
        .toBuffer();
    });
  } catch {
    return undefined;
  }
}

const edge = z.coerce.number().pipe(z.literal(edges)).default(256);
/** Identifies the picture's state as the page knows it (content hash, preview): under one version it never changes. */
const version = z.string().min(1).max(300).optional();
const fit = z.enum(thumbnailFits).optional();
/** The full-size picture, for a page. */
const whole = z.literal("true").optional();
const assetQuery = z.object({ edge, fit, whole: z.undefined().optional(), version, asset: z.string().min(1).max(200) });
const fileQuery = z.object({
  edge,
  fit,
  whole,
  filename: z.string().min(1).max(1000),
  subfolder: z.string().max(500).default(""),
  type: z.string().max(50).default("output"),
});

export function thumbnailRoute(): Handler {
  return guarded({ action: "thumbnail", role: "viewer", connection: true }, async ({ request, ...context }) => {
    const search = searchOf(request);
    const named = connectionIn(request);
    const access = await openForJobs(context, named);
    if (!access.ok) return access;
    const query = search.has("asset") ? readQuery(search, assetQuery) : readQuery(search, fileQuery);
    if (!query.ok) return query;
    const wanted = search.has("asset") ? assetQuery.parse(query.value) : fileQuery.parse(query.value);
    const { edge: size, fit: wantedFit, whole: isWhole, ...subject } = wanted;
    // Checked here, because a cached thumbnail is answered without asking the service.
    const refused = await refusalOfFile(context.composition, access.value.connection, subject);
    if (refused) return failed(refused);
    if ("filename" in subject && isWhole) return emptyIfTooLarge(await fullPicture(access.value, subject, request), access.value);
    const kept = "version" in wanted ? wanted.version : undefined;
    // A content-addressed file never changes, nor does an asset of one version; anything else may get another picture.
    const isFixed = "filename" in wanted ? /^[0-9a-f]{64}\b/.test(wanted.filename) : kept !== undefined;
    const asked = { subject, edge: size, fit: wantedFit, version: kept, isFixed, asker: request };
    return thumbnailAnswer(access.value, context.composition, asked, named !== undefined && isFixed);
  });
}

function emptyIfTooLarge(answer: Result<Response, Failure>, access: Access): Result<Response, Failure> {
  if (answer.ok) return answer;
  const headers = headersIfTooLarge(answer.failure);
  if (!headers) return failed(toBrowser(answer.failure, access));
  return ok(new Response(null, { status: 204, headers: { "cache-control": "private, no-cache", ...headers } }));
}
