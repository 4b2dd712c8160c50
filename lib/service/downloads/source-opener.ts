import { type IncomingHttpHeaders } from "node:http";
import { type Readable } from "node:stream";
import { request } from "undici";
import { toPlainLine } from "@/lib/contract/plain-line";
import { getErrorCode } from "@/lib/shared/error-codes";
import { ServiceError } from "../service-error";
import { type SourceAgents, type SourcePolicy } from "./sources";

type Headers = IncomingHttpHeaders;

const MAX_NAME_LENGTH = 200;

export function readContentRange(headers: Headers): { start: number; total?: number } | undefined {
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(?:(\d{1,15})|\*)$/i.exec(getSingleHeader(headers, "content-range")?.trim() ?? "");
  if (!match) return undefined;
  const [start, end] = [Number(match[1]), Number(match[2])];
  const total = match[3] === undefined ? undefined : Number(match[3]);
  if (end < start || (total !== undefined && end >= total)) return undefined;
  return { start, ...(total !== undefined && { total }) };
}

export function readUnsatisfiedLength(headers: Headers): number | undefined {
  const total = /^bytes \*\/(\d{1,15})$/i.exec(getSingleHeader(headers, "content-range")?.trim() ?? "")?.[1];
  return total === undefined ? undefined : Number(total);
}

/** Accepts any number of digits, because a huge length exceeds every limit and must not count as absent. */
export function readLength(headers: Headers, name = "content-length"): number | undefined {
  const text = getSingleHeader(headers, name)?.trim() ?? "";
  return /^\d+$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : undefined;
}

/** For If-Range: a strong entity tag or a date. Weak tags must not be used there (RFC 9110, 13.1.5). */
export function readValidator(headers: Headers): string | undefined {
  const tag = getSingleHeader(headers, "etag")?.trim();
  if (tag !== undefined && /^"[\x21\x23-\x7e]{0,500}"$/.test(tag)) return tag;
  const date = getSingleHeader(headers, "last-modified")?.trim();
  return date !== undefined && /^[\w ,:+-]{10,60}$/.test(date) && !Number.isNaN(Date.parse(date)) ? date : undefined;
}

/** huggingface.co sends the SHA-256 of the redirect's target: 64 hexadecimal digits in quotes. */
function readPromisedSha256(headers: Headers): string | undefined {
  return /^"?([0-9a-f]{64})"?$/i.exec(getSingleHeader(headers, "x-linked-etag")?.trim() ?? "")?.[1]?.toLowerCase();
}

function readRetryAfterMs(headers: Headers, now: number): number | undefined {
  const text = getSingleHeader(headers, "retry-after")?.trim() ?? "";
  const waitMs = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : /[a-z]/i.test(text) ? Date.parse(text) - now : NaN;
  return waitMs > 0 ? waitMs : undefined;
}

/** True for a web page in place of a file, for example a sign-in page. */
export function isPage(headers: Headers, url: URL): boolean {
  const isMarkup = /^\s*(text\/html|application\/xhtml\+xml)\b/i.test(getSingleHeader(headers, "content-type") ?? "");
  const isAttachment = /^\s*attachment\b/i.test(getSingleHeader(headers, "content-disposition") ?? "");
  return isMarkup && !isAttachment && !/\.(x?html?|xht|mht(ml)?)$/i.test(readFileName(headers, url));
}

/** Returns undefined for unencoded bytes, which the service requests. Encoded bytes would be stored encoded. */
export function readEncoding(headers: Headers): string | undefined {
  const encoding = getSingleHeader(headers, "content-encoding")?.trim().toLowerCase();
  return encoding === undefined || encoding === "" || encoding === "identity" ? undefined : encoding.slice(0, 40);
}

export function readFileName(headers: Headers, url: URL): string {
  const disposition = getSingleHeader(headers, "content-disposition") ?? "";
  const [, charset = "", extendedName] = /;\s*filename\*\s*=\s*([\w-]+)'[^']*'([^;\s]+)/i.exec(disposition) ?? [];
  const quotedName = /;\s*filename\s*=\s*"((?:[^"\\]|\\.)*)"/i.exec(disposition)?.[1]?.replace(/\\(.)/g, "$1");
  const plainName = /;\s*filename\s*=\s*([^";\s]+)/i.exec(disposition)?.[1];
  const lastSegment = url.pathname.split("/").findLast((part) => part !== "");
  const fileName = [percentDecode(extendedName, charset), decodeHeaderBytes(quotedName ?? plainName), percentDecode(lastSegment)]
    .map((name) => toSafeName(name ?? ""))
    .find((name) => name !== "");
  return fileName ?? "download";
}

function toSafeName(text: string): string {
  const lastSegment = text.split(/[/\\]/).at(-1) ?? "";
  const name = toPlainLine(lastSegment.normalize("NFC")).replace(/^[.\s]+|(?<![.\s])[.\s]+$/g, "");
  if (name.length <= MAX_NAME_LENGTH) return name;
  const extension = /\.[A-Za-z0-9]{1,12}$/.exec(name)?.[0] ?? "";
  return [...name.slice(0, MAX_NAME_LENGTH - extension.length)].filter((letter) => !/^\p{Cs}$/u.test(letter)).join("") + extension;
}

function percentDecode(text: string | undefined, charset = "utf-8"): string | undefined {
  if (text === undefined) return undefined;
  try {
    return /^iso-8859-1$/i.test(charset) ? text.replace(/%([0-9a-f]{2})/gi, decodeHexByte) : decodeURIComponent(text);
  } catch {
    return text;
  }
}

const decodeHexByte = (_: string, digits: string) => String.fromCharCode(parseInt(digits, 16));

/** Headers arrive with one character per byte. Many sources send plain UTF-8, so valid UTF-8 is decoded as such. */
function decodeHeaderBytes(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(text, "latin1"));
  } catch {
    return text; // not UTF-8, so ISO 8859-1
  }
}

