// Routes of a share for visitors without an account: files, thumbnails, workflow and password. Every refusal is the same 404.

import "server-only";
import { type Failure, refusal } from "@/lib/contract/failure";
import { isObject, objectOf } from "@/lib/contract/json/json";
import { operations } from "@/lib/contract/operations";
import { sharePasswordSchema } from "@/lib/contract/share";
import { networkOf } from "@/lib/shared/ip-address";
import { failed, ok, type Result } from "@/lib/shared/result";
import { callForBrowser } from "../answers/process-response";
import { verifyPassword } from "../auth/passwords";
import { type RouteContext } from "../context";
import { clientAddress, takeAttempt } from "../limits/attempt-limit";
import { MAX_VISITOR_BODY_BYTES, readJson, searchOf } from "../requests/read-request";
import { emptyAnswer, jsonAnswer } from "../requests/responses";
import { itemExists } from "../shares/item-source";
import { enterShare, locked, noShare, type OpenedShare, openShare, tooMany, unlockedCookie } from "../shares/open-share";
import { sharedBytes } from "../shares/shared-bytes";
import { type ShareItem } from "../store/shares";
import { edges, getThumbnail } from "../thumbnails/thumbnail";
import { type Handler, unguarded } from "./guard";

/** For one share, from all addresses together: 20 within a quarter of an hour. */
const PASSWORD_ATTEMPTS = { burst: 20, refillMs: 45_000 };
const TOO_MANY = "Too many requests. Wait a moment.";

type FoundItem = { number: number; item: ShareItem; pieces: string | undefined };

function ofShare(action: string, run: (context: RouteContext, openedShare: OpenedShare) => Promise<Result<Response, Failure>>): Handler {
  return unguarded(action, async (context) => {
    const limited = await takeAttempt(context.composition.shareLimit, networkOf(clientAddress(context.request)), TOO_MANY);
    if (limited) return failed(limited);
    const result = await enterShare(context.composition, tokenOf(context), context.request.headers.get("cookie"));
    if (!result.ok) return result;
    const answer = await run(context, result.value);
    // Visitors must not see the service's own error.
    return answer.ok || answer.failure === tooMany ? answer : failed(noShare);
  });
}

export function shareFileRoute(): Handler {
  return ofShare("shareFile", async (context, openedShare) => {
    const found = await findItem(context, openedShare);
    if (!found || found.item.text !== undefined) return failed(noShare);
    const isDownload = searchOf(context.request).has("download");
    const range = context.request.method === "GET" ? context.request.headers.get("range") : null;
    const result = await sharedBytes(openedShare, found, { range, signal: context.request.signal, isDownload });
    const isBegun = range === null || range.startsWith("bytes=0-");
    if (result.ok && isDownload && isBegun && context.request.method === "GET") await count(context, openedShare, "downloaded");
    return result;
  });
}

export function shareThumbnailRoute(): Handler {
  return ofShare("shareThumbnail", async (context, openedShare) => {
    const found = await findItem(context, openedShare);
    const edge = edges.find((edge) => String(edge) === context.params.edge);
    if (!found || !edge) return failed(noShare);
    const { asset, file, hash, isFixed } = found.item;
    const { signal } = context.request;
    const subject = asset === undefined ? file : { asset };
    // A thumbnail may outlive its file in the cache: a deleted file is not shown.
    if (!subject || !(await itemExists(openedShare.access, found.item, signal))) return failed(noShare);
    const thumbnailResult = await getThumbnail(openedShare.access, context.composition, {
      subject,
      edge,
      version: hash,
      isFixed,
      asker: context.request,
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

/** Secrets are masked in it for everyone. */
export function shareWorkflowRoute(): Handler {
  return ofShare("shareWorkflow", async (context, { share, access }) => {
    if (!share.showsWorkflow || share.jobId === undefined) return failed(noShare);
    const job = await callForBrowser(operations.getJob, access, { params: { job_id: share.jobId }, signal: context.request.signal });
    const workflow = job.ok ? objectOf(job.value.value.workflow) : undefined;
    if (!workflow) return failed(noShare);
    const prompt = isObject(workflow.prompt) ? workflow.prompt : workflow;
    const headers = new Headers({ "content-disposition": 'attachment; filename="workflow.json"', "cache-control": "private, no-store" });
    return ok(jsonAnswer(prompt, 200, headers));
  });
}

export function unlockShareRoute(): Handler {
  return unguarded("unlockShare", async (context) => {
    const { request, composition } = context;
    const limited = await takeAttempt(composition.tokenLimit, `share ${networkOf(clientAddress(request))}`, TOO_MANY);
    if (limited) return failed(limited);
    const body = await readJson(context, sharePasswordSchema, MAX_VISITOR_BODY_BYTES);
    if (!body.ok) return body;
    const openedShare = await openShare(composition, tokenOf(context));
    if (!openedShare) return failed(noShare);
    const { share } = openedShare;
    if (share.passwordHash === undefined) return ok(emptyAnswer());
    // Logged, because the visitor is unknown; the number of attempts is limited.
    context.annotateAudit({ isWritten: true, target: share.id, connectionId: share.connectionId });
    const bucket = { name: `share password ${share.id}`, ...PASSWORD_ATTEMPTS };
    if ((await composition.store.attempts.take(bucket, composition.now())) > 0) return failed(refusal("RATE_LIMITED", TOO_MANY));
    if (!(await verifyPassword(share.passwordHash, body.value.password))) return failed(locked);
    const response = emptyAnswer();
    response.headers.append("set-cookie", unlockedCookie(composition, share));
    return ok(response);
  });
}

function tokenOf({ params }: Pick<RouteContext, "params">): string {
  return typeof params.token === "string" ? params.token : "";
}

async function findItem({ params, composition }: RouteContext, { share }: OpenedShare): Promise<FoundItem | undefined> {
  if (typeof params.number !== "string" || !/^[1-9]\d{0,3}$/.test(params.number)) return undefined;
  const number = Number(params.number);
  const item = await composition.store.shares.item(share.id, number);
  return item && { number, ...item };
}

/** If counting fails, the file is still sent. */
async function count({ composition }: RouteContext, { share }: OpenedShare, event: "viewed" | "downloaded"): Promise<void> {
  try {
    await composition.store.shares[event](share.id);
  } catch (err) {
    composition.log.warn({ err }, "share view count failed");
  }
}
