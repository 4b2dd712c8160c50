// Failures of upstream calls. Decides which ones mean that the service lacks an operation.

import "server-only";
import { ROOT_FOLDER } from "@/lib/contract/assets/file-refs";
import { type Failure, getCodeByStatus, parseFailure } from "@/lib/contract/failure";
import { isTerminalStatus, type KnownJobState, toJobState } from "@/lib/contract/jobs/job-list";
import { asText, getOwn, isObject } from "@/lib/contract/json/json";
import { isRead, type Operation, returnsBytes } from "@/lib/contract/operation";
import { operations } from "@/lib/contract/operations";
import { type UserdataFile } from "@/lib/contract/operations/files";
import { getErrorCode } from "@/lib/shared/error-codes";
import { type CallInput } from "./build-request";

export function isMissingOperationStatus(operation: Operation, status: number): boolean {
  return status === 405 || status === 501 || (status === 404 && operation.item === undefined && canBeMissing(operation));
}

/** True if the service lacks something that every service has, because of an outage or a wrong URL. */
function isMissingService(operation: Operation, status: number): boolean {
  return status === 404 && operation.item === undefined && !canBeMissing(operation);
}

/** Of the core operations, only the user may be missing, because local servers have no users. */
function canBeMissing(operation: Operation): boolean {
  return operation.tier === "extension" || operation.isLackedByLocal === true;
}

/** `uncertainItem` may belong to another user or be damaged, so only refusals of two items prove a missing operation. */
type Lookup = { operation: Operation; input: CallInput; uncertainItem?: string; matches(response: unknown): boolean };

/**
 * Returns a read that shows whether the item of a refused extension exists, in a state that the operation accepts. Undefined if there is no
 * such read. Content may be gone although its item exists.
 */
export function findLookup(operation: Operation, { params = {}, json, signal, limits }: CallInput): Lookup | undefined {
  const { item, capability } = operation;
  const sharedInput = { signal, limits };
  const jobId = params.job_id ?? (isObject(json) ? asText(json.prompt_id) : undefined);
  const { id, task_id, file } = params;
  if (capability === undefined || returnsBytes(operation)) return undefined;
  if (item === "asset" && id !== undefined)
    return { operation: operations.getAsset, input: { ...sharedInput, params: { id } }, uncertainItem: id, matches: isMutableAsset };
  if (item === "job" && jobId !== undefined) {
    const matches = isRead(operation)
      ? isObject
      : capability === "interrupt"
        ? isInState("in_progress")
        : isInState("pending", "in_progress");
    return { operation: operations.getJob, input: { ...sharedInput, params: { job_id: jobId } }, matches };
  }
  if (item === "task" && task_id !== undefined)
    return { operation: operations.getTask, input: { ...sharedInput, params: { task_id } }, matches: isRunningTask };
  if (item !== "file" || file === undefined) return undefined;
  const folder = file.slice(0, file.lastIndexOf("/") + 1);
  const query = { dir: folder || ROOT_FOLDER, recurse: false, split: false, full_info: true };
  // Some services list paths relative to the folder, others relative to the root.
  const paths = [file, file.slice(folder.length)];
  const isFile = ({ path }: UserdataFile) => paths.includes(path.replace(/^\/+/, ""));
  const matches = (response: unknown) => operations.listUserdata.responses[200].schema.safeParse(response).data?.some(isFile) ?? false;
  return { operation: operations.listUserdata, input: { ...sharedInput, query }, uncertainItem: file, matches };
}

function isMutableAsset(asset: unknown): boolean {
  return isObject(asset) && asset.is_immutable !== true;
}

function isInState(...states: readonly KnownJobState[]) {
  return (job: unknown) => isObject(job) && states.some((state) => state === toJobState(asText(job.status) ?? ""));
}

function isRunningTask(task: unknown): boolean {
  return isObject(task) && !isTerminalStatus(asText(task.status) ?? "");
}

export function createUnreachableFailure(baseUrl: string, error: unknown): Failure {
  const message = `The service at ${getHost(baseUrl)} cannot be reached${describeReason(error)}.`;
  return { code: "UPSTREAM_UNREACHABLE", message, status: 0, ...(wasNeverSent(error) && { details: { sent: false } }) };
}

export function createTimeoutFailure(baseUrl: string, limitMs: number): Failure {
  return {
    code: "UPSTREAM_TIMEOUT",
    message: `The service at ${getHost(baseUrl)} did not respond within ${Math.ceil(limitMs / 1000)} s.`,
    status: 0,
  };
}

