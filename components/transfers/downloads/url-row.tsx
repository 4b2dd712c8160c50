import { useTranslations } from "next-intl";
import { useCallback, useEffect, useEffectEvent, useMemo, useRef, useState } from "react";
import { formatFailure } from "@/components/frame/failure/failure-message";
import { Picture } from "@/components/ui/pictures/picture";
import { FileName } from "@/components/ui/truncated";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { withQuery } from "@/lib/browser/urls";
import { maskAddress } from "@/lib/contract/assets/file-refs";
import { isLoopback } from "@/lib/contract/connections";
import { isNotFound } from "@/lib/contract/failure";
import { filter, list, number, object, oneOf, type Reader, text } from "@/lib/contract/json/readers";
import { type Result } from "@/lib/shared/result";
import { formatBytes } from "@/lib/shared/text";

type UrlRowProps = {
  entry: UrlEntry;
  check?: SourceCheck;
  refusal?: string;
  locale: string;
  onRetry: (url: string) => void;
};

/** Shows a URL's file, or why it can't be downloaded. Never shows the query, which may contain a token. */
export function UrlRow({ entry, check, refusal, locale, onRetry }: UrlRowProps) {
  const facts = check?.kind === "known" ? check.facts : undefined;
  return (
    <div className="flex gap-3">
      {facts?.picture ? <RemotePreview picture={facts.picture} name={facts.name ?? entry.displayUrl} /> : null}
      <div className="min-w-0 flex-1">
        <p className="truncate" title={entry.displayUrl}>
          <FileName name={facts?.name ?? entry.displayUrl} />
        </p>
        {facts?.name ? <p className="truncate text-sm text-ink-3">{entry.displayUrl}</p> : null}
        {refusal ? (
          <p className="text-sm text-bad">{refusal}</p>
        ) : (
          <CheckResult entry={entry} check={check} locale={locale} onRetry={onRetry} />
        )}
      </div>
    </div>
  );
}

function RemotePreview({ picture, name }: { picture: string; name: string }) {
  const t = useTranslations("uploads.url");
  return <Picture src={picture} alt={t("picture", { name })} width={56} height={56} eager fit="cover" className="size-14 shrink-0" />;
}

function CheckResult({ entry, check, locale, onRetry }: UrlRowProps) {
  const t = useTranslations("uploads.url");
  const errors = useTranslations("errors");
  if (entry.problem) return <p className="text-sm text-bad">{t(`fault.${entry.problem}`)}</p>;
  if (!check || check.kind === "asking") return <p className="text-sm text-ink-3">{t("asking")}</p>;
  if (check.kind === "unsupported") return <p className="text-sm text-ink-3">{t("notAsked")}</p>;
  if (check.kind === "refused") {
    return (
      <p className="text-sm text-bad">
        {t("refused", { reason: formatFailure(errors, check.failure) })} {/* Forbidden hosts can't be retried. */}
        {check.failure.code === "UNSUPPORTED_SOURCE" ? null : (
          <button
            type="button"
            aria-label={`${t("again")}: ${entry.displayUrl}`}
            className="text-ink underline underline-offset-2"
            onClick={() => onRetry(entry.url)}
          >
            {t("again")}
          </button>
        )}
      </p>
    );
  }
  const { sizeBytes, errors: errorMessages, warnings } = check.facts;
  return (
    <>
      <p className="text-sm text-ink-2">{sizeBytes === undefined ? t("unknownSize") : formatBytes(sizeBytes, locale)}</p>
      {errorMessages.map((message) => (
        <p key={message} className="text-sm text-bad">
          {t("refused", { reason: message })}
        </p>
      ))}
      {warnings.map((message) => (
        <p key={message} className="text-sm text-wait">
          {t("warning", { message })}
        </p>
      ))}
    </>
  );
}

/** Delay between typing and checking. */
const DEBOUNCE_MS = 400;
const MAX_CONCURRENT_CHECKS = 3;

type UrlChecks = { checks: ReadonlyMap<string, SourceCheck>; retryCheck: (url: string) => void };

