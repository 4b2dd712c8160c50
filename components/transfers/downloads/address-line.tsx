import { useTranslations } from "next-intl";
import { useCallback, useEffect, useEffectEvent, useMemo, useRef, useState } from "react";
import { failureText } from "@/components/frame/failure/failure-message";
import { Picture } from "@/components/ui/pictures/picture";
import { FileName } from "@/components/ui/truncated";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { maskAddress } from "@/lib/contract/assets/file-refs";
import { isLoopback } from "@/lib/contract/connections";
import { isNotFound } from "@/lib/contract/failure";
import { filter, list, number, object, oneOf, type Reader, text } from "@/lib/contract/json/readers";
import { type Result } from "@/lib/shared/result";
import { formatBytes } from "@/lib/shared/text";

type AddressLineProps = {
  address: Address;
  check?: SourceCheck;
  refused?: string;
  locale: string;
  onRetry: (url: string) => void;
};

/** One URL: its file, or why it can't be downloaded. The query is never shown. */
export function AddressLine({ address, check, refused, locale, onRetry }: AddressLineProps) {
  const facts = check?.kind === "known" ? check.facts : undefined;
  return (
    <div className="flex gap-3">
      {facts?.picture ? <RemoteFile picture={facts.picture} name={facts.name ?? address.displayUrl} /> : null}
      <div className="min-w-0 flex-1">
        <p className="truncate" title={address.displayUrl}>
          <FileName name={facts?.name ?? address.displayUrl} />
        </p>
        {facts?.name ? <p className="truncate text-sm text-ink-3">{address.displayUrl}</p> : null}
        {refused ? (
          <p className="text-sm text-bad">{refused}</p>
        ) : (
          <CheckResult address={address} check={check} locale={locale} onRetry={onRetry} />
        )}
      </div>
    </div>
  );
}

function RemoteFile({ picture, name }: { picture: string; name: string }) {
  const t = useTranslations("uploads.url");
  return <Picture src={picture} alt={t("picture", { name })} width={56} height={56} eager fit="cover" className="size-14 shrink-0" />;
}

function CheckResult({ address, check, locale, onRetry }: AddressLineProps) {
  const t = useTranslations("uploads.url");
  const errors = useTranslations("errors");
  if (address.fault) return <p className="text-sm text-bad">{t(`fault.${address.fault}`)}</p>;
  if (!check || check.kind === "asking") return <p className="text-sm text-ink-3">{t("asking")}</p>;
  if (check.kind === "unsupported") return <p className="text-sm text-ink-3">{t("notAsked")}</p>;
  if (check.kind === "refused") {
    return (
      <p className="text-sm text-bad">
        {t("refused", { reason: failureText(errors, check.failure) })} {/* Forbidden hosts can't be retried. */}
        {check.failure.code === "UNSUPPORTED_SOURCE" ? null : (
          <button
            type="button"
            aria-label={`${t("again")}: ${address.displayUrl}`}
            className="text-ink underline underline-offset-2"
            onClick={() => onRetry(address.url)}
          >
            {t("again")}
          </button>
        )}
      </p>
    );
  }
  const { sizeBytes, errors: faults, warnings } = check.facts;
  return (
    <>
      <p className="text-sm text-ink-2">{sizeBytes === undefined ? t("unknownSize") : formatBytes(sizeBytes, locale)}</p>
      {faults.map((message) => (
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

/** Debounces typing. */
const DEBOUNCE_MS = 400;
const MAX_CONCURRENT = 3;

type AddressChecks = { checks: ReadonlyMap<string, SourceCheck>; retryCheck: (url: string) => void };

/** The service's report on each URL before the download, requested once per URL while the dialog is open. */
export function useAddressChecks(addresses: readonly Address[], connection: string | undefined): AddressChecks {
  const [checks, setChecks] = useState<ReadonlyMap<string, SourceCheck>>(new Map());
  const [round, setRound] = useState(0);
  const requestedUrls = useRef(new Set<string>());
  const isUnsupported = useRef(false);
  const validUrls = useMemo(() => addresses.filter(({ fault }) => fault === undefined).map(({ url }) => url), [addresses]);
  const storeCheck = (url: string, check: SourceCheck) => setChecks((current) => new Map(current).set(url, check));

  const requestChecks = useEffectEvent((signal: AbortSignal) => {
    const waiting = validUrls.filter((url) => !requestedUrls.current.has(url));
    const runLane = async () => {
      for (let url = waiting.shift(); url !== undefined && !signal.aborted; url = waiting.shift()) {
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
    for (let lane = 0; lane < MAX_CONCURRENT; lane++) void runLane();
  });
  useEffect(() => {
    const typing = new AbortController();
    const timer = setTimeout(() => requestChecks(typing.signal), DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      typing.abort();
    };
  }, [validUrls, round]);
  const retryCheck = useCallback((url: string) => {
    requestedUrls.current.delete(url);
    setChecks((current) => new Map(current).set(url, { kind: "asking" }));
    setRound((current) => current + 1);
  }, []);
  return { checks, retryCheck };
}

// The service's report on a URL. Only embedded pictures are shown, so that the browser fetches nothing else.

const MAX_SENTENCES = 5;

type SourceFacts = { name?: string; sizeBytes?: number; picture?: string; errors: string[]; warnings: string[] };
type SourceCheck =
  { kind: "asking" } | { kind: "known"; facts: SourceFacts } | { kind: "refused"; failure: ApiFailure } | { kind: "unsupported" };

const messageOrCode = object({}, { message: text, code: text });
const readSentence: Reader<string> = (body) => text(body) ?? messageOrCode(body)?.message ?? messageOrCode(body)?.code;
const readMetadata = object(
  {},
  {
    name: text,
    filename: text,
    content_length: filter(number, (size) => size >= 0),
    preview_image: filter(text, (address) => /^data:image\/(png|jpeg|webp|gif|avif);/i.test(address)),
    validation: object({}, { is_valid: oneOf([true, false]), errors: list(readSentence), warnings: list(readSentence) }),
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
    errors: validation?.is_valid === false ? (validation.errors?.slice(0, MAX_SENTENCES) ?? []) : [],
    warnings: validation?.warnings?.slice(0, MAX_SENTENCES) ?? [],
  };
}

// URLs as typed, one per line, at most MAX_ADDRESSES. The service validates them again.

type AddressFault = "none" | "scheme" | "host" | "credentials" | "long" | "twice";
/** `displayUrl` omits the query, which may contain a token. */
export type Address = { url: string; displayUrl: string; fault?: AddressFault };

export const MAX_ADDRESSES = 100;
const MAX_LENGTH = 4_000;

export function readAddresses(text: string): { addresses: Address[]; isCut: boolean } {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const seenUrls = new Set<string>();
  const addresses = lines.slice(0, MAX_ADDRESSES).map((url): Address => {
    const fault = seenUrls.has(url) ? "twice" : findFault(url);
    seenUrls.add(url);
    return { url, displayUrl: maskAddress(url).slice(0, 300), ...(fault && { fault }) };
  });
  return { addresses, isCut: lines.length > MAX_ADDRESSES };
}

function findFault(text: string): AddressFault | undefined {
  if (text.length > MAX_LENGTH) return "long";
  if (!URL.canParse(text)) return "none";
  const { protocol, hostname, username, password } = new URL(text);
  if (hostname === "") return protocol === "http:" || protocol === "https:" ? "host" : "scheme";
  if (username !== "" || password !== "") return "credentials";
  // A service's settings may permit a local source, so the service decides.
  if (protocol === "https:" || (protocol === "http:" && isLoopback(hostname))) return undefined;
  return "scheme";
}
