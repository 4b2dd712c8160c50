// One sign-in at an OIDC provider, and the provider's session.

import "server-only";
import { decode, encode } from "next-auth/jwt";
import { type OAuthConfig } from "next-auth/providers/oauth";
import { type OidcRefusal } from "@/lib/contract/people/sign-in";
import { type Composition, type Parts } from "@/lib/server/composition-type";
import { type OidcProvider, oidcSetting } from "@/lib/server/sign-in-settings";
import { type Purpose, type SignInState } from "../sealed-cookies";
import { beginSession, confirmSession, findSession, sessionIdIn } from "../session";
import { admit, type AdmittedMember, type SignInRefusal } from "./admit";
import { type Claims, discover, type DiscoveryDocument, KEPT_MS, readPerson, toNextAuth } from "./provider";

export type OidcTurn = {
  config: OAuthConfig<Claims>;
  provider: OidcProvider;
  verify(claims: Claims): Promise<boolean>;
  /** Call after `judge`. `confirmedAt`: when the member last proved their identity, as reported by the provider. */
  admitted(): (AdmittedMember & { purpose: Purpose["kind"]; confirmedAt: number }) | undefined;
  refused(): SignInRefusal;
};

const SLACK_MS = 60_000;

export function createOidcTurn(
  composition: Composition,
  provider: OidcProvider,
  discovered: DiscoveryDocument,
  routeRequest: SignInState | undefined,
  asksAgain = false,
): OidcTurn {
  let admitted: ReturnType<OidcTurn["admitted"]>;
  // If the provider's answer is never looked at, the cookies of this sign-in were missing or wrong.
  let refused: SignInRefusal = { shown: "lost", cause: "what was kept in the browser for this sign-in is gone or another one's" };
  const config = toNextAuth(provider, discovered, asksAgain, (error) => (refused = { shown: shownOf(error), cause: causeOf(error) }));
  return {
    config,
    provider,
    async verify(claims) {
      const person = readPerson(claims, provider);
      if (!person || !routeRequest) return false;
      const { now } = composition;
      const { purpose, at } = routeRequest;
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
      const result = await admit(composition, provider, person, purpose);
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
  // The code was used before, or was late.
  return cause.includes("invalid_grant") ? "lost" : "untrusted";
}

/** For the log: the library's names and codes, never a token. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const code = "code" in error ? `${String(error.code)} ` : "";
  const oauth = "error" in error ? `${String(error.error)} ` : "";
  return `${code}${oauth}${error.message}`.slice(0, 300);
}

type AdmittedTurn = NonNullable<ReturnType<OidcTurn["admitted"]>>;

const SALT = "lightdesk.id-token";
/** The hint is part of an address: a longer one is left out, and the provider then asks the person. */
const MAX_HINT_LENGTH = 4_000;
const KEPT_SECONDS = 366 * 24 * 60 * 60;

type Account = { provider: string; id_token?: string };

/** Returns the session's id. A member who only confirmed or linked a provider keeps their session. */
export async function beginProviderSession(
  composition: Composition,
  admitted: AdmittedTurn,
  { provider, id_token }: Account,
  headers: Pick<Headers, "get">,
): Promise<string> {
  const { member, purpose, confirmedAt } = admitted;
  const current = purpose === "confirm" || purpose === "link" ? await sessionIdIn(composition, headers) : undefined;
  // A role that has just changed has already ended the session.
  if (current !== undefined && (await findSession(composition, current))?.member.id === member.id) {
    if (purpose === "confirm") await confirmSession(composition, current);
    return current;
  }
  const newSession = { memberId: member.id, version: member.sessionVersion, method: provider, confirmedAt };
  const { id: sid } = await beginSession(composition, newSession, headers);
  await storeIdToken(composition, sid, provider, id_token);
  return sid;
}

async function storeIdToken(
  { store, authSecret, log }: Parts<"store" | "authSecret" | "log">,
  sessionId: string,
  provider: string,
  idToken: string | undefined,
): Promise<void> {
  const isKept = idToken !== undefined && idToken.length <= MAX_HINT_LENGTH;
  const sealedHint = isKept ? await encode({ token: { hint: idToken }, secret: authSecret, salt: SALT, maxAge: KEPT_SECONDS }) : undefined;
  try {
    await store.identities.keepSession({ sessionId, provider, sealedHint });
  } catch (err) {
    // A full disk must not lock anyone out: signing out then ends only the session here.
    log.warn({ provider, err }, "provider session update failed");
  }
}

/** Call it before the session is ended. Undefined: the session began here, or the provider has no sign-out page. */
export async function endSessionUrl(
  { store, env, authSecret, log }: Parts<"store" | "env" | "authSecret" | "log">,
  sessionId: string,
  returnTo: string,
): Promise<string | undefined> {
  const providerSession = await store.identities.sessionOf(sessionId);
  const provider = providerSession && env.oidc.find(({ id }) => id === providerSession.provider);
  if (!provider) return undefined;
  try {
    const discovered = await discover(provider, KEPT_MS);
    if (discovered.endSessionUrl === undefined) return undefined;
    const url = new URL(discovered.endSessionUrl);
    const token =
      providerSession.sealedHint === undefined ? null : await decode({ token: providerSession.sealedHint, secret: authSecret, salt: SALT });
    if (typeof token?.hint === "string") url.searchParams.set("id_token_hint", token.hint);
    url.searchParams.set("client_id", provider.clientId);
    url.searchParams.set("post_logout_redirect_uri", returnTo);
    return url.href;
  } catch (err) {
    log.warn({ provider: provider.id, err }, "provider logout failed");
    return undefined;
  }
}
