// Opens a permitted source: redirects by hand, each judged like the first address; an error says what the source answered.
// The caller reads the body or destroys it.

import { isIP } from "node:net";
import { type Readable } from "node:stream";
import { Agent, request } from "undici";
import { ServiceError } from "../service-error";
import { isInnerAddress, lookupOutside, type SourcePolicy } from "./sources";

export type OpenedSource = { url: URL; contentLength?: number; contentType?: string; fileName: string; body: Readable };

const MOST_REDIRECTS = 5;
const outside = new Agent({ connect: { lookup: lookupOutside, timeout: 10_000 }, headersTimeout: 30_000, bodyTimeout: 60_000 });
const anywhere = new Agent({ connect: { timeout: 10_000 }, headersTimeout: 30_000, bodyTimeout: 60_000 });

export async function openSource(policy: SourcePolicy, start: URL, method: "GET" | "HEAD", signal?: AbortSignal): Promise<OpenedSource> {
  let url = start;
  for (let hop = 0; hop <= MOST_REDIRECTS; hop += 1) {
    const answer = await ask(policy, url, method, signal);
    const location = answer.headers.location;
    if (answer.statusCode >= 300 && answer.statusCode < 400 && typeof location === "string") {
      answer.body.resume();
      url = nextUrl(policy, url, location);
      continue;
    }
    if (answer.statusCode !== 200) {
      answer.body.resume();
      throw refusalOf(answer.statusCode);
    }
    const length = Number(answer.headers["content-length"]);
    const type = answer.headers["content-type"];
    const disposition = answer.headers["content-disposition"];
    return {
      url,
      body: answer.body,
      fileName: fileNameFrom(typeof disposition === "string" ? disposition : "", start),
      ...(answer.headers["content-length"] !== undefined && Number.isSafeInteger(length) && { contentLength: length }),
      ...(typeof type === "string" && { contentType: type }),
    };
  }
  throw new ServiceError("UNPROCESSABLE", "The source redirects too often.");
}

async function ask(policy: SourcePolicy, url: URL, method: "GET" | "HEAD", signal?: AbortSignal) {
  const isTrusted = policy.isTrustedOrigin(url);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  // A literal address is never looked up, so it is judged here.
  if (!isTrusted && isIP(host) !== 0 && isInnerAddress(host))
    throw new ServiceError("UNSUPPORTED_SOURCE", "The source leads to an address inside the network.");
  try {
    return await request(url, { method, signal, dispatcher: isTrusted ? anywhere : outside, headers: { "user-agent": "lightdesk" } });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "UNSUPPORTED_SOURCE") throw error;
    if (signal?.aborted) throw error;
    throw new ServiceError("UNPROCESSABLE", "The source gave no answer.");
  }
}

/** Judged like the first address: "every redirect is checked again". */
function nextUrl(policy: SourcePolicy, from: URL, location: string): URL {
  const url = URL.canParse(location, from) ? new URL(location, from) : undefined;
  if (url && policy.isPermitted(url)) return url;
  throw new ServiceError("UNSUPPORTED_SOURCE", "The source redirects to where this service does not download from.");
}

function refusalOf(status: number): ServiceError {
  if (status === 401 || status === 403) return new ServiceError("FORBIDDEN", "The source wants to know who is asking.");
  if (status === 404) return new ServiceError("NOT_FOUND", "The source has no such file.");
  return new ServiceError("UNPROCESSABLE", `The source answered ${status}.`);
}

function fileNameFrom(disposition: string, url: URL): string {
  const extended = /filename\*=UTF-8''([^;]+)/i.exec(disposition)?.[1];
  const plain = /filename="?([^";]+)"?/i.exec(disposition)?.[1];
  const last = url.pathname
    .split("/")
    .filter((segment) => segment !== "")
    .at(-1);
  const name = decode(extended ?? plain ?? last ?? "download");
  return name.replace(/[/\\\0]/g, "_").slice(0, 200) || "download";
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
