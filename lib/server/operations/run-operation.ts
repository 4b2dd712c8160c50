// Runs an operation of the service API: calls the connection's service with the member's key.

import "server-only";
import { type AuditTarget, formatTargets } from "@/lib/contract/audit/audit-items";
import { RAW_PARAMETER } from "@/lib/contract/console";
import { createBodyPromptError, createFailure, type Failure } from "@/lib/contract/failure";
import { copySpellings } from "@/lib/contract/json/exact-json";
import { asObject, asText, isObject } from "@/lib/contract/json/json";
import { looksLikeToken } from "@/lib/contract/members/sign-in";
import { isRead, type Operation, returnsBytes } from "@/lib/contract/operation";
import { operations } from "@/lib/contract/operations";
import { maskText } from "@/lib/contract/secrets/secret-texts";
import { LABEL_HEADER, parseLabel } from "@/lib/contract/workflow/submission";
import { formatNamelessWorkflow, getNameInExtraData } from "@/lib/contract/workflow/workflow-name";
import { failed, ok, type Result } from "@/lib/shared/result";
import { toByteStream } from "@/lib/shared/web-stream";
import { type Access, openForOperation } from "../connections/access";
import { type AuthedContext } from "../context";
import { getConnectionParam, getSearchParams, readJson, readOperationQuery } from "../requests/read-request";
import {
  createBytesResponse,
  createEmptyResponse,
  createFileResponse,
  createJsonBytesResponse,
  createJsonResponse,
  createRangeFailureResponse,
  createSharedJsonResponse,
  createUnreadableHeaders,
  pickRequestHeaders,
} from "../requests/responses";
import { subscribeToLiveOutputs } from "../responses/live-progress";
import { maskJsonStream } from "../responses/mask-stream";
import { readCatalogue } from "../responses/node-classes";
import { requestRedacted } from "../responses/process-response";
import { redactForApi, redactForBrowser } from "../responses/redact";
import { type CallInput, type UploadBody } from "../upstream/build-request";
import { type AuditTargets, getRequestTargets, getResponseTargets, toOutcome } from "./audit-targets";

const MAX_NAME_LENGTH = 100;

/** `getStreamError` returns why the stream ended early, if it did. */
type CountedUpload = { body: UploadBody; getStreamError(): "client-disconnected" | "truncated" | undefined };

function openUpload(request: Request, operation: Operation): Result<CountedUpload, Failure> {
  const contentType = request.headers.get("content-type") ?? "";
  if (operation.body?.kind === "multipart" && !/^multipart\/form-data\s*;.*boundary=/i.test(contentType)) {
    return failed(createFailure("UNSUPPORTED_MEDIA_TYPE", "The body must be multipart/form-data."));
  }
  const lengthHeader = request.headers.get("content-length");
  const contentLength =
    lengthHeader !== null && /^\d+$/.test(lengthHeader) ? Math.min(Number(lengthHeader), Number.MAX_SAFE_INTEGER) : undefined;
  if (request.body === null && operation.body?.kind === "multipart") return failed(createFailure("MISSING_FILE", "The upload is empty."));
  let streamError: "client-disconnected" | "truncated" | undefined;
  const reader = (request.body ?? new Blob([]).stream()).getReader();
  let receivedBytes = 0;
  let isAbandoned = false;
  // Reads only on demand, because the sender may wait for a response before sending the body.
  const stream = toByteStream(
    async () => {
      const readResult = await reader.read().catch((error: unknown) => {
        streamError = "client-disconnected";
        throw error;
      });
      receivedBytes += readResult.value?.byteLength ?? 0;
      // If the reader has stopped, an early end is not the sender's fault.
      if (!readResult.done || isAbandoned || contentLength === undefined || receivedBytes === contentLength) return readResult;
      streamError = "truncated";
      throw new Error(`the upload ended after ${receivedBytes} of ${contentLength} bytes`);
    },
    (reason) => {
      isAbandoned = true;
      return reader.cancel(reason);
    },
  );
  const type = operation.body?.kind === "octets" ? "application/octet-stream" : contentType;
  return ok({ body: { stream, contentType: type, contentLength }, getStreamError: () => streamError });
}

