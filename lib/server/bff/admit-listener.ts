// Authorizes WebSocket subscriptions (GET /ws) like any other read, and checks them again while they are open.

import "server-only";
import { type IncomingMessage } from "node:http";
import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { type Failure, refusal } from "@/lib/contract/failure";
import { hasRole } from "@/lib/contract/people/roles";
import { EVENTS } from "@/lib/contract/people/sign-in";
import { type FeedAdmission } from "@/lib/shared/http-types";
import { passMessages } from "../answers/live-progress";
import { readSentToken } from "../auth/credentials";
import { admit, countedAs, endOf, readViewer } from "../auth/viewer";
import { composition } from "../composition";
import { connectionChanged, isSameReach, openConnection, reachOf } from "../connections/access";
import { VOUCHED_HEADER } from "../cookies";
import { ADDRESS_HEADER } from "../limits/attempt-limit";
import { CHALLENGE } from "../requests/responses";
import { isSameOrigin } from "./guard";

const MAX_CLIENT_ID = 200;
/** Members who only run apps may not subscribe: they would also get messages about other members' jobs. */
const roleTooLow = refusal("ROLE_TOO_LOW", "This needs the role viewer.");

export async function admitListener({ url, headers: rawHeaders }: IncomingMessage): Promise<FeedAdmission> {
  const current = composition();
  const { env, memberLimit, listenTo } = current;
  const search = new URLSearchParams(url?.split("?")[1]);
  const headers = headersOf(rawHeaders, search.get("token"));
  if (readSentToken(headers) === undefined && !isSameOrigin({ headers }, env.publicUrl))
    return refused(refusal("FOREIGN_ORIGIN", "The request comes from another site."));
  const admitted = await admit(current, headers);
  if (!admitted.ok) return refused(admitted.failure);
  const viewer = admitted.value;
  if (!hasRole(viewer.role, "viewer")) return refused(roleTooLow);
  if (viewer.scope.operations?.includes(EVENTS) === false)
    return refused(refusal("FORBIDDEN", "This token or page is not allowed to receive events."));
  if ((await memberLimit.take(countedAs(viewer))) > 0) return refused(refusal("RATE_LIMITED", "Too many requests. Try again in a moment."));
  const connectionParam = search.get(CONNECTION_PARAMETER) ?? undefined;
  const connectionResult = await openConnection({ composition: current, viewer }, connectionParam);
  if (!connectionResult.ok) return refused(connectionResult.failure);
  const access = connectionResult.value;
  const clientId = search.get("clientId")?.slice(0, MAX_CLIENT_ID) || undefined;

  async function objection(): Promise<string | undefined> {
    const now = await readViewer(current, headers);
    if (!now) return endOf(viewer.credential).message;
    if (!hasRole(now.role, "viewer")) return roleTooLow.message;
    const reach = await reachOf({ composition: current, viewer: now }, connectionParam);
    return reach.ok && isSameReach(access, reach.value) ? undefined : connectionChanged.message;
  }
  return {
    ok: true,
    owner: countedAs(viewer),
    async open(target) {
      const feed = await listenTo(access.target, clientId, passMessages(access, target));
      return feed && { stop: () => feed.stop(), objection: async () => (await objection()) ?? feed.objection() };
    },
  };
}

/** Only here may the address carry the token: the interface's clients have no other way to open a WebSocket with a key. */
function headersOf(incoming: IncomingMessage["headers"], token: string | null): Headers {
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
    VOUCHED_HEADER,
  ])
    if (incoming[name] !== undefined) headers.set(name, String(incoming[name]));
  // Beside a different token in the header, both are refused.
  if (token && headers.get("x-api-key") !== token) headers.append("x-api-key", token);
  return headers;
}

function refused({ status, code, message }: Failure): FeedAdmission {
  return { ok: false, refused: { status, code, message, ...(status === 401 && { headers: { "www-authenticate": CHALLENGE } }) } };
}

export async function maySeeReasons({ headers }: IncomingMessage): Promise<boolean> {
  // Responds at once without a cookie: reading a viewer waits for startup, but a load balancer needs an earlier response.
  if (headers.cookie === undefined) return false;
  const viewer = await readViewer(composition(), { get: (name) => (name === "cookie" ? (headers.cookie ?? null) : null) });
  return viewer !== undefined && hasRole(viewer.role, "admin");
}
