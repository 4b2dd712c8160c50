// Verifies a sign-in with an OIDC provider and stores the provider's session.

import "server-only";
import { decode, encode } from "next-auth/jwt";
import { type OAuthConfig } from "next-auth/providers/oauth";
import { type OidcRefusal } from "@/lib/contract/members/sign-in";
import { type Composition, type Dependencies } from "@/lib/server/composition-type";
import { getOidcSettingName, type OidcProvider } from "@/lib/server/sign-in-settings";
import { type Purpose, type SignInState } from "../sealed-cookies";
import { confirmSession, findSession, readSessionId, startSession } from "../session";
import { admitPerson, type AdmittedMember, type SignInRefusal } from "./admit";
import { type Claims, discover, DISCOVERY_CACHE_MS, type DiscoveryDocument, readPerson, toNextAuth } from "./provider";

export type OidcSignIn = {
  config: OAuthConfig<Claims>;
  provider: OidcProvider;
  verify(claims: Claims): Promise<boolean>;
  /** Call after `verify`. `confirmedAt` is when the member last proved their identity, as reported by the provider. */
  getAdmittedMember(): (AdmittedMember & { purpose: Purpose["kind"]; confirmedAt: number }) | undefined;
  getRefusal(): SignInRefusal;
};

const MAX_CLOCK_SKEW_MS = 60_000;

export function createOidcSignIn(
  composition: Composition,
  provider: OidcProvider,
  discovery: DiscoveryDocument,
  signInState: SignInState | undefined,
  isLoginForced = false,
): OidcSignIn {
  let admittedMember: ReturnType<OidcSignIn["getAdmittedMember"]>;
  // If the provider's response is never processed, the cookies of this sign-in were missing or wrong.
  let signInRefusal: SignInRefusal = {
    publicReason: "lost",
    cause: "the browser's state for this sign-in is missing or belongs to another sign-in",
  };
  const config = toNextAuth(
    provider,
    discovery,
    isLoginForced,
    (error) => (signInRefusal = { publicReason: toPublicReason(error), cause: toErrorCause(error) }),
  );
  return {
    config,
    provider,
    async verify(claims) {
      const person = readPerson(claims, provider);
      if (!person || !signInState) return false;
      const { now } = composition;
      const { purpose } = signInState;
      // If max_age was requested, the provider must report the time of the sign-in (OpenID Connect Core, 3.1.2.1).
      if (purpose.kind === "confirm" && person.signedInAt === undefined && !provider.isUndated) {
        const setting = `${getOidcSettingName(provider.id, "UNDATED")}=1`;
        signInRefusal = {
          publicReason: "undated",
          cause: `the provider did not report auth_time; if it can't, set ${setting} to skip this check`,
        };
        return false;
      }
      if (purpose.kind === "confirm" && person.signedInAt !== undefined && person.signedInAt < signInState.at - MAX_CLOCK_SKEW_MS) {
        signInRefusal = { publicReason: "stale", cause: "the provider reused its own session" };
        return false;
      }
      const result = await admitPerson(composition, provider, person, purpose);
      if (!result.ok) signInRefusal = result.failure;
      else {
        const confirmedAt = purpose.kind === "confirm" ? now() : Math.min(now(), person.signedInAt ?? 0);
        admittedMember = { ...result.value, purpose: purpose.kind, confirmedAt };
      }
      return result.ok;
    },
    getAdmittedMember: () => admittedMember,
    getRefusal: () => signInRefusal,
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
  const oauthError = "error" in error ? `${String(error.error)} ` : "";
  return `${code}${oauthError}${error.message}`.slice(0, 300);
}

type AdmittedSignIn = NonNullable<ReturnType<OidcSignIn["getAdmittedMember"]>>;

const SALT = "lightdesk.id-token";
/** The hint becomes part of a URL. A longer one is omitted, and the provider then prompts the user. */
const MAX_HINT_LENGTH = 4_000;
const HINT_LIFETIME_SECONDS = 366 * 24 * 60 * 60;

type Account = { provider: string; id_token?: string };

/** Returns the session's id. A member who only confirmed or linked a provider keeps their session. */
export async function startProviderSession(
  composition: Composition,
  admittedMember: AdmittedSignIn,
  { provider, id_token }: Account,
  headers: Pick<Headers, "get">,
): Promise<string> {
  const { member, purpose, confirmedAt } = admittedMember;
  const currentSessionId = purpose === "confirm" || purpose === "link" ? await readSessionId(composition, headers) : undefined;
  // `findSession` returns undefined if a role change has ended the session.
  if (currentSessionId !== undefined && (await findSession(composition, currentSessionId))?.member.id === member.id) {
    if (purpose === "confirm") await confirmSession(composition, currentSessionId);
    return currentSessionId;
  }
  const newSession = { memberId: member.id, version: member.sessionVersion, method: provider, confirmedAt };
  const { id } = await startSession(composition, newSession, headers);
  await storeIdToken(composition, id, provider, id_token);
  return id;
}

async function storeIdToken(
  { store, authSecret, log }: Dependencies<"store" | "authSecret" | "log">,
  sessionId: string,
  provider: string,
  idToken: string | undefined,
): Promise<void> {
  const canStoreHint = idToken !== undefined && idToken.length <= MAX_HINT_LENGTH;
  const sealedHint = canStoreHint
    ? await encode({ token: { hint: idToken }, secret: authSecret, salt: SALT, maxAge: HINT_LIFETIME_SECONDS })
    : undefined;
  try {
    await store.identities.saveSession({ sessionId, provider, sealedHint });
  } catch (err) {
    // A full disk must not prevent a sign-in. Signing out then ends only the local session.
    log.warn({ provider, err }, "provider session update failed");
  }
}

/** Call before the session ends. Undefined if the session was not started at a provider, or the provider has no sign-out page. */
export async function getProviderLogoutUrl(
  { store, env, authSecret, log }: Dependencies<"store" | "env" | "authSecret" | "log">,
  sessionId: string,
  returnTo: string,
): Promise<string | undefined> {
  const providerSession = await store.identities.findSession(sessionId);
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