export async function runOperation(
  operation: Operation,
  context: AuthedContext,
  params: Result<Record<string, string>, Failure>,
): Promise<Result<Response, Failure>> {
  const search = getSearchParams(context.request);
  const query = readOperationQuery(search, operation);
  // Checked first, so that a member without a connection gets that error and not one about the body.
  const access = await openForOperation(context, getConnectionParam(context.request), operation);
  if (!access.ok) return access;
  if (!params.ok) return params;
  if (!query.ok) return query;
  context.annotateAudit({ connectionId: access.value.connection.id, target: Object.values(params.value).join("/") || undefined });
  const input = { params: params.value, query: query.value, signal: context.request.signal };
  if (returnsBytes(operation)) return forwardBytes(operation, context, access.value, input);
  if (search.has(RAW_PARAMETER) && operation.method === "GET") return sendRaw(operation, access.value, input);
  if (operation.name === operations.getObjectInfo.name) return sendCatalogue(access.value, input);
  if (operation.body?.kind === "multipart" || operation.body?.kind === "octets") return uploadFile(operation, context, access.value, input);
  if (operation.body?.kind !== "json") return callService(operation, context, access.value, { ...input, waiter: "poll" });
  const json = await readJson(context, operation.body.schema);
  if (!json.ok) {
    const { failure } = json;
    return operation.bodyRefusal && failure.status === 400 ? failed({ ...failure, promptError: createBodyPromptError(failure) }) : json;
  }
  const isSubmission = operation.subject === "submission";
  if (isSubmission) subscribeToLiveOutputs(access.value);
  const body = isSubmission ? removeTokens(json.value) : json.value;
  return callService(operation, context, access.value, { ...input, json: body });
}

/** Sends a response of any size as a file: masked, but not parsed. */
async function sendRaw(operation: Operation, access: Access, input: CallInput): Promise<Result<Response, Failure>> {
  const result = await access.upstream.forward(operation, input);
  if (!result.ok) return failed(redactForBrowser(result.failure, access));
  const { body } = result.value;
  const name = [operation.name, ...Object.values(input.params ?? {})].join("-").replaceAll(/[^\w.-]+/g, "_");
  return ok(createFileResponse(body && maskJsonStream(body, access.apiKey), `${name.slice(0, MAX_NAME_LENGTH)}.json`));
}

/** Sends the stored JSON text without parsing it. */
async function sendCatalogue(access: Access, input: CallInput): Promise<Result<Response, Failure>> {
  const catalogue = await readCatalogue(access, { ...input, waiter: "poll" });
  return catalogue.ok ? ok(createJsonBytesResponse(catalogue.value.json)) : catalogue;
}

async function callService(
  operation: Operation,
  context: AuthedContext,
  access: Access,
  input: CallInput,
): Promise<Result<Response, Failure>> {
  const requestTargets = isRead(operation) ? { targets: [] } : await getRequestTargets(operation, access, input);
  context.annotateAudit({ outcome: formatTargets(requestTargets.targets, undefined, requestTargets) });
  const result = await requestRedacted(operation, access, input);
  if (!result.ok) return result;
  const { status, value, skipped } = result.value;
  // The audit entry of a submission names its job, which identifies the submitter in lists.
  const jobId = operation.subject === "submission" ? asText(asObject(value)?.prompt_id) : undefined;
  const auditTargets: AuditTargets =
    jobId === undefined
      ? getResponseTargets(requestTargets, value, access)
      : { targets: [await toSubmittedTarget(jobId, context, access, input.json)] };
  context.annotateAudit({
    outcome: formatTargets(auditTargets.targets, toOutcome(value), auditTargets),
    ...(jobId !== undefined && { target: jobId }),
  });
  if (value === undefined) return ok(createEmptyResponse(status === 204 ? 204 : 200));
  // Returns only the path of a written or moved file, unless the client requests more.
  const path = input.query?.full_info === false ? asText(asObject(value)?.path) : undefined;
  const responseValue = toResponseValue(path ?? value, context, access);
  const headers = createUnreadableHeaders(skipped);
  const isShared = operation.reads === "jobs" && typeof responseValue === "object" && responseValue !== null;
  return ok(isShared ? createSharedJsonResponse(responseValue, status, headers) : createJsonResponse(responseValue, status, headers));
}

