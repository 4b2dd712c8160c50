// One next-auth request that involves a provider: the provider in next-auth's form, and the result for the person it names.
// Guarantees: the reason of a failure is known here: next-auth only says that it failed, and its log does not tell requests apart.

import "server-only";
import { type OAuthConfig } from "next-auth/providers/oauth";
import { type OidcRefusal } from "@/lib/contract/people/sign-in";
import { composition } from "@/lib/server/composition";
import { type OidcProvider, oidcSetting } from "@/lib/server/oidc-settings";
import { admit, type Admitted, type Refused } from "./admit";
import { type Asked, type Purpose } from "./asked";
import { type Claims, readPerson } from "./claims";
import { type Discovered } from "./discovery";
import { toNextAuth } from "./provider";

export type OidcTurn = {
  config: OAuthConfig<Claims>;
  provider: OidcProvider;
  /** Called by next-auth once the ID token is valid. */
  judge(claims: Claims): Promise<boolean>;
  /** Call after `judge`. `confirmedAt`: when the member last proved their identity, as far as the provider tells. */
  admitted(): (Admitted & { purpose: Purpose["kind"]; confirmedAt: number }) | undefined;
  /** Why the sign-in was refused. */
  refused(): Refused;
};

/** Allowed difference between two clocks. */
const SLACK_MS = 60_000;

/** `asked` is undefined on the way to the provider. */
export function createTurn(provider: OidcProvider, found: Discovered, asked: Asked | undefined, asksAgain = false): OidcTurn {
  let admitted: ReturnType<OidcTurn["admitted"]>;
  // If the provider's answer is never looked at, the cookies of this sign-in were missing or wrong.
  let refused: Refused = { shown: "lost", cause: "what was kept in the browser for this sign-in is gone or another one's" };
  const config = toNextAuth(provider, found, asksAgain, (error) => (refused = { shown: shownOf(error), cause: causeOf(error) }));
  return {
    config,
    provider,
    async judge(claims) {
      const person = readPerson(claims, provider);
      if (!person || !asked) return false;
      const { now } = composition();
      const { purpose, at } = asked;
      // If max_age was requested, the provider must say when they signed in (OpenID Connect Core, 3.1.2.1).
      if (purpose.kind === "confirm" && person.signedInAt === undefined && !provider.isUndated) {
        const setting = `${oidcSetting(provider.id, "UNDATED")}=1`;
        refused = {
          shown: "undated",
          cause: `the provider does not say when they signed in (auth_time); where it cannot, ${setting} takes it at its word`,
        };
        return false;
      }
      if (purpose.kind === "confirm" && person.signedInAt !== undefined && person.signedInAt < at - SLACK_MS) {
        refused = { shown: "stale", cause: "the provider went by a session of its own" };
        return false;
      }
      const result = await admit(provider, person, purpose);
      if (!result.ok) refused = result.failure;
      else {
        const confirmedAt = purpose.kind === "confirm" ? now() : Math.min(now(), person.signedInAt ?? 0);
        admitted = { ...result.value, purpose: purpose.kind, confirmedAt };
      }
      return result.ok;
    },
    admitted: () => admitted,
    refused: () => refused,
  };
}

const away = /timed out|ECONN|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ETIMEDOUT|CERT|got: 5\d\d|temporarily_unavailable|server_error/;

function shownOf(error: unknown): OidcRefusal {
  const cause = causeOf(error);
  if (away.test(cause)) return "away";
  // The code was used before, or came too late.
  return cause.includes("invalid_grant") ? "lost" : "untrusted";
}

/** For the log: the library's names and codes, never a token. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const code = "code" in error ? `${String(error.code)} ` : "";
  const oauth = "error" in error ? `${String(error.error)} ` : "";
  return `${code}${oauth}${error.message}`.slice(0, 300);
}
