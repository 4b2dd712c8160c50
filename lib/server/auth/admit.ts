// Decides whether a request or a socket is let in, and says why not.
// Guarantees: the same sentence whatever is wrong with a token; wrong tokens are limited by address, and right
// ones are never delayed by that limit.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { networkOf } from "@/lib/shared/ip-address";
import { failed, ok, type Result } from "@/lib/shared/result";
import { telemetry } from "@/lib/shared/telemetry";
import { composition } from "../composition";
import { ADDRESS_HEADER } from "../limits/client-address";
import { givenToken } from "./credentials";
import { readViewer, type SentHeaders, type Viewer } from "./viewer";

export async function admit(sent: SentHeaders): Promise<Result<Viewer, Failure>> {
  const viewer = await readViewer(sent);
  if (viewer) return ok(viewer);
  const given = givenToken(sent);
  if (given === undefined) return failed({ code: "UNAUTHORIZED", message: "Sign in first.", status: 401 });
  if (given === "two") return failed({ code: "BAD_REQUEST", message: "The request has two different tokens. Send one.", status: 400 });
  const { wrongTokenLimit, log } = composition();
  const address = sent.get(ADDRESS_HEADER) ?? "unknown";
  const waitMs = await wrongTokenLimit.take(networkOf(address));
  telemetry().metrics?.count("lightdesk_sign_in_refusals_total", { way: "token", reason: waitMs > 0 ? "limited" : "wrong" });
  if (waitMs > 0)
    return failed({ code: "RATE_LIMITED", message: "Too many wrong tokens. Try again later.", status: 429, retryAfterMs: waitMs });
  log.warn({ address }, "a token was refused");
  return failed({
    code: "UNAUTHORIZED",
    message: "This token is not valid here. Make a new one in the console, under Settings, Tokens.",
    status: 401,
  });
}

/** The name that requests are counted under: a program that sends too many does not lock its member out of the browser. */
export function countedAs({ memberId, credential }: Viewer): string {
  return credential.kind === "token" ? `token ${credential.id}` : memberId;
}
