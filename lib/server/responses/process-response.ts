// Processes upstream responses: masks secrets, adds names and live progress, and indexes jobs.

import "server-only";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { asNumber, asObject, asText, isObject } from "@/lib/contract/json/json";
import { countSkipped } from "@/lib/contract/json/readers";
import { hasRole, type Role } from "@/lib/contract/members/roles";
import { type Operation, type ResponseOf } from "@/lib/contract/operation";
import { manageBodySchema } from "@/lib/contract/schemas/job";
import { findJobSecrets, findWorkflowSecrets } from "@/lib/contract/secrets/secret-locations";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Composition, type Target } from "../composition-type";
import { toJobResponse, toJobUpdates } from "../job-index/job-updates";
import { type Connection } from "../store/connections";
import { type CallInput } from "../upstream/build-request";
import { type Upstream } from "../upstream/upstream";
import { addWorkflowNames } from "../workflows/add-workflow-names";
import { isJobRead, recordShownFiles } from "./jobs-only";
import { addLiveProgress, recordTotal } from "./live-progress";
import { redactForBrowser, replaceServiceUrls } from "./redact";

/** If a history page is too large, its number of entries is divided by this before the retry. */
const HISTORY_PAGE_DIVISOR = 5;

async function addSecretPaths<T>(operation: Operation, source: CallSource, value: T, body: unknown): Promise<T>;
async function addSecretPaths({ subject }: Operation, source: CallSource, value: unknown, body: unknown): Promise<unknown> {
  if ((subject !== "job" && subject !== "submission") || !isObject(value)) return value;
  const secretPaths = subject === "submission" ? findWorkflowSecrets(body) : findJobSecrets(value);
  const canShow = secretPaths.length > 0 && (subject === "submission" || (await canSeeSecretPaths(source, value.id)));
  // The field is added only with paths to report, and removed if the service sent one with this name.
  if (!canShow && !("held_secrets" in value)) return value;
  return { ...value, held_secrets: canShow ? secretPaths : undefined };
}

/** Only the submitter sees a job's secret paths, or operators if the submitter is unknown. */
export async function canSeeSecretPaths(
  { composition, connection, viewer }: Pick<CallSource, "composition" | "connection" | "viewer">,
  jobId: unknown,
): Promise<boolean> {
  const id = asText(jobId);
  if (id === undefined) return false;
  const submitter = (await composition.store.audit.findFirstActors("submitPrompt", [id], connection.id)).get(id);
  return submitter ? submitter.memberId === viewer.memberId : hasRole(viewer.role, "operator");
}

type CallSource = {
  composition: Composition;
  connection: Connection;
  apiKey: string | undefined;
  fingerprint: string | undefined;
  target: Target;
  viewer: { memberId: string; role: Role; credential: { kind: string; name?: string } };
  upstream: Pick<Upstream, "exchange" | "call">;
};
type BrowserResponse<O extends Operation> = { status: number; value: ResponseOf<O>; skipped: number };

type ExchangeResult<O extends Operation> = Promise<Result<{ status: number; value: ResponseOf<O> }, Failure>>;

/**
 * Retries a history page that is too large with fewer entries, and adds the offset of the next page. API clients get the failure,
 * because they would treat a short page as the last one.
 */
function exchangeBounded<O extends Operation>(operation: O, source: CallSource, input: CallInput | undefined): ExchangeResult<O>;
async function exchangeBounded(operation: Operation, { upstream, viewer }: CallSource, input: CallInput = {}): ExchangeResult<Operation> {
  const firstPage = await upstream.exchange(operation, input);
  const { query } = input;
  const offset = asNumber(query?.offset) ?? 0;
  let count = asNumber(query?.max_items) ?? 0;
  if (operation.subject !== "history" || viewer.credential.kind === "token") return firstPage;
  for (let page = firstPage; !page.ok && page.failure.code === "UPSTREAM_TOO_LARGE" && count > 1;) {
    count = Math.max(1, Math.floor(count / HISTORY_PAGE_DIVISOR));
    page = await upstream.exchange(operation, { ...input, query: { ...query, max_items: count } });
    if (page.ok) return ok({ ...page.value, value: { ...asObject(page.value.value), next_offset: offset + count } });
  }
  return firstPage;
}

