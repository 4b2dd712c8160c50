// Processes upstream responses: masks secrets, adds names and live progress, and indexes jobs.

import "server-only";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { isObject, numberOf, objectOf, textOf } from "@/lib/contract/json/json";
import { skippedIn } from "@/lib/contract/json/readers";
import { type AnswerOf, type Operation } from "@/lib/contract/operation";
import { hasRole, type Role } from "@/lib/contract/people/roles";
import { manageBodySchema } from "@/lib/contract/schemas/job";
import { secretsInJob, secretsInWorkflow } from "@/lib/contract/secrets/secret-places";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Composition, type Target } from "../composition-type";
import { notesOf, toJobResponse } from "../job-index/job-notes";
import { type Connection } from "../store/connections";
import { type CallInput } from "../upstream/outgoing";
import { type Upstream } from "../upstream/upstream";
import { withNames } from "../workflows/names";
import { readsJobs, recordShownFiles } from "./jobs-only";
import { noteTotal, withLiveProgress } from "./live-progress";
import { redactForBrowser, withOwnAddresses } from "./redact";

/** A history page that is too large is read again with this fraction of its entries. */
const HISTORY_PAGE_DIVISOR = 5;

async function withSecretPlaces<T>(operation: Operation, from: From, value: T, body: unknown): Promise<T>;
async function withSecretPlaces({ subject }: Operation, from: From, value: unknown, body: unknown): Promise<unknown> {
  if ((subject !== "job" && subject !== "submission") || !isObject(value)) return value;
  const secretPlaces = subject === "submission" ? secretsInWorkflow(body) : secretsInJob(value);
  const isShown = secretPlaces.length > 0 && (subject === "submission" || (await isOwner(from, value.id)));
  // Adds the field only if there are places to report, and removes one that the service sent under this name.
  if (!isShown && !("held_secrets" in value)) return value;
  return { ...value, held_secrets: isShown ? secretPlaces : undefined };
}

async function isOwner({ composition, connection, viewer }: From, id: unknown): Promise<boolean> {
  const target = textOf(id);
  if (target === undefined) return false;
  const submitter = (await composition.store.audit.findFirstActors("submitPrompt", [target], connection.id)).get(target);
  return submitter ? submitter.memberId === viewer.memberId : hasRole(viewer.role, "operator");
}

type From = {
  composition: Composition;
  connection: Connection;
  apiKey: string | undefined;
  fingerprint: string | undefined;
  target: Target;
  viewer: { memberId: string; role: Role; credential: { kind: string; name?: string } };
  upstream: Pick<Upstream, "exchange" | "call">;
};
type BrowserAnswer<O extends Operation> = { status: number; value: AnswerOf<O>; skipped: number };

type Exchange<O extends Operation> = Promise<Result<{ status: number; value: AnswerOf<O> }, Failure>>;

/**
 * A page of the history that is too large is read again with fewer entries, and names where the next one begins. Programs get the
 * failure: they would take a short page for the last one.
 */
function exchangeBounded<O extends Operation>(operation: O, from: From, input: CallInput | undefined): Exchange<O>;
async function exchangeBounded(operation: Operation, { upstream, viewer }: From, input: CallInput = {}): Exchange<Operation> {
  const first = await upstream.exchange(operation, input);
  const { query } = input;
  const offset = numberOf(query?.offset) ?? 0;
  let count = numberOf(query?.max_items) ?? 0;
  if (operation.subject !== "history" || viewer.credential.kind === "token") return first;
  for (let page = first; !page.ok && page.failure.code === "UPSTREAM_TOO_LARGE" && count > 1;) {
    count = Math.max(1, Math.floor(count / HISTORY_PAGE_DIVISOR));
    page = await upstream.exchange(operation, { ...input, query: { ...query, max_items: count } });
    if (page.ok) return ok({ ...page.value, value: { ...objectOf(page.value.value), next_offset: offset + count } });
  }
  return first;
}

/**
 * All answers of services to browsers go through this function: masked, with names and live progress. Also updates the job index.
 * Members with the same rights share reads of jobs, so do not change the value.
 */
