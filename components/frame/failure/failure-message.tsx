import { useSearchParams } from "next/navigation";
import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { Button, buttonStyle } from "@/components/ui/controls/button";
import { FailureNotice } from "@/components/ui/empty-state";
import { ButtonLink, usePathname } from "@/components/ui/link";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { type ErrorCode, type Failure, getCodeByStatus, type QUEUE_FULL } from "@/lib/contract/failure";
import { asText, isObject } from "@/lib/contract/json/json";
import { truncateText } from "@/lib/contract/plain-line";
import { useConnectionParam } from "../connection/connection-context";
import { useIsSessionWatched } from "../session-watch";

type FailureMessageProps = {
  failure: Pick<Failure, "code" | "message"> & Partial<Failure>;
  onRetry?: () => void;
  /** The attempted action. By default, the title of the failure is shown. */
  title?: string;
  /** Further actions, after "Try again". */
  actions?: ReactNode;
  className?: string;
};

/** A failure message: the problem, its owner and the remedy, followed by the original message. */
export function FailureMessage({ failure, title, onRetry, actions, className }: FailureMessageProps) {
  const t = useTranslations("errors");
  const common = useTranslations("common");
  const code = toFailureCode(failure);
  const isSessionWatched = useIsSessionWatched();
  // The page's banner already reports the ended session, except for failed actions.
  if (code === "UNAUTHORIZED" && isSessionWatched && onRetry) return null;
  const reason = failure.message ? t("reason", { message: failure.message }) : undefined;
  const downloadPath = code === "UPSTREAM_TOO_LARGE" && isObject(failure.details) ? asText(failure.details.download) : undefined;
  const details = downloadPath === undefined ? formatDetails(failure.details) : undefined;
  const waitMs = failure.retryAfterMs ?? 0;
  const waitText = waitMs > 0 ? t("wait", { seconds: Math.ceil(waitMs / 1000) }) : undefined;
  const requestText = failure.requestId ? `${common("requestId")} ${failure.requestId}` : undefined;
  const remedy = title === undefined ? t(`${code}.next`) : common("because", { title: t(`${code}.title`), next: t(`${code}.next`) });
  return (
    <FailureNotice
      title={title ?? t(`${code}.title`)}
      cause={t("at", { owner: t(`owner.${failureOwners[code]}`) })}
      remedy={[remedy, waitText].filter(Boolean).join(" ")}
      detail={[reason, details, requestText].filter(Boolean).join(" · ") || undefined}
      className={className}
      actions={
        <>
          {onRetry ? <Button onClick={onRetry}>{common("retry")}</Button> : null}
          {downloadPath?.startsWith("/api/") ? (
            <a href={apiPath(`/api/${downloadPath.slice("/api/".length)}`)} download className={buttonStyle()}>
              {common("downloadAnswer")}
            </a>
          ) : (
            <RemedyLink code={code} />
          )}
          {actions}
        </>
      }
    />
  );
}

const MAX_DETAILS_LENGTH = 300;

/** Details of the failure, such as the wrong fields, on one line. */
function formatDetails(details: unknown): string | undefined {
  return truncateText(formatDetail(details, 0), MAX_DETAILS_LENGTH) || undefined;
}

function formatDetail(value: unknown, depth: number): string {
  if (typeof value === "string" || typeof value === "number") return String(value);
  if (depth > 2) return "";
  if (Array.isArray(value))
    return value
      .slice(0, 20)
      .map((item) => formatDetail(item, depth + 1))
      .filter(Boolean)
      .join("; ");
  if (!isObject(value)) return "";
  const fieldPath = value.path ?? value.field;
  if (typeof fieldPath === "string" && typeof value.message === "string")
    return fieldPath ? `${fieldPath}: ${value.message}` : value.message;
  return Object.entries(value)
    .slice(0, 20)
    .flatMap(([name, item]) => {
      const itemText = formatDetail(item, depth + 1);
      return itemText ? [`${name}: ${itemText}`] : [];
    })
    .join(", ");
}

function RemedyLink({ code }: { code: string }) {
  const t = useTranslations("errors");
  const pathname = usePathname();
  const search = useSearchParams()?.toString();
  const connection = useConnectionParam();
  if (code === "UNAUTHORIZED") {
    const returnPath = pathname && pathname !== "/sign-in" ? `${pathname}${search ? `?${search}` : ""}` : undefined;
    return <LinkButton href={withQuery("/sign-in", { callbackUrl: returnPath })} label={t("signIn")} />;
  }
  const isFixedInSettings = code === "NO_CONNECTION" || code === "API_KEY_MISSING" || code.startsWith("UPSTREAM_");
  return isFixedInSettings ? <LinkButton href={withQuery("/settings", { connection })} label={t("openSettings")} /> : null;
}

function LinkButton({ href, label }: { href: string; label: string }) {
  return <ButtonLink href={href}>{label}</ButtonLink>;
}

type FailureOwner = "us" | "service" | "key" | "network" | "request" | "rights";
/** Failures that occur only in the browser. */
type BrowserCode = "CONSOLE_UNREACHABLE" | "ABORTED" | "FILE_UNREADABLE";
type FailureCode = ErrorCode | BrowserCode | typeof QUEUE_FULL | "UNKNOWN";
type FailureFields = Pick<Failure, "code"> & Partial<Pick<Failure, "message" | "status">>;

/** The party responsible for each failure. Exhaustive, so that a new code does not compile without an entry. */
export const failureOwners: Readonly<Record<FailureCode, FailureOwner>> = {
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
  OUTCOME_UNKNOWN: "us",
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

export function toFailureCode({ code, message = "", status = 0 }: FailureFields): FailureCode {
  if (isFailureCode(code) || status === 0) return isFailureCode(code) ? code : "UNKNOWN";
  const codeByStatus = getCodeByStatus({ code, message, status });
  return isFailureCode(codeByStatus) ? codeByStatus : "UNKNOWN";
}

function isFailureCode(code: string): code is FailureCode {
  return Object.hasOwn(failureOwners, code);
}

/** Formats a failure as one line, with the service's message. For use where a notice does not fit. */
export function formatFailure(t: ReturnType<typeof useTranslations<"errors">>, failure: FailureFields): string {
  const title = t(`${toFailureCode(failure)}.title`);
  return failure.message ? `${title}. ${t("reason", { message: failure.message })}` : title;
}

/** Returns the form field that the console rejected. Its message starts with the field's name. */
export function findInvalidField<Name extends string>({ status, message }: Failure, names: readonly Name[]): Name | undefined {
  if (status !== 400) return undefined;
  const fieldName = /^(\w+)(?:\.\w+)*:\s*\S/.exec(message)?.[1];
  return names.find((name) => name === fieldName);
}
