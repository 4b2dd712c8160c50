// The session that a sign-in at a provider begins or confirms, and signing out at the provider too (RP-initiated logout). What the sign-out
// needs is stored beside our session and deleted with it.
// Guarantees: the ID token is encrypted in the store and never in a cookie; an unreachable provider does not prevent signing out here.

import "server-only";
import { decode, encode } from "next-auth/jwt";
import { composition } from "@/lib/server/composition";
import { beginSession, confirmSession, findSession, sessionIdIn } from "../session";
import { discover, KEPT_MS } from "./discovery";
import { type OidcTurn } from "./turn";

type Admitted = NonNullable<ReturnType<OidcTurn["admitted"]>>;

const SALT = "lightdesk.id-token";
/** The hint is part of an address: a longer one is left out, and the provider then asks the person. */
const LONGEST_HINT = 4_000;
const KEPT_SECONDS = 366 * 24 * 60 * 60;

type Account = { provider: string; id_token?: string };

/** Answers the session's id: a member who only confirmed, or added this way to sign in, keeps their session. */
export async function beginProviderSession(
  admitted: Admitted,
  { provider, id_token }: Account,
  sent: Pick<Headers, "get">,
): Promise<string> {
  const { member, purpose, confirmedAt } = admitted;
  const current = purpose === "confirm" || purpose === "link" ? await sessionIdIn(sent) : undefined;
  // A role that has just changed has already ended the session.
  if (current !== undefined && (await findSession(current))?.member.id === member.id) {
    if (purpose === "confirm") await confirmSession(current);
    return current;
  }
  const begun = { memberId: member.id, version: member.sessionVersion, method: provider, confirmedAt };
  const { id: sid } = await beginSession(begun, sent);
  await keep(sid, provider, id_token);
  return sid;
}

async function keep(sessionId: string, provider: string, idToken: string | undefined): Promise<void> {
  const { store, authSecret, log } = composition();
  const isKept = idToken !== undefined && idToken.length <= LONGEST_HINT;
  const sealedHint = isKept ? await encode({ token: { hint: idToken }, secret: authSecret, salt: SALT, maxAge: KEPT_SECONDS }) : undefined;
  try {
    await store.identities.keepSession({ sessionId, provider, sealedHint });
  } catch (err) {
    // A full disk must not lock anyone out: signing out then ends only the session here.
    log.warn({ provider, err }, "what ends the session at the provider was not written");
  }
}

/** Call it before the session is ended. Undefined: the session began here, or the provider has no sign-out page. */
export async function endSessionUrl(sessionId: string, returnTo: string): Promise<string | undefined> {
  const { store, env, authSecret, log } = composition();
  const kept = await store.identities.sessionOf(sessionId);
  const provider = kept && env.oidc.find(({ id }) => id === kept.provider);
  if (!provider) return undefined;
  try {
    const found = await discover(provider, KEPT_MS);
    if (found.endSessionUrl === undefined) return undefined;
    const url = new URL(found.endSessionUrl);
    const token = kept.sealedHint === undefined ? null : await decode({ token: kept.sealedHint, secret: authSecret, salt: SALT });
    if (typeof token?.hint === "string") url.searchParams.set("id_token_hint", token.hint);
    url.searchParams.set("client_id", provider.clientId);
    url.searchParams.set("post_logout_redirect_uri", returnTo);
    return url.href;
  } catch (err) {
    log.warn({ provider: provider.id, err }, "the session of the provider was not ended");
    return undefined;
  }
}