export async function callForBrowser<O extends Operation>(
  operation: O,
  from: From,
  input?: CallInput,
): Promise<Result<BrowserAnswer<O>, Failure>> {
  if (operation.reads !== "jobs") return callOnce(operation, from, input);
  const { connection, viewer, fingerprint = "" } = from;
  // Job details show the owner where secrets were. Programs get the full history.
  const person = operation.subject === "job" && [viewer.memberId, viewer.role];
  const rights = [connection.id, fingerprint, connection.seenOf !== undefined, viewer.credential.kind === "token", person];
  const { params, query, limits, waits } = input ?? {};
  const key = writeExactJson([operation.name, connection.baseUrl, rights, params, query, limits, waits]);
  const sharedRead = { key, baseUrl: connection.baseUrl, signal: input?.signal };
  return from.composition.jobAnswers.share(sharedRead, (signal) => callOnce(operation, from, { ...input, signal }));
}

async function callOnce<O extends Operation>(
  operation: O,
  from: From,
  input: CallInput | undefined,
): Promise<Result<BrowserAnswer<O>, Failure>> {
  const result = await exchangeBounded(operation, from, input);
  if (!result.ok) return failed(redactForBrowser(result.failure, from));
  const { status, value } = result.value;
  return ok({ status, value: await enriched(operation, from, value, input?.json), skipped: skippedIn(value) });
}

/** Names are added to each list response once and cached until something changes. */
async function addNames<T>(operation: Operation, from: From, value: T, body: unknown): Promise<T>;
async function addNames(operation: Operation, from: From, value: unknown, body: unknown): Promise<unknown> {
  const { jobAnswers } = from.composition;
  const isKept = (operation.subject === "jobs" || operation.subject === "history") && isObject(value);
  const namedAnswer = isKept ? jobAnswers.named(value, from.connection.baseUrl) : undefined;
  if (namedAnswer) return namedAnswer;
  const version = jobAnswers.versionOf(from.connection.baseUrl);
  const namedValue = withOwnAddresses(await withNames(operation, from, value, body), from);
  if (isKept && isObject(namedValue)) jobAnswers.keepNamed(value, version, namedValue);
  return namedValue;
}

async function enriched<T>(operation: Operation, from: From, value: T, body: unknown): Promise<T> {
  const { jobIndex, runKeys, now } = from.composition;
  const { memberId, credential } = from.viewer;
  const token = credential.kind === "token" ? credential.name : undefined;
  const { subject } = operation;
  const redactedBody = redactForBrowser(body, from);
  runKeys.record(operation, from.connection.id, value, redactedBody);
  const namedValue = await addNames(operation, from, value, body);
  // Yields, because each step takes long for a large response.
  await nextTurn();
  const placed = await withSecretPlaces(operation, from, namedValue, redactedBody);
  if (subject === "submission") noteTotal(from, textOf(objectOf(placed)?.prompt_id), objectOf(objectOf(redactedBody)?.prompt));
  const passed = withLiveProgress(operation, from, placed);
  if (readsJobs(operation)) await recordShownFiles(from.composition, from.connection, passed);
  const atMs = now();
  if (subject === "removal") forgetCleared(from, body);
  else if (subject !== undefined && subject !== "assets" && subject !== "asset" && subject !== "nodes") {
    jobIndex.see(from.connection.id, () => {
      const response = toJobResponse(subject, passed, { sent: redactedBody, memberId, token, atMs });
      return response ? runKeys.addTo(from.connection.id, notesOf(response)) : [];
    });
  }
  // The caller serializes it.
  await nextTurn();
  return passed;
}

/** A removed job may still be listed briefly, and is then indexed again. */
function forgetCleared({ composition: { jobIndex }, connection }: From, submittedBody: unknown): void {
  const body = manageBodySchema.safeParse(submittedBody);
  if (!body.success) return;
  if (body.data.clear) jobIndex.restart(connection.id);
  else jobIndex.removed(connection.id, body.data.delete ?? []);
}