function toResponseValue(value: unknown, { composition: { env }, request, viewer }: AuthedContext, { connection }: Access): unknown {
  if (viewer.credential.kind !== "token") return value;
  const host = request.headers.get("host");
  return redactForApi(value, { env, requestOrigin: host && `http://${host}`, connectionId: connection.id });
}

/** Uses the name that lists will show: the workflow's last known name and the label of the request. */
async function toSubmittedTarget(id: string, { request, composition }: AuthedContext, access: Access, json: unknown): Promise<AuditTarget> {
  const label = parseLabel(request.headers.get(LABEL_HEADER));
  const extraData = asObject(json)?.extra_data;
  const workflowId = asText(asObject(asObject(asObject(extraData)?.extra_pnginfo)?.workflow)?.id);
  const storedName = workflowId === undefined ? undefined : await findWorkflowName(workflowId, composition, access);
  const workflow = getNameInExtraData(extraData) || (workflowId && (storedName ?? formatNamelessWorkflow(workflowId)));
  const name = [workflow, label].filter(Boolean).join(" · ");
  return redactForBrowser({ id, ...(name && { name: maskText(name) }) }, access);
}

async function findWorkflowName(
  workflowId: string,
  { log, store }: AuthedContext["composition"],
  { connection }: Access,
): Promise<string | undefined> {
  try {
    return (await store.workflowNames.list(connection.id, [workflowId])).get(workflowId);
  } catch (err) {
    // The job is already accepted, and a failure now would invite a second submission.
    log.error({ err, connectionId: connection.id }, "workflow name read failed");
    return undefined;
  }
}

async function uploadFile(
  operation: Operation,
  context: AuthedContext,
  access: Access,
  input: CallInput,
): Promise<Result<Response, Failure>> {
  const uploadResult = openUpload(context.request, operation);
  if (!uploadResult.ok) return uploadResult;
  const result = await callService(operation, context, access, { ...input, body: uploadResult.value.body });
  const streamError = result.ok ? undefined : uploadResult.value.getStreamError();
  if (streamError === "truncated") return failed(createFailure("TRUNCATED_UPLOAD", "The upload ended before its announced length."));
  if (streamError === "client-disconnected") return failed({ code: "CLIENT_GONE", message: "The upload was cancelled.", status: 0 });
  return result;
}

async function forwardBytes(
  operation: Operation,
  context: AuthedContext,
  access: Access,
  input: CallInput,
): Promise<Result<Response, Failure>> {
  const result = await access.upstream.forward(operation, { ...input, headers: pickRequestHeaders(context.request) });
  if (!result.ok) return failed(redactForBrowser(result.failure, access));
  return ok(
    result.value.status === 416 ? await createRangeFailureResponse(result.value, context.requestId) : createBytesResponse(result.value),
  );
}

/**
 * Clients also send their key next to the graph, for nodes that call other services with it. A console token must not reach a service,
 * and the stored key does not replace it, because a graph could send it elsewhere.
 */
function removeTokens<T>(body: T): T {
  if (!isObject(body) || !isObject(body.extra_data)) return body;
  const nonSecrets = Object.entries(body.extra_data).filter(([, value]) => typeof value !== "string" || !looksLikeToken(value.trim()));
  return { ...body, extra_data: copySpellings(body.extra_data, Object.fromEntries(nonSecrets)) };
}
