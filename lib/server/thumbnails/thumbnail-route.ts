// GET /api/console/thumbnail: a WebP of one of four edges, or a 404, for which the page draws its placeholder. Content that is no picture,
// or has no preview, is a 204: an <img> shows no picture either way, the browser logs nothing, and does not ask again. What an outage
// prevented is a 5xx, which is not cached, so it is requested again.

import "server-only";
import { createHash } from "node:crypto";
import { z } from "zod";
import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { failed, ok, type Result } from "@/lib/shared/result";
import { jobsOnly, refusalOfFile } from "../answers/pass-on";
import { toBrowser } from "../answers/to-browser";
import { guarded, type Handler } from "../bff/guard";
import { readQuery, searchOf } from "../bff/read-request";
import { type Composition } from "../composition-type";
import { type Access, openForJobs } from "../connections/access";
import { fullPicture } from "./full-picture";
import { headersIfTooLarge, noPicture, noPreview } from "./not-shown";
import { thumbnailFits } from "./resize";
import { edges, getThumbnail } from "./thumbnail";

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
  return guarded({ action: "thumbnail", role: "viewer", connection: true }, async ({ request, viewer, console }) => {
    const search = searchOf(request);
    const named = search.get(CONNECTION_PARAMETER) ?? undefined;
    const access = await openForJobs(viewer, named);
    if (!access.ok) return access;
    const query = search.has("asset") ? readQuery(search, assetQuery) : readQuery(search, fileQuery);
    if (!query.ok) return query;
    const { seenOf } = access.value.connection;
    if (seenOf !== undefined && search.has("asset")) return failed(jobsOnly(seenOf));
    const wanted = search.has("asset") ? assetQuery.parse(query.value) : fileQuery.parse(query.value);
    const { edge: size, fit: wantedFit, whole: isWhole, ...subject } = wanted;
    // Checked here, because a cached thumbnail is answered without asking the service.
    const refused = "filename" in subject ? await refusalOfFile(access.value.connection, subject) : undefined;
    if (refused) return failed(refused);
    if ("filename" in subject && isWhole) return emptyIfTooLarge(await fullPicture(access.value, subject, request), access.value);
    const kept = "version" in wanted ? wanted.version : undefined;
    // A content-addressed file never changes, nor does an asset of one version; anything else may get another picture.
    const isFixed = "filename" in wanted ? /^[0-9a-f]{64}\b/.test(wanted.filename) : kept !== undefined;
    const asked = { subject, edge: size, fit: wantedFit, version: kept, isFixed, asker: request };
    return thumbnailAnswer(access.value, console, asked, named !== undefined && isFixed);
  });
}

function emptyIfTooLarge(answer: Result<Response, Failure>, access: Access): Result<Response, Failure> {
  if (answer.ok) return answer;
  const headers = headersIfTooLarge(answer.failure);
  if (!headers) return failed(toBrowser(answer.failure, access));
  return ok(new Response(null, { status: 204, headers: { "cache-control": "private, no-cache", ...headers } }));
}

/** `isKept`: the address names everything that the picture depends on. */
export async function thumbnailAnswer(
  access: Access,
  console: Composition,
  asked: Parameters<typeof getThumbnail>[2],
  isKept: boolean,
): Promise<Result<Response, Failure>> {
  const thumbnail = await getThumbnail(access, console, asked);
  const keptFor = (seconds: number) => (isKept ? `private, max-age=${seconds}, immutable` : "private, no-cache");
  const tooLarge = thumbnail.ok ? undefined : headersIfTooLarge(thumbnail.failure);
  if (!thumbnail.ok && (tooLarge || thumbnail.failure === noPicture || thumbnail.failure === noPreview)) {
    // One day: a later console may read more kinds of pictures.
    const caching = thumbnail.failure === noPreview ? "private, no-cache" : keptFor(86_400);
    return ok(new Response(null, { status: 204, headers: { "cache-control": caching, ...tooLarge } }));
  }
  if (!thumbnail.ok) return failed(toBrowser(thumbnail.failure, access));
  const etag = `"${createHash("sha256").update(thumbnail.value).digest("base64url").slice(0, 27)}"`;
  const headers = { etag, "cache-control": keptFor(31_536_000), "content-type": "image/webp" };
  if (isNamedIn(asked.asker.headers.get("if-none-match") ?? "", etag)) return ok(new Response(null, { status: 304, headers }));
  return ok(new Response(Buffer.from(thumbnail.value), { headers: { ...headers, "content-length": String(thumbnail.value.byteLength) } }));
}

/** A proxy that compresses answers makes the ETag weak. */
function isNamedIn(list: string, etag: string): boolean {
  return list.split(",").some((one) => one.trim().replace(/^W\//, "") === etag);
}
