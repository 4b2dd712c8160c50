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
import { clientAddress } from "../limits/attempt-limit";
import { MAX_VISITOR_BODY_BYTES, readJson, searchOf } from "../requests/read-request";
import { emptyAnswer, jsonAnswer } from "../requests/responses";
import { isThere } from "../shares/item-source";
import { enterShare, locked, noShare, type OpenedShare, openShare, tooMany, unlockedCookie } from "../shares/open-share";
import { sharedBytes } from "../shares/shared-bytes";
import { type ShareItem } from "../store/shares";
import { edges, getThumbnail } from "../thumbnails/thumbnail";
import { type Handler, unguarded } from "./guard";

const noMore: Failure = refusal("RATE_LIMITED", "Too many requests. Wait a moment.");

type Found = { number: number; item: ShareItem; pieces: string | undefined };

function ofShare(action: string, run: (asked: RouteContext, opened: OpenedShare) => Promise<Result<Response, Failure>>): Handler {
  return unguarded(action, async (asked) => {
    const waitMs = await asked.composition.shareLimit.take(networkOf(clientAddress(asked.request)));
    if (waitMs > 0) return failed({ ...noMore, retryAfterMs: waitMs });
    const opened = await enterShare(asked.composition, tokenOf(asked), asked.request.headers.get("cookie"));
    if (!opened.ok) return opened;
    const answer = await run(asked, opened.value);
    // A stranger does not learn which of the service's refusals it was.
    return answer.ok || answer.failure === tooMany ? answer : failed(noShare);
  });
}

export function shareFileRoute(): Handler {
  return ofShare("shareFile", async (asked, opened) => {
    const found = await findItem(asked, opened);
    if (!found || found.item.text !== undefined) return failed(noShare);
    const isDownload = searchOf(asked.request).has("download");
    const range = asked.request.method === "GET" ? asked.request.headers.get("range") : null;
    const answer = await sharedBytes(opened, found, { range, signal: asked.request.signal, isDownload });
    const isBegun = range === null || range.startsWith("bytes=0-");
    if (answer.ok && isDownload && isBegun && asked.request.method === "GET") await count(asked, opened, "downloaded");
    return answer;
  });
}

export function shareThumbnailRoute(): Handler {
  return ofShare("shareThumbnail", async (asked, opened) => {
    const found = await findItem(asked, opened);
    const edge = edges.find((one) => String(one) === asked.params.edge);
    if (!found || !edge) return failed(noShare);
    const { asset, file, hash, isFixed } = found.item;
    const { signal } = asked.request;
    const subject = asset === undefined ? file : { asset };
    // A thumbnail may outlive its file in the cache: a deleted file is not shown.
    if (!subject || !(await isThere(opened.access, found.item, signal))) return failed(noShare);
    const made = await getThumbnail(opened.access, asked.composition, { subject, edge, version: hash, isFixed, asker: asked.request });
    if (!made.ok) return made;
    const headers = { "content-type": "image/webp", "content-length": String(made.value.byteLength), "cache-control": "private, no-store" };
    return ok(new Response(Buffer.from(made.value), { headers }));
  });
}

/** Secrets are masked in it for everyone. */
export function shareWorkflowRoute(): Handler {
  return ofShare("shareWorkflow", async (asked, { share, access }) => {
    if (!share.showsWorkflow || share.jobId === undefined) return failed(noShare);
    const job = await callForBrowser(operations.getJob, access, { params: { job_id: share.jobId }, signal: asked.request.signal });
    const workflow = job.ok ? objectOf(job.value.value.workflow) : undefined;
    if (!workflow) return failed(noShare);
    const prompt = isObject(workflow.prompt) ? workflow.prompt : workflow;
    const headers = new Headers({ "content-disposition": 'attachment; filename="workflow.json"', "cache-control": "private, no-store" });
    return ok(jsonAnswer(prompt, 200, headers));
  });
}

export function unlockShareRoute(): Handler {
  return unguarded("unlockShare", async (asked) => {
    const { request, composition } = asked;
    const waitMs = await composition.tokenLimit.take(`share ${networkOf(clientAddress(request))}`);
    if (waitMs > 0) return failed({ ...noMore, retryAfterMs: waitMs });
    const body = await readJson(asked, sharePasswordSchema, MAX_VISITOR_BODY_BYTES);
    if (!body.ok) return body;
    const opened = await openShare(composition, tokenOf(asked));
    if (!opened) return failed(noShare);
    const { share } = opened;
    if (share.passwordHash === undefined) return ok(emptyAnswer());
    // Logged, because the visitor is unknown; the number of attempts is limited.
    asked.annotateAudit({ isWritten: true, target: share.id, connectionId: share.connectionId });
    if (!(await composition.store.shares.takeAttempt(share.id, composition.now()))) return failed(noMore);
    if (!(await verifyPassword(share.passwordHash, body.value.password))) return failed(locked);
    const answer = emptyAnswer();
    answer.headers.append("set-cookie", unlockedCookie(composition, share));
    return ok(answer);
  });
}

function tokenOf({ params }: Pick<RouteContext, "params">): string {
  return typeof params.token === "string" ? params.token : "";
}

async function findItem({ params, composition }: RouteContext, { share }: OpenedShare): Promise<Found | undefined> {
  if (typeof params.number !== "string" || !/^[1-9]\d{0,3}$/.test(params.number)) return undefined;
  const number = Number(params.number);
  const found = await composition.store.shares.item(share.id, number);
  return found && { number, ...found };
}

/** If counting fails, the file is still sent. */
async function count({ composition }: RouteContext, { share }: OpenedShare, what: "viewed" | "downloaded"): Promise<void> {
  try {
    await composition.store.shares[what](share.id);
  } catch (err) {
    composition.log.warn({ err }, "an opened share was not counted");
  }
}
