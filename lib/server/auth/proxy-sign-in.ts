// Signs a member in with the header of an authenticating reverse proxy.
// Only reads the header that our own server wrote. The session lasts as long as the proxy sends the header.

import "server-only";
import { createHash } from "node:crypto";
import { z } from "zod";
import { describeMember, type MemberChange } from "@/lib/contract/audit/audit";
import { type Composition, type Dependencies } from "../composition-type";
import { type ProxySignIn } from "../sign-in-settings";
import { type Member } from "../store/people/members";
import { getReadOnlyState } from "./read-only";
import { describeBrowser, findSession, type LiveSession, type RequestHeaders, startSession } from "./session";

const emailSchema = z.string().trim().toLowerCase().max(254).pipe(z.email());

/** The proxy authenticates every request, so the session counts as just confirmed. */
export async function signInByProxy(
  composition: Composition,
  proxyEmail: string,
  settings: ProxySignIn,
  headers: RequestHeaders,
): Promise<LiveSession | undefined> {
  const { now } = composition;
  const email = emailSchema.safeParse(proxyEmail).data;
  if (email === undefined || !hasAllowedDomain(email, settings.domains)) return undefined;
  const member = await findOrCreateMember(composition, email, settings);
  if (!member || member.disabled) return undefined;
  const id = deriveSessionId(member, headers);
  const liveSession = (await findSession(composition, id)) ?? (await startProxySession(composition, member, id, headers));
  return liveSession && { ...liveSession, session: { ...liveSession.session, confirmedAt: now() } };
}

async function findOrCreateMember(composition: Composition, email: string, { signUp }: ProxySignIn): Promise<Member | undefined> {
  const { store, now } = composition;
  const member = await store.members.getByEmail(email);
  // No members are created while the console is read-only.
  if (member || signUp === undefined || (await getReadOnlyState(composition))) return member;
  if (await store.identities.isRemoved(email)) return undefined;
  const [name = email] = email.split("@");
  const newMember = await store.members.create({ name, email, role: signUp, createdAt: now() });
  if (newMember) await addAuditEntry(composition, newMember, "joinThroughProxy", { role: { to: signUp }, signUp: true });
  // A new member's first two requests may arrive at the same time.
  return newMember ?? store.members.getByEmail(email);
}

async function startProxySession(
  composition: Composition,
  member: Member,
  id: string,
  headers: RequestHeaders,
): Promise<LiveSession | undefined> {
  const { isNew } = await startSession(composition, { id, memberId: member.id, version: member.sessionVersion, method: "proxy" }, headers);
  if (isNew) await addAuditEntry(composition, member, "signIn");
  return findSession(composition, id);
}

async function addAuditEntry(
  { store, now }: Dependencies<"store" | "now">,
  member: Member,
  action: string,
  change?: MemberChange,
): Promise<void> {
  const memberFields = { memberId: member.id, memberName: member.name, memberEmail: member.email };
  const auditTarget = change ? describeMember(member, change) : { target: member.email, outcome: "through the proxy" };
  await store.audit.add({ at: now(), requestId: "proxy", action, status: 200, ...memberFields, ...auditTarget });
}

function deriveSessionId({ id }: Member, headers: RequestHeaders): string {
  const digest = createHash("sha256")
    .update(`${id} ${describeBrowser(headers)}`)
    .digest("hex");
  return `proxy-${digest.slice(0, 32)}`;
}

function hasAllowedDomain(email: string, domains: readonly string[]): boolean {
  return domains.length === 0 || domains.some((domain) => email.endsWith(`@${domain}`));
}
