// What went wrong between the console and a service, as a Failure with our own codes.
// Guarantees: names whose fault it is. Must never: contain a URL's query, a key, or text of an HTML page.

import "server-only";
import { codeByStatus, type Failure, parseFailure } from "@/lib/contract/failure";
import { own } from "@/lib/contract/json/own";
import { type Operation } from "@/lib/contract/operation";
import { saysAbsent, saysNothingThere } from "./absence";

export function unreachable(baseUrl: string, error: unknown): Failure {
  const message = `The service at ${hostOf(baseUrl)} cannot be reached${reasonOf(error)}.`;
  return { code: "UPSTREAM_UNREACHABLE", message, status: 0, ...(wasNeverSent(error) && { details: { sent: false } }) };
}

export function timedOut(baseUrl: string, limitMs: number): Failure {
  return {
    code: "UPSTREAM_TIMEOUT",
    message: `The service at ${hostOf(baseUrl)} gave no answer within ${Math.ceil(limitMs / 1000)} s.`,
    status: 0,
  };
}

/** No answer came. A service that answers 504 has answered. */
export function wasSilent({ code, status }: Failure): boolean {
  return code === "UPSTREAM_TIMEOUT" && status === 0;
}

export function unreadable(baseUrl: string, status: number, why: string): Failure {
  return { code: "UPSTREAM_UNREADABLE", message: `What answers at ${hostOf(baseUrl)} does not speak the interface: ${why}.`, status };
}

/** Thrown if an answer cannot be used. `why`: the end of a sentence. */
export class UnreadableAnswer extends Error {
  constructor(readonly why: string) {
    super(why);
  }
}

export function callerWentAway(): Failure {
  return { code: "CLIENT_GONE", message: "The request was cancelled.", status: 0 };
}

export function absent(capability: string): Failure {
  return { code: "NOT_IMPLEMENTED", message: `This service does not have ${capability}.`, status: 501 };
}

/** For a refusal that looked like an unknown item, although the item exists. */
export function lacksIt(failure: Failure): Failure {
  return { ...failure, code: "NOT_IMPLEMENTED" };
}

export function notAddressable(): Failure {
  return { code: "NOT_FOUND", message: "This id has characters that no address may have.", status: 404 };
}

/** Codes about the console itself: a service that sends one of them means something else. */
const consoleCodes = new Set([
  "INTERNAL",
  "UNAUTHORIZED",
  "ROLE_TOO_LOW",
  "FOREIGN_ORIGIN",
  "PAGE_OUT_OF_DATE",
  "NO_CONNECTION",
  "API_KEY_MISSING",
]);

/** Any refusal of a service. Its 401 is about our key, not about the person's session, and must not look like the latter. */
export function refusal(answer: Response, body: string, { operation, now }: { operation?: Operation; now: number }): Failure {
  const failure = parseFailure(answer, body, now);
  const { status } = answer;
  if (status === 401) return { ...failure, code: "UPSTREAM_REFUSED_KEY", message: "The service refuses the key of this connection." };
  if (status === 500 || status === 502) return { ...failure, code: "UPSTREAM_ERROR" };
  if (status === 504) return { ...failure, code: "UPSTREAM_TIMEOUT" };
  if (operation && saysNothingThere(operation, status)) return nothingThere(failure);
  if (operation && saysAbsent(operation, status)) return { ...failure, code: "NOT_IMPLEMENTED" };
  if (consoleCodes.has(failure.code) || failure.code.startsWith("UPSTREAM_")) return { ...failure, code: codeByStatus(failure) };
  // The input is in the body, so the address is not at fault, whatever the service calls it.
  if (failure.code === "INVALID_QUERY" && operation?.body) return { ...failure, code: "BAD_REQUEST" };
  return failure;
}

/** For something that every service has, or for an item if nothing else is found there either. */
export function nothingThere(failure: Failure): Failure {
  return { ...failure, code: "UPSTREAM_NOT_FOUND" };
}

function hostOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : "an address that is none";
}

const reasons: Readonly<Record<string, string>> = {
  FORBIDDEN_ADDRESS: "this address is never opened",
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "the host name is unknown",
  EAI_AGAIN: "the host name cannot be looked up now",
  ECONNRESET: "it closed the connection",
  UND_ERR_SOCKET: "it closed the connection",
  UND_ERR_CONNECT_TIMEOUT: "it does not take connections",
  EHOSTUNREACH: "there is no way to the host",
  ENETUNREACH: "there is no way to the network",
  CERT_HAS_EXPIRED: "its certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate cannot be verified",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host",
};

/** All of these except a closed connection occur before any byte of the request is sent. */
const whileOpen = new Set(["ECONNRESET", "UND_ERR_SOCKET"]);

function wasNeverSent(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && Object.hasOwn(reasons, code) && !whileOpen.has(code);
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

function reasonOf(error: unknown): string {
  const code = codeOf(error);
  const reason = code === undefined ? undefined : own(reasons, code);
  return reason === undefined ? "" : `: ${reason}`;
}