/** True if no response arrived. A 504 from the service is a response. */
export function isUnresponsive({ code, status }: Failure): boolean {
  return code === "UPSTREAM_TIMEOUT" && status === 0;
}

export function createUnreadableFailure(baseUrl: string, status: number, reason: string): Failure {
  return { code: "UPSTREAM_UNREADABLE", message: `The server at ${getHost(baseUrl)} does not implement the API: ${reason}.`, status };
}

/** `download` is the console's path of the same response as a file, without its base path. */
export function createTooLargeFailure(baseUrl: string, download: string | undefined): Failure {
  return {
    code: "UPSTREAM_TOO_LARGE",
    message: `The response of ${getHost(baseUrl)} is too large to show.`,
    status: 200,
    ...(download !== undefined && { details: { download } }),
  };
}

export function createClientGoneFailure(): Failure {
  return { code: "CLIENT_GONE", message: "The request was cancelled.", status: 0 };
}

/** `failure` is the service's own refusal, if it was requested. */
export function createNotImplementedFailure({ capability, name }: Operation, failure?: Failure): Failure {
  const baseFailure = failure ?? { message: `This service does not have ${capability ?? name}.`, status: 501 };
  const details = failure && isObject(failure.details) ? failure.details : {};
  return { ...baseFailure, code: "NOT_IMPLEMENTED", ...(capability !== undefined && { details: { ...details, capability } }) };
}

export function createInvalidIdFailure(): Failure {
  return { code: "NOT_FOUND", message: "This id contains characters that are not allowed in a URL.", status: 404 };
}

/** Codes about the console itself. If a service sends one of them, it means something else. */
const consoleCodes = new Set(["INTERNAL", "UNAUTHORIZED", "ROLE_TOO_LOW", "FOREIGN_ORIGIN", "NO_CONNECTION", "API_KEY_MISSING"]);

/** Converts a service's refusal. A 401 is about the connection's key, and must not look like the end of the member's session. */
export function toRefusalFailure(response: Response, body: string, { operation, now }: { operation?: Operation; now: number }): Failure {
  const failure = parseFailure(response, body, now);
  const { status } = response;
  if (status === 401) return { ...failure, code: "UPSTREAM_REFUSED_KEY", message: "The service refuses the key of this connection." };
  if (status === 500 || status === 502) return { ...failure, code: "UPSTREAM_ERROR" };
  if (status === 504) return { ...failure, code: "UPSTREAM_TIMEOUT" };
  if (operation && isMissingService(operation, status)) return toUpstreamNotFound(failure);
  if (operation && isMissingOperationStatus(operation, status)) return createNotImplementedFailure(operation, failure);
  if (consoleCodes.has(failure.code) || failure.code.startsWith("UPSTREAM_")) return { ...failure, code: getCodeByStatus(failure) };
  // The input is in the body, so the query can't be wrong.
  if (failure.code === "INVALID_QUERY" && operation?.body) return { ...failure, code: "BAD_REQUEST" };
  return failure;
}

/** For a missing core operation, or a missing item if the service finds no other items either. */
export function toUpstreamNotFound(failure: Failure): Failure {
  return { ...failure, code: "UPSTREAM_NOT_FOUND" };
}

function getHost(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : "an invalid URL";
}

const reasonsByCode: Readonly<Record<string, string>> = {
  FORBIDDEN_ADDRESS: "this address is not allowed",
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "the host name is unknown",
  EAI_AGAIN: "the host name cannot be looked up now",
  ECONNRESET: "it closed the connection",
  UND_ERR_SOCKET: "it closed the connection",
  UND_ERR_CONNECT_TIMEOUT: "the connection timed out",
  EHOSTUNREACH: "the host is unreachable",
  ENETUNREACH: "the network is unreachable",
  CERT_HAS_EXPIRED: "its certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate cannot be verified",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host",
};

/** All codes except these occur before any byte of the request is sent. */
const codesDuringExchange = new Set(["ECONNRESET", "UND_ERR_SOCKET"]);

function wasNeverSent(error: unknown): boolean {
  const code = String(getErrorCode(error));
  return Object.hasOwn(reasonsByCode, code) && !codesDuringExchange.has(code);
}

function describeReason(error: unknown): string {
  const reason = getOwn(reasonsByCode, String(getErrorCode(error)));
  return reason === undefined ? "" : `: ${reason}`;
}
