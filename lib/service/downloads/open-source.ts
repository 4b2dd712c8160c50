// Opens a permitted source. Redirects are followed by hand, each checked like the first address; an error says what the source answered.
// UPSTREAM_UNREACHABLE marks temporary errors that are worth another attempt; every other code is final.
// The caller reads the body or discards it. Must never: send a cookie or a key, or ask for encoded bytes.

import { type Readable } from "node:stream";
import { request } from "undici";
import { codeOf } from "@/lib/shared/error-codes";
import { ServiceError } from "../service-error";
import { type SourceAgents } from "./source-agents";
import { type Headers, readPromisedSha256, readRetryAfter } from "./source-headers";
import { type SourcePolicy } from "./sources";

export type Wish = {
  method: "GET" | "HEAD";
  signal: AbortSignal;
  /** How long the source may send nothing. */
  idleMs: number;
  range?: string;
  ifRange?: string;
  /** A redirect that names the hash of its target says enough and is not followed. */
  stopsAtPromise?: boolean;
};
export type OpenedSource = { status: number; headers: Headers; promisedSha256?: string; body: Readable };
export type OpenSource = (start: URL, wish: Wish) => Promise<OpenedSource>;

const MOST_REDIRECTS = 8;
const LONGEST_WAIT_FOR_HEADERS_MS = 30_000;
const expected = [200, 206, 416];
const redirects = [301, 302, 303, 307, 308];
const passing = [408, 425, 429, 500, 502, 503, 504];

export function createOpenSource(policy: SourcePolicy, agents: SourceAgents): OpenSource {
  async function ask(url: URL, { method, signal, idleMs, range, ifRange }: Wish) {
    try {
      return await request(url, {
        method,
        signal,
        dispatcher: agents.agentFor(policy.isTrustedOrigin(url)),
        headersTimeout: Math.min(idleMs, LONGEST_WAIT_FOR_HEADERS_MS),
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
      if (signal.aborted || codeOf(error) === "UNSUPPORTED_SOURCE") throw error;
      throw unreachable("The source gave no answer.");
    }
  }

  return async (start, wish) => {
    let url = start;
    let promised: string | undefined;
    for (let hop = 0; hop <= MOST_REDIRECTS; hop += 1) {
      const { statusCode: status, headers, body } = await ask(url, wish);
      promised ??= readPromisedSha256(headers);
      const promise = promised === undefined ? {} : { promisedSha256: promised };
      const isRedirect = redirects.includes(status);
      if (expected.includes(status) || (isRedirect && wish.stopsAtPromise && promised !== undefined))
        return { status, headers, body, ...promise };
      discard(body);
      if (!isRedirect) throw refusalOf(status, headers);
      url = nextUrl(policy, start, url, headers.location);
    }
    throw new ServiceError("UNPROCESSABLE", "The source redirects too often.");
  };
}

export function unreachable(message: string, retryAfterMs?: number): ServiceError {
  return new ServiceError("UPSTREAM_UNREACHABLE", message, retryAfterMs === undefined ? undefined : { retryAfterMs });
}

/** Ends the exchange, however much the source would still send. */
export function discard(body: Readable): void {
  body.on("error", () => undefined).destroy();
}

/** Checked like the first address: "every redirect is checked again". */
function nextUrl(policy: SourcePolicy, start: URL, from: URL, location: unknown): URL {
  const url = typeof location === "string" && URL.canParse(location, from) ? new URL(location, from) : undefined;
  if (url && policy.mayLeadTo(start, url)) return url;
  throw new ServiceError("UNSUPPORTED_SOURCE", "The source redirects to where this service does not download from.");
}

function refusalOf(status: number, headers: Headers): ServiceError {
  if (status === 401 || status === 403) return new ServiceError("FORBIDDEN", "The source requires a sign-in.");
  if (status === 404 || status === 410) return new ServiceError("NOT_FOUND", "The source has no such file.");
  if (!passing.includes(status)) return new ServiceError("UNPROCESSABLE", `The source answered ${status}.`);
  const waitMs = readRetryAfter(headers, Date.now());
  const wish = waitMs === undefined ? "" : ` It asks to be left alone for ${Math.ceil(waitMs / 1000)} s.`;
  return unreachable(`The source answered ${status}.${wish}`, waitMs);
}
