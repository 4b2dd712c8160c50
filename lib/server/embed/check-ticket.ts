// Checks that this host's server signed the ticket, for this console, that it is valid now and within what the host may grant.
// Guarantees: nothing in a ticket is believed before its signature is checked; the first error is named for the log and for those who
// configured the host. Must never: send that error to the page that presented the ticket.

import "server-only";
import { type JWTPayload } from "jose";
import { type EmbedRefusal } from "@/lib/contract/embed/embed-refusals";
import { CLOCK_SLACK_SECONDS, type Ticket, TICKET_SECONDS, ticketSchema } from "@/lib/contract/embed/embedding";
import { hasRole } from "@/lib/contract/people/roles";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Composition } from "../composition-type";
import { type EmbedHost } from "../store/embed-hosts";
import { audiencesOf } from "./addresses";

type Console = Pick<Composition, "env" | "now" | "log" | "hostKeys">;
type TicketRequest = { ticket: string; origin: string };

export async function checkTicket(
  console: Console,
  host: EmbedHost,
  { ticket, origin }: TicketRequest,
): Promise<Result<Ticket, EmbedRefusal>> {
  const now = console.now();
  let payload: JWTPayload;
  try {
    payload = await console.hostKeys.verify(host, ticket, {
      audience: audiencesOf(console.env, host.id),
      clockTolerance: CLOCK_SLACK_SECONDS,
      currentDate: new Date(now),
      requiredClaims: ["iss", "sub", "jti", "iat", "exp"],
    });
  } catch (error) {
    console.log.warn({ hostId: host.id, err: error }, "a ticket was not taken");
    return failed(refusalOf(error));
  }
  const parsed = ticketSchema.safeParse(payload);
  if (!parsed.success) return failed("claims");
  const { iss, iat, exp, role, pages, connection } = parsed.data;
  if (exp - iat > TICKET_SECONDS) return failed("lifetime");
  if (iat * 1000 > now + CLOCK_SLACK_SECONDS * 1000) return failed("early");
  if (iss !== origin || !host.origins.includes(origin)) return failed("origin");
  if (role !== undefined && !hasRole(host.role, role)) return failed("role");
  if (pages?.some((page) => !host.pages.includes(page))) return failed("pages");
  if (connection !== undefined && host.connection !== null && connection !== host.connection) return failed("connection");
  if (parsed.data.guest && !host.guests) return failed("guests");
  return ok(parsed.data);
}

function refusalOf(error: unknown): EmbedRefusal {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const claim = error instanceof Error && "claim" in error ? String(error.claim) : "";
  if (code === "KEYS_AWAY") return "keys";
  if (code === "ERR_JWT_EXPIRED") return "expired";
  if (code === "ERR_JOSE_ALG_NOT_ALLOWED" || code === "ERR_JOSE_NOT_SUPPORTED") return "algorithm";
  if (code === "ERR_JWS_SIGNATURE_VERIFICATION_FAILED" || code === "ERR_JWKS_NO_MATCHING_KEY") return "signature";
  if (code === "ERR_JWT_CLAIM_VALIDATION_FAILED") return claim === "aud" ? "audience" : claim === "nbf" ? "early" : "claims";
  return "unreadable";
}
