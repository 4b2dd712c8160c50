// What the console saw of a request that the doctor sent to the public address: where it came from, and what the proxy wrote into it.
// Guarantees: answered only to a caller who proves, for a minute, that they have the secret that signs sessions; for all others the answer
// is the same as without the question. Does not import the store, because the launcher uses it.

import "server-only";
import { createHmac, timingSafeEqual } from "node:crypto";
import { type IncomingMessage, type ServerResponse } from "node:http";
import { z } from "zod";
import { writeExactJson } from "@/lib/contract/json/exact-json";

export const PROOF_HEADER = "lightdesk-doctor";
export const SEEN_HEADER = "lightdesk-seen";
const HOLDS_MS = 60_000;

/** `from`: the other end of the connection. `client`: the address that counts for limits, sessions and logs. */
const seenSchema = z.object({ from: z.string(), client: z.string(), host: z.string(), forwardedFor: z.string().nullable() });
export type Seen = z.infer<typeof seenSchema>;

export function proveDoctor(authSecret: string, nowMs: number): string {
  return `${nowMs}.${createHmac("sha256", authSecret).update(`doctor ${nowMs}`).digest("hex")}`;
}

type Known = { authSecret: string | undefined; addressOf: (request: IncomingMessage) => string; nowMs: number };

export function tellSeen(request: IncomingMessage, response: ServerResponse, { authSecret, addressOf, nowMs }: Known): void {
  const { headers, socket } = request;
  if (authSecret === undefined || !isProven(String(headers[PROOF_HEADER] ?? ""), authSecret, nowMs)) return;
  const seen: Seen = {
    from: (socket.remoteAddress ?? "unknown").replace(/^::ffff:(?=\d+\.)/, ""),
    client: addressOf(request),
    host: headers.host ?? "",
    forwardedFor: headers["x-forwarded-for"] === undefined ? null : String(headers["x-forwarded-for"]),
  };
  response.setHeader(SEEN_HEADER, encodeURIComponent(writeExactJson(seen)));
}

function isProven(proof: string, authSecret: string, nowMs: number): boolean {
  const at = Number(/^(\d{1,15})\./.exec(proof)?.[1] ?? NaN);
  if (!(Math.abs(nowMs - at) <= HOLDS_MS)) return false;
  const [given, expected] = [Buffer.from(proof), Buffer.from(proveDoctor(authSecret, at))];
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Undefined if the console reported nothing. */
export function readSeen(header: string | null): Seen | undefined {
  return header === null ? undefined : seenSchema.parse(JSON.parse(decodeURIComponent(header)));
}
