// Authorizes WebSocket subscriptions (GET /ws) like any other read, and repeats the checks while they are open.

import "server-only";
import { type IncomingMessage } from "node:http";
import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { hasRole } from "@/lib/contract/members/roles";
import { EVENTS_OPERATION } from "@/lib/contract/members/sign-in";
import { type FeedAdmission } from "@/lib/shared/http-types";
import { readSentToken } from "../auth/credentials";
import { authenticate, getRateLimitKey, readViewer, toEndedFailure } from "../auth/viewer";
import { getComposition } from "../composition";
import { connectionChangedFailure, isSameTarget, openConnection, resolveTarget } from "../connections/access";
import { PROXY_EMAIL_HEADER } from "../cookies";
import { ADDRESS_HEADER } from "../limits/attempt-limit";
import { CHALLENGE } from "../requests/responses";
import { createMessageRedactor } from "../responses/live-progress";
import { isSameOrigin } from "./guard";

const MAX_CLIENT_ID_LENGTH = 200;
/** Members who only run apps may not subscribe, because they would receive messages about other members' jobs. */
const viewerRequiredFailure = createFailure("ROLE_TOO_LOW", "This needs the role viewer.");

export async function authorizeSubscription({ url, headers: rawHeaders }: IncomingMessage): Promise<FeedAdmission> {
  const composition = getComposition();
  const { env, memberLimit, openFeed } = composition;
  const search = new URLSearchParams(url?.split("?")[1]);
  const headers = toHeaders(rawHeaders, search.get("token"));
  if (readSentToken(headers) === undefined && !isSameOrigin({ headers }, env.publicUrl))
    return toRefusal(createFailure("FOREIGN_ORIGIN", "The request comes from another site."));
  const viewerResult = await authenticate(composition, headers);
  if (!viewerResult.ok) return toRefusal(viewerResult.failure);
  const viewer = viewerResult.value;
  if (!hasRole(viewer.role, "viewer")) return toRefusal(viewerRequiredFailure);
  if (viewer.scope.operations?.includes(EVENTS_OPERATION) === false)
    return toRefusal(createFailure("FORBIDDEN", "This token or page is not allowed to receive events."));
  if ((await memberLimit.consume(getRateLimitKey(viewer))) > 0)
    return toRefusal(createFailure("RATE_LIMITED", "Too many requests. Try again in a moment."));
  const connectionParam = search.get(CONNECTION_PARAMETER) ?? undefined;
  const connectionResult = await openConnection({ composition, viewer }, connectionParam);
  if (!connectionResult.ok) return toRefusal(connectionResult.failure);
  const access = connectionResult.value;
  const clientId = search.get("clientId")?.slice(0, MAX_CLIENT_ID_LENGTH) || undefined;

  async function findRejectionReason(): Promise<string | undefined> {
    const currentViewer = await readViewer(composition, headers);
    if (!currentViewer) return toEndedFailure(viewer.credential).message;
    if (!hasRole(currentViewer.role, "viewer")) return viewerRequiredFailure.message;
    const targetResult = await resolveTarget({ composition, viewer: currentViewer }, connectionParam);
    return targetResult.ok && isSameTarget(access, targetResult.value) ? undefined : connectionChangedFailure.message;
  }
  return {
    ok: true,
    owner: getRateLimitKey(viewer),
    async open(target) {
      const feed = await openFeed(access.target, clientId, createMessageRedactor(access, target));
      return feed && { stop: () => feed.stop(), findDenialReason: async () => (await findRejectionReason()) ?? feed.findDenialReason() };
    },
  };
}

/** WebSocket clients of the API can't set headers, so only here the URL may contain the token. */
function toHeaders(rawHeaders: IncomingMessage["headers"], token: string | null): Headers {
  const headers = new Headers();
  for (const name of [
    "host",
    "origin",
    "sec-fetch-site",
    "cookie",
    "x-api-key",
    "authorization",
    "user-agent",
    ADDRESS_HEADER,
    PROXY_EMAIL_HEADER,
  ])
    if (rawHeaders[name] !== undefined) headers.set(name, String(rawHeaders[name]));
  // If the header has a different token, both are set and the request is rejected.
  if (token && headers.get("x-api-key") !== token) headers.append("x-api-key", token);
  return headers;
}

function toRefusal({ status, code, message }: Failure): FeedAdmission {
  return { ok: false, error: { status, code, message, ...(status === 401 && { headers: { "www-authenticate": CHALLENGE } }) } };
}

export async function canSeeReasons({ headers }: IncomingMessage): Promise<boolean> {
  // Without a cookie this returns at once. Reading a viewer waits for startup, but load balancers don't.
  if (headers.cookie === undefined) return false;
  const viewer = await readViewer(getComposition(), { get: (name) => (name === "cookie" ? (headers.cookie ?? null) : null) });
  return viewer !== undefined && hasRole(viewer.role, "admin");
}