function getSingleHeader(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

type RequestOptions = {
  method: "GET" | "HEAD";
  signal: AbortSignal;
  idleMs: number;
  range?: string;
  ifRange?: string;
  /** Doesn't follow a redirect that includes its target's hash, because the hash is enough. */
  shouldStopAtPromisedHash?: boolean;
};
export type SourceResponse = { status: number; headers: Headers; promisedSha256?: string; body: Readable };
export type SourceOpener = (startUrl: URL, requestOptions: RequestOptions) => Promise<SourceResponse>;

const MAX_REDIRECTS = 8;
const MAX_HEADERS_WAIT_MS = 30_000;
const expectedStatuses = [200, 206, 416];
const redirectStatuses = [301, 302, 303, 307, 308];
const temporaryStatuses = [408, 425, 429, 500, 502, 503, 504];

export function createSourceOpener(policy: SourcePolicy, agents: SourceAgents): SourceOpener {
  async function sendRequest(url: URL, { method, signal, idleMs, range, ifRange }: RequestOptions) {
    try {
      return await request(url, {
        method,
        signal,
        dispatcher: agents.getAgent(policy.isTrustedOrigin(url)),
        headersTimeout: Math.min(idleMs, MAX_HEADERS_WAIT_MS),
        bodyTimeout: idleMs,
        headers: {
          "user-agent": "lightdesk",
          accept: "*/*",
          "accept-encoding": "identity",
          ...(range !== undefined && { range }),
          ...(ifRange !== undefined && { "if-range": ifRange }),
        },
      });
    } catch (error) {
      if (signal.aborted || getErrorCode(error) === "UNSUPPORTED_SOURCE") throw error;
      throw createUnreachableError("The source did not respond.");
    }
  }

  return async (startUrl, requestOptions) => {
    let url = startUrl;
    let promisedHash: string | undefined;
    for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
      const { statusCode: status, headers, body } = await sendRequest(url, requestOptions);
      promisedHash ??= readPromisedSha256(headers);
      const hashField = promisedHash === undefined ? {} : { promisedSha256: promisedHash };
      const isRedirect = redirectStatuses.includes(status);
      if (expectedStatuses.includes(status) || (isRedirect && requestOptions.shouldStopAtPromisedHash && promisedHash !== undefined))
        return { status, headers, body, ...hashField };
      discardBody(body);
      if (!isRedirect) throw toSourceError(status, headers);
      url = resolveRedirect(policy, startUrl, url, headers.location);
    }
    throw new ServiceError("UNPROCESSABLE", "The source redirects too often.");
  };
}

export function createUnreachableError(message: string, retryAfterMs?: number): ServiceError {
  return new ServiceError("UPSTREAM_UNREACHABLE", message, retryAfterMs === undefined ? undefined : { retryAfterMs });
}

export function discardBody(body: Readable): void {
  body.on("error", () => undefined).destroy();
}

function resolveRedirect(policy: SourcePolicy, startUrl: URL, baseUrl: URL, location: unknown): URL {
  const url = typeof location === "string" && URL.canParse(location, baseUrl) ? new URL(location, baseUrl) : undefined;
  if (url && policy.canRedirectTo(startUrl, url)) return url;
  throw new ServiceError("UNSUPPORTED_SOURCE", "The source redirects to a host that this service may not download from.");
}

function toSourceError(status: number, headers: Headers): ServiceError {
  if (status === 401 || status === 403) return new ServiceError("FORBIDDEN", "The source requires a sign-in.");
  if (status === 404 || status === 410) return new ServiceError("NOT_FOUND", "The source has no such file.");
  if (!temporaryStatuses.includes(status)) return new ServiceError("UNPROCESSABLE", `The source responded with ${status}.`);
  const waitMs = readRetryAfterMs(headers, Date.now());
  const retryHint = waitMs === undefined ? "" : ` Try again in ${Math.ceil(waitMs / 1000)} s.`;
  return createUnreachableError(`The source responded with ${status}.${retryHint}`, waitMs);
}
