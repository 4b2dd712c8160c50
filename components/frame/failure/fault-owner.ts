import { type useTranslations } from "next-intl";
import { type ErrorCode, type Failure, getCodeByStatus, type QUEUE_FULL } from "@/lib/contract/failure";

type FaultOwner = "us" | "service" | "key" | "network" | "request" | "rights";
/** Failures that occur only in the browser. */
type BrowserCode = "CONSOLE_UNREACHABLE" | "ABORTED" | "FILE_UNREADABLE";
type FaultCode = ErrorCode | BrowserCode | typeof QUEUE_FULL | "UNKNOWN";
type FailureFacts = Pick<Failure, "code"> & Partial<Pick<Failure, "message" | "status">>;

/** Who caused a failure. Exhaustive, so that a new code doesn't compile without an entry. */
export const faultOwners: Readonly<Record<FaultCode, FaultOwner>> = {
  UNKNOWN: "service",
  CONSOLE_UNREACHABLE: "network",
  ABORTED: "network",
  FILE_UNREADABLE: "request",
  BAD_REQUEST: "request",
  INVALID_QUERY: "request",
  INVALID_BODY: "request",
  INVALID_JSON: "request",
  INVALID_HASH: "request",
  INVALID_IMAGE: "request",
  INVALID_TAG_FILTER: "request",
  INVALID_PREVIEW_ID: "request",
  MISSING_FILE: "request",
  TRUNCATED_UPLOAD: "network",
  UNSUPPORTED_SOURCE: "request",
  UNAUTHORIZED: "rights",
  PAYMENT_REQUIRED: "key",
  FORBIDDEN: "key",
  FOREIGN_ORIGIN: "us",
  JOBS_ONLY: "rights",
  ROLE_TOO_LOW: "rights",
  OWNER_PROTECTED: "rights",
  OWN_MEMBERSHIP: "rights",
  ROLE_FROM_GROUPS: "rights",
  SUSPENDED: "rights",
  PASSWORD_SIGN_IN_OFF: "rights",
  SIGN_IN_AGAIN: "rights",
  READ_ONLY: "rights",
  NOT_FOUND: "request",
  METHOD_NOT_ALLOWED: "service",
  REQUEST_TIMEOUT: "network",
  CONFLICT: "request",
  API_KEY_MISSING: "key",
  NO_CONNECTION: "us",
  ASSET_ID_UNAVAILABLE: "request",
  PRECONDITION_FAILED: "request",
  FILE_TOO_LARGE: "request",
  STORAGE_QUOTA_EXCEEDED: "request",
  UNSUPPORTED_MEDIA_TYPE: "request",
  RANGE_NOT_SATISFIABLE: "request",
  UNPROCESSABLE: "request",
  RATE_LIMITED: "service",
  INTERNAL: "us",
  NOT_IMPLEMENTED: "service",
  UPSTREAM_UNREACHABLE: "service",
  UPSTREAM_UNREADABLE: "service",
  UPSTREAM_TOO_LARGE: "service",
  UPSTREAM_REFUSED_KEY: "key",
  UPSTREAM_NOT_FOUND: "service",
  QUEUE_FULL: "service",
  UPSTREAM_ERROR: "service",
  SERVICE_UNAVAILABLE: "service",
  UPSTREAM_TIMEOUT: "service",
  INSUFFICIENT_STORAGE: "service",
};

export function toFaultCode({ code, message = "", status = 0 }: FailureFacts): FaultCode {
  if (isFaultCode(code) || status === 0) return isFaultCode(code) ? code : "UNKNOWN";
  const byStatus = getCodeByStatus({ code, message, status });
  return isFaultCode(byStatus) ? byStatus : "UNKNOWN";
}

function isFaultCode(code: string): code is FaultCode {
  return Object.hasOwn(faultOwners, code);
}

/** One line where a whole notice doesn't fit: the failure and the service's own message. */
export function failureText(t: ReturnType<typeof useTranslations<"errors">>, failure: FailureFacts): string {
  const title = t(`${toFaultCode(failure)}.title`);
  return failure.message ? `${title}. ${t("reason", { message: failure.message })}` : title;
}

/** The form field that a refusal is about. The console's message starts with the field's name. */
export function findInvalidField<Name extends string>({ status, message }: Failure, names: readonly Name[]): Name | undefined {
  if (status !== 400) return undefined;
  const fieldName = /^(\w+)(?:\.\w+)*:\s*\S/.exec(message)?.[1];
  return names.find((name) => name === fieldName);
}