/** Requests the service's metadata for each URL, once per URL while the dialog is open. */
export function useUrlChecks(entries: readonly UrlEntry[], connection: string | undefined): UrlChecks {
  const [checks, setChecks] = useState<ReadonlyMap<string, SourceCheck>>(new Map());
  const [retryCount, setRetryCount] = useState(0);
  const requestedUrls = useRef(new Set<string>());
  const isUnsupported = useRef(false);
  const validUrls = useMemo(() => entries.filter(({ problem }) => problem === undefined).map(({ url }) => url), [entries]);
  const storeCheck = (url: string, check: SourceCheck) => setChecks((current) => new Map(current).set(url, check));

  const requestChecks = useEffectEvent((signal: AbortSignal) => {
    const pendingUrls = validUrls.filter((url) => !requestedUrls.current.has(url));
    const runWorker = async () => {
      for (let url = pendingUrls.shift(); url !== undefined && !signal.aborted; url = pendingUrls.shift()) {
        if (isUnsupported.current) {
          storeCheck(url, { kind: "unsupported" });
          continue;
        }
        requestedUrls.current.add(url);
        storeCheck(url, { kind: "asking" });
        const result = await callApi<unknown>(withQuery("/api/assets/remote-metadata", { url, connection }), {
          signal,
          cache: "no-store",
        });
        if (signal.aborted) {
          requestedUrls.current.delete(url);
          return;
        }
        const check = toCheck(result);
        isUnsupported.current ||= check.kind === "unsupported";
        storeCheck(url, check);
      }
    };
    for (let worker = 0; worker < MAX_CONCURRENT_CHECKS; worker++) void runWorker();
  });
  useEffect(() => {
    const controller = new AbortController();
    const timer = setTimeout(() => requestChecks(controller.signal), DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [validUrls, retryCount]);
  const retryCheck = useCallback((url: string) => {
    requestedUrls.current.delete(url);
    setChecks((current) => new Map(current).set(url, { kind: "asking" }));
    setRetryCount((current) => current + 1);
  }, []);
  return { checks, retryCheck };
}

// The service's metadata for a URL. Only previews in data URLs are shown, so that the browser contacts no other host.

const MAX_MESSAGES = 5;

type SourceFacts = { name?: string; sizeBytes?: number; picture?: string; errors: string[]; warnings: string[] };
type SourceCheck =
  { kind: "asking" } | { kind: "known"; facts: SourceFacts } | { kind: "refused"; failure: ApiFailure } | { kind: "unsupported" };

const messageOrCode = object({}, { message: text, code: text });
const readMessage: Reader<string> = (body) => text(body) ?? messageOrCode(body)?.message ?? messageOrCode(body)?.code;
const readMetadata = object(
  {},
  {
    name: text,
    filename: text,
    content_length: filter(number, (size) => size >= 0),
    preview_image: filter(text, (value) => /^data:image\/(png|jpeg|webp|gif|avif);/i.test(value)),
    validation: object({}, { is_valid: oneOf([true, false]), errors: list(readMessage), warnings: list(readMessage) }),
  },
);

export function toCheck(result: Result<unknown, ApiFailure>): SourceCheck {
  if (result.ok) return { kind: "known", facts: toFacts(result.value) };
  return isNotFound(result.failure) ? { kind: "unsupported" } : { kind: "refused", failure: result.failure };
}

function toFacts(response: unknown): SourceFacts {
  const { name, filename, content_length: sizeBytes, preview_image: picture, validation } = readMetadata(response) ?? {};
  return {
    name: name ?? filename,
    ...(sizeBytes !== undefined && { sizeBytes }),
    ...(picture !== undefined && { picture }),
    errors: validation?.is_valid === false ? (validation.errors?.slice(0, MAX_MESSAGES) ?? []) : [],
    warnings: validation?.warnings?.slice(0, MAX_MESSAGES) ?? [],
  };
}

// Parses typed URLs, one per line. The service validates them again.

type UrlProblem = "none" | "scheme" | "host" | "credentials" | "long" | "twice";
/** `displayUrl` omits the query, which may contain a token. */
export type UrlEntry = { url: string; displayUrl: string; problem?: UrlProblem };

export const MAX_URLS = 100;
const MAX_URL_LENGTH = 4_000;

export function parseUrlEntries(text: string): { entries: UrlEntry[]; isTruncated: boolean } {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const seenUrls = new Set<string>();
  const entries = lines.slice(0, MAX_URLS).map((url): UrlEntry => {
    const problem = seenUrls.has(url) ? "twice" : findUrlProblem(url);
    seenUrls.add(url);
    return { url, displayUrl: maskAddress(url).slice(0, 300), ...(problem && { problem }) };
  });
  return { entries, isTruncated: lines.length > MAX_URLS };
}

function findUrlProblem(text: string): UrlProblem | undefined {
  if (text.length > MAX_URL_LENGTH) return "long";
  if (!URL.canParse(text)) return "none";
  const { protocol, hostname, username, password } = new URL(text);
  if (hostname === "") return protocol === "http:" || protocol === "https:" ? "host" : "scheme";
  if (username !== "" || password !== "") return "credentials";
  // A service may allow local sources, so it decides about loopback URLs.
  if (protocol === "https:" || (protocol === "http:" && isLoopback(hostname))) return undefined;
  return "scheme";
}
