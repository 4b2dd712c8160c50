// Routes of a share for visitors without an account: files, thumbnails, workflow and password.
// Upstream errors return the same 404 as unknown shares.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { asObject, isObject } from "@/lib/contract/json/json";
import { operations } from "@/lib/contract/operations";
import { sharePasswordSchema } from "@/lib/contract/share";
import { getNetwork } from "@/lib/shared/ip-address";
import { failed, ok, type Result } from "@/lib/shared/result";
import { verifyPassword } from "../auth/passwords";
import { type RouteContext } from "../context";
import { consumeAttempt, createRateLimitFailure, getClientAddress } from "../limits/attempt-limit";
import { getSearchParams, MAX_VISITOR_BODY_BYTES, readJson } from "../requests/read-request";
import { createEmptyResponse, createJsonResponse } from "../requests/responses";
import { requestRedacted } from "../responses/process-response";
import { itemExists } from "../shares/item-source";
import {
  createUnlockCookie,
  type OpenedShare,
  openShare,
  openUnlockedShare,
  shareLocked,
  shareNotFound,
  tooManyShareRequests,
} from "../shares/open-share";
import { fetchSharedBytes } from "../shares/shared-bytes";
import { type ShareItem } from "../store/shares";
import { edges, getThumbnail } from "../thumbnails/thumbnail";
import { type Handler, publicRoute } from "./guard";

/** 20 attempts per share in 15 minutes, across all IP addresses. */
const PASSWORD_ATTEMPTS = { burst: 20, refillMs: 45_000 };
const TOO_MANY_REQUESTS = "Too many requests. Wait a moment.";

type FoundItem = { number: number; item: ShareItem; pieces: string | undefined };

function shareRoute(action: string, run: (context: RouteContext, openedShare: OpenedShare) => Promise<Result<Response, Failure>>): Handler {
  return publicRoute(action, async (context) => {
    const limitFailure = await consumeAttempt(
      context.composition.shareLimit,
      getNetwork(getClientAddress(context.request)),
      TOO_MANY_REQUESTS,
    );
    if (limitFailure) return failed(limitFailure);
    const result = await openUnlockedShare(context.composition, getShareToken(context), context.request.headers.get("cookie"));
    if (!result.ok) return result;
    const response = await run(context, result.value);
    // Visitors must not see the service's own error.
    return response.ok || response.failure === tooManyShareRequests ? response : failed(shareNotFound);
  });
}

export function shareFileRoute(): Handler {
  return shareRoute("shareFile", async (context, openedShare) => {
    const foundItem = await findItem(context, openedShare);
    if (!foundItem || foundItem.item.text !== undefined) return failed(shareNotFound);
    const isDownload = getSearchParams(context.request).has("download");
    const range = context.request.method === "GET" ? context.request.headers.get("range") : null;
    const result = await fetchSharedBytes(openedShare, foundItem, { range, signal: context.request.signal, isDownload });
    const isFromStart = range === null || range.startsWith("bytes=0-");
    if (result.ok && isDownload && isFromStart && context.request.method === "GET") await countDownload(context, openedShare);
    return result;
  });
}

export function shareThumbnailRoute(): Handler {
  return shareRoute("shareThumbnail", async (context, openedShare) => {
    const foundItem = await findItem(context, openedShare);
    const edge = edges.find((edge) => String(edge) === context.params.edge);
    if (!foundItem || !edge) return failed(shareNotFound);
    const { asset, file, hash, isFixed } = foundItem.item;
    const { signal } = context.request;
    const subject = asset === undefined ? file : { asset };
    // A cached thumbnail may outlive its file. A deleted file is not shown.
    if (!subject || !(await itemExists(openedShare.access, foundItem.item, signal))) return failed(shareNotFound);
    const thumbnailResult = await getThumbnail(openedShare.access, context.composition, {
      subject,
      edge,
      version: hash,
      isImmutable: isFixed,
      client: context.request,
    });
    if (!thumbnailResult.ok) return thumbnailResult;
    const headers = {
      "content-type": "image/webp",
      "content-length": String(thumbnailResult.value.byteLength),
      "cache-control": "private, no-store",
    };
    return ok(new Response(Buffer.from(thumbnailResult.value), { headers }));
  });
}

export function shareWorkflowRoute(): Handler {
  return shareRoute("shareWorkflow", async (context, { share, access }) => {
    if (!share.showsWorkflow || share.jobId === undefined) return failed(shareNotFound);
    const job = await requestRedacted(operations.getJob, access, { params: { job_id: share.jobId }, signal: context.request.signal });
    const workflow = job.ok ? asObject(job.value.value.workflow) : undefined;
    if (!workflow) return failed(shareNotFound);
    const prompt = isObject(workflow.prompt) ? workflow.prompt : workflow;
    const headers = new Headers({ "content-disposition": 'attachment; filename="workflow.json"', "cache-control": "private, no-store" });
    return ok(createJsonResponse(prompt, 200, headers));
  });
}

export function unlockShareRoute(): Handler {
  return publicRoute("unlockShare", async (context) => {
    const { request, composition } = context;
    const limitFailure = await consumeAttempt(composition.tokenLimit, `share ${getNetwork(getClientAddress(request))}`, TOO_MANY_REQUESTS);
    if (limitFailure) return failed(limitFailure);
    const body = await readJson(context, sharePasswordSchema, MAX_VISITOR_BODY_BYTES);
    if (!body.ok) return body;
    const openedShare = await openShare(composition, getShareToken(context));
    if (!openedShare) return failed(shareNotFound);
    const { share } = openedShare;
    if (share.passwordHash === undefined) return ok(createEmptyResponse());
    // Unauthenticated visitors are audited too. The limit per address also counts successful attempts, to cap the entries.
    context.annotateAudit({ isAlwaysWritten: true, target: share.id, connectionId: share.connectionId });
    const bucket = { name: `share password ${share.id}`, ...PASSWORD_ATTEMPTS };
    const waitMs = await composition.store.attempts.consume(bucket, composition.now());
    if (waitMs > 0) return failed(createRateLimitFailure(waitMs, TOO_MANY_REQUESTS));
    if (!(await verifyPassword(share.passwordHash, body.value.password))) return failed(shareLocked);
    await composition.store.attempts.refund(bucket);
    const response = createEmptyResponse();
    response.headers.append("set-cookie", createUnlockCookie(composition, share));
    return ok(response);
  });
}

function getShareToken({ params }: Pick<RouteContext, "params">): string {
  return typeof params.token === "string" ? params.token : "";
}

async function findItem({ params, composition }: RouteContext, { share }: OpenedShare): Promise<FoundItem | undefined> {
  if (typeof params.number !== "string" || !/^[1-9]\d{0,3}$/.test(params.number)) return undefined;
  const number = Number(params.number);
  const item = await composition.store.shares.findItem(share.id, number);
  return item && { number, ...item };
}

/** If counting fails, the file is still sent. */
async function countDownload({ composition }: RouteContext, { share }: OpenedShare): Promise<void> {
  try {
    await composition.store.shares.recordDownload(share.id);
  } catch (err) {
    composition.log.warn({ err }, "share download count failed");
  }
}