/**
 * Processes every service response that a browser receives: masks it, adds names and live progress, and updates the job index.
 * Members with the same rights share the response, so it must not be mutated.
 */
export async function requestRedacted<O extends Operation>(
  operation: O,
  source: CallSource,
  input?: CallInput,
): Promise<Result<BrowserResponse<O>, Failure>> {
  if (operation.reads !== "jobs") return callOnce(operation, source, input);
  const { connection, viewer, fingerprint = "" } = source;
  const { params, query, limits, waiter } = input ?? {};
  const canSeePaths = operation.subject === "job" && (await canSeeSecretPaths(source, params?.job_id));
  // API clients get the full history.
  const rights = [connection.id, fingerprint, connection.seenOf !== undefined, viewer.credential.kind === "token", canSeePaths];
  const key = writeExactJson([operation.name, connection.baseUrl, rights, params, query, limits, waiter]);
  const sharedRead = { key, baseUrl: connection.baseUrl, signal: input?.signal };
  return source.composition.jobResponses.share(sharedRead, (signal) => callOnce(operation, source, { ...input, signal }));
}

async function callOnce<O extends Operation>(
  operation: O,
  source: CallSource,
  input: CallInput | undefined,
): Promise<Result<BrowserResponse<O>, Failure>> {
  const result = await exchangeBounded(operation, source, input);
  if (!result.ok) return failed(redactForBrowser(result.failure, source));
  const { status, value } = result.value;
  return ok({ status, value: await enrichResponse(operation, source, value, input?.json), skipped: countSkipped(value) });
}

/** Names are added to each list response once and cached until something changes. */
async function addNames<T>(operation: Operation, source: CallSource, value: T, body: unknown): Promise<T>;
async function addNames(operation: Operation, source: CallSource, value: unknown, body: unknown): Promise<unknown> {
  const { jobResponses } = source.composition;
  const isCacheable = (operation.subject === "jobs" || operation.subject === "history") && isObject(value);
  const cachedValue = isCacheable ? jobResponses.getNamed(value, source.connection.baseUrl) : undefined;
  if (cachedValue) return cachedValue;
  const version = jobResponses.getVersion(source.connection.baseUrl);
  const namedValue = replaceServiceUrls(await addWorkflowNames(operation, source, value, body), source);
  if (isCacheable && isObject(namedValue)) jobResponses.setNamed(value, version, namedValue);
  return namedValue;
}

async function enrichResponse<T>(operation: Operation, source: CallSource, value: T, body: unknown): Promise<T> {
  const { jobIndex, runKeys, now } = source.composition;
  const { memberId, credential } = source.viewer;
  const token = credential.kind === "token" ? credential.name : undefined;
  const { subject } = operation;
  const redactedBody = redactForBrowser(body, source);
  runKeys.record(operation, source.connection.id, value, redactedBody);
  const namedValue = await addNames(operation, source, value, body);
  // Yields, because each step takes long for a large response.
  await yieldToEventLoop();
  const valueWithPaths = await addSecretPaths(operation, source, namedValue, redactedBody);
  if (subject === "submission") recordTotal(source, asText(asObject(valueWithPaths)?.prompt_id), asObject(asObject(redactedBody)?.prompt));
  const valueWithProgress = addLiveProgress(operation, source, valueWithPaths);
  if (isJobRead(operation)) await recordShownFiles(source.composition, source.connection, valueWithProgress);
  const atMs = now();
  if (subject === "removal") removeClearedJobs(source, body);
  else if (subject !== undefined && subject !== "assets" && subject !== "asset" && subject !== "nodes") {
    jobIndex.record(source.connection.id, () => {
      const response = toJobResponse(subject, valueWithProgress, { requestBody: redactedBody, memberId, token, atMs });
      return response ? runKeys.addRunKeys(source.connection.id, toJobUpdates(response)) : [];
    });
  }
  // Yields again before the caller serializes the response.
  await yieldToEventLoop();
  return valueWithProgress;
}

/** A removed job may still be listed briefly, and is then indexed again. */
function removeClearedJobs({ composition: { jobIndex }, connection }: CallSource, submittedBody: unknown): void {
  const body = manageBodySchema.safeParse(submittedBody);
  if (!body.success) return;
  if (body.data.clear) jobIndex.restart(connection.id);
  else jobIndex.remove(connection.id, body.data.delete ?? []);
}
