// One sign-in at an OIDC provider, and the provider's session.

import "server-only";
import { decode, encode } from "next-auth/jwt";
import { type OAuthConfig } from "next-auth/providers/oauth";
import { type OidcRefusal } from "@/lib/contract/people/sign-in";
import { type Composition, type Dependencies } from "@/lib/server/composition-type";
import { type OidcProvider, oidcSetting } from "@/lib/server/sign-in-settings";
import { type Purpose, type SignInState } from "../sealed-cookies";
import { beginSession, confirmSession, findSession, readSessionId } from "../session";
import { admitPerson, type AdmittedMember, type SignInRefusal } from "./admit";
import { type Claims, discover, DISCOVERY_CACHE_MS, type DiscoveryDocument, readPerson, toNextAuth } from "./provider";

export type OidcTurn = {
  config: OAuthConfig<Claims>;
  provider: OidcProvider;
  verify(claims: Claims): Promise<boolean>;
  /** Call after `verify`. `confirmedAt` is when the member last proved their identity, as reported by the provider. */
  admitted(): (AdmittedMember & { purpose: Purpose["kind"]; confirmedAt: number }) | undefined;
  refused(): SignInRefusal;
};

const CLOCK_SKEW_MS = 60_000;

export function createOidcTurn(
  composition: Composition,
  provider: OidcProvider,
  discovery: DiscoveryDocument,
  signInState: SignInState | undefined,
  forcesLogin = false,
): OidcTurn {
  let admitted: ReturnType<OidcTurn["admitted"]>;
  // If the provider's response is never processed, the cookies of this sign-in were missing or wrong.
  let signInRefusal: SignInRefusal = { shown: "lost", cause: "what was kept in the browser for this sign-in is gone or another one's" };
  const config = toNextAuth(
    provider,
    discovery,
    forcesLogin,
    (error) => (signInRefusal = { shown: toPublicReason(error), cause: toErrorCause(error) }),
  );
  return {
    config,
    provider,
    async verify(claims) {
      const person = readPerson(claims, provider);
      if (!person || !signInState) return false;
      const { now } = composition;
      const { purpose, at } = signInState;
      // If max_age was requested, the provider must report the time of the sign-in (OpenID Connect Core, 3.1.2.1).
      if (purpose.kind === "confirm" && person.signedInAt === undefined && !provider.isUndated) {
        const setting = `${oidcSetting(provider.id, "UNDATED")}=1`;
        signInRefusal = {
          shown: "undated",
          cause: `the provider does not say when they signed in (auth_time); where it cannot, ${setting} takes it at its word`,
        };
        return false;
      }
      if (purpose.kind === "confirm" && person.signedInAt !== undefined && person.signedInAt < at - CLOCK_SKEW_MS) {
        signInRefusal = { shown: "stale", cause: "the provider went by a session of its own" };
        return false;
      }
      const result = await admitPerson(composition, provider, person, purpose);
      if (!result.ok) signInRefusal = result.failure;
      else {
        const confirmedAt = purpose.kind === "confirm" ? now() : Math.min(now(), person.signedInAt ?? 0);
        admitted = { ...result.value, purpose: purpose.kind, confirmedAt };
      }
      return result.ok;
    },
    admitted: () => admitted,
    refused: () => signInRefusal,
  };
}

const unreachableErrors = /timed out|ECONN|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ETIMEDOUT|CERT|got: 5\d\d|temporarily_unavailable|server_error/;

function toPublicReason(error: unknown): OidcRefusal {
  const cause = toErrorCause(error);
  if (unreachableErrors.test(cause)) return "away";
  // The code was used before or has expired.
  return cause.includes("invalid_grant") ? "lost" : "untrusted";
}

/** For the log: the library's error names and codes, never a token. */
export function toErrorCause(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const code = "code" in error ? `${String(error.code)} ` : "";
  const oauth = "error" in error ? `${String(error.error)} ` : "";
  return `${code}${oauth}${error.message}`.slice(0, 300);
}

type AdmittedTurn = NonNullable<ReturnType<OidcTurn["admitted"]>>;

const SALT = "lightdesk.id-token";
/** The hint becomes part of a URL. A longer one is omitted, and the provider then asks the user. */
const MAX_HINT_LENGTH = 4_000;
const HINT_SECONDS = 366 * 24 * 60 * 60;

type Account = { provider: string; id_token?: string };

/** Returns the session's id. A member who only confirmed or linked a provider keeps their session. */
export async function beginProviderSession(
  composition: Composition,
  admitted: AdmittedTurn,
  { provider, id_token }: Account,
  headers: Pick<Headers, "get">,
): Promise<string> {
  const { member, purpose, confirmedAt } = admitted;
  const currentId = purpose === "confirm" || purpose === "link" ? await readSessionId(composition, headers) : undefined;
  // A role that has just changed has already ended the session.
  if (currentId !== undefined && (await findSession(composition, currentId))?.member.id === member.id) {
    if (purpose === "confirm") await confirmSession(composition, currentId);
    return currentId;
  }
  const newSession = { memberId: member.id, version: member.sessionVersion, method: provider, confirmedAt };
  const { id: sid } = await beginSession(composition, newSession, headers);
  await storeIdToken(composition, sid, provider, id_token);
  return sid;
}

async function storeIdToken(
  { store, authSecret, log }: Dependencies<"store" | "authSecret" | "log">,
  sessionId: string,
  provider: string,
  idToken: string | undefined,
): Promise<void> {
  const isHintStored = idToken !== undefined && idToken.length <= MAX_HINT_LENGTH;
  const sealedHint = isHintStored
    ? await encode({ token: { hint: idToken }, secret: authSecret, salt: SALT, maxAge: HINT_SECONDS })
    : undefined;
  try {
    await store.identities.keepSession({ sessionId, provider, sealedHint });
  } catch (err) {
    // A full disk must not prevent a sign-in. Signing out then ends only the local session.
    log.warn({ provider, err }, "provider session update failed");
  }
}

/** Call before the session ends. Undefined if the session began here, or the provider has no sign-out page. */
export async function endSessionUrl(
  { store, env, authSecret, log }: Dependencies<"store" | "env" | "authSecret" | "log">,
  sessionId: string,
  returnTo: string,
): Promise<string | undefined> {
  const providerSession = await store.identities.sessionOf(sessionId);
  const provider = providerSession && env.oidc.find(({ id }) => id === providerSession.provider);
  if (!provider) return undefined;
  try {
    const discovery = await discover(provider, DISCOVERY_CACHE_MS);
    if (discovery.endSessionUrl === undefined) return undefined;
    const url = new URL(discovery.endSessionUrl);
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
