// Maps a provider's user to a member: known, linked, invited, new or refused.
// An email address identifies a member only if it is verified and the settings allow it. Groups never create or change an owner.

import "server-only";
import { describeMember, formatMemberIdentity, type MemberChange } from "@/lib/contract/audit/audit";
import { hasRole } from "@/lib/contract/members/roles";
import { type OidcRefusal } from "@/lib/contract/members/sign-in";
import { toPlainLine } from "@/lib/contract/plain-line";
import { type Composition, type Dependencies } from "@/lib/server/composition-type";
import { type OidcProvider } from "@/lib/server/sign-in-settings";
import { type Identity } from "@/lib/server/store/people/identities";
import { type Member } from "@/lib/server/store/people/members";
import { failed, ok, type Result } from "@/lib/shared/result";
import { findInviter, readInvitation } from "../members";
import { getReadOnlyState } from "../read-only";
import { type Purpose } from "../sealed-cookies";
import { type Person } from "./provider";

/** For the audit log: `kind` is the type of sign-in, and `change` is what it changed about the member. */
export type AdmittedMember = { member: Member; kind: "known" | "linked" | "joined" | "made"; change?: MemberChange };
/** `publicReason` is for the user, `cause` for the log. `person` is set once the address is verified. */
export type SignInRefusal = { publicReason: OidcRefusal; cause: string; person?: string };

const MAX_NAME_LENGTH = 100;

export async function admitPerson(
  composition: Composition,
  provider: OidcProvider,
  person: Person,
  purpose: Purpose,
): Promise<Result<AdmittedMember, SignInRefusal>> {
  const { email } = person;
  if (email === undefined) return refuseSignIn("unverified", "the address is missing or not verified");
  const admissionResult = await admitVerifiedPerson(composition, provider, { ...person, email }, purpose);
  return admissionResult.ok
    ? admissionResult
    : failed({ ...admissionResult.failure, person: formatMemberIdentity({ name: toMemberName({ ...person, email }), email }) });
}

type VerifiedPerson = Person & { email: string };

async function admitVerifiedPerson(
  composition: Composition,
  provider: OidcProvider,
  person: VerifiedPerson,
  purpose: Purpose,
): Promise<Result<AdmittedMember, SignInRefusal>> {
  const { email } = person;
  if (provider.domains.length > 0 && !provider.domains.includes(email.slice(email.lastIndexOf("@") + 1)))
    return refuseSignIn("domain", "the address belongs to another domain");
  const memberResult = await findMember(composition, provider, person, purpose);
  if (!memberResult.ok) return memberResult;
  const { member, kind, change } = memberResult.value;
  if (member.disabled) return suspendedRefusal;
  const memberWithRole = await applyRole(composition, member, person, provider, kind);
  if (!memberWithRole) return noGroupRefusal;
  return ok({ member: await applyAddress(composition, memberWithRole, email), kind, change });
}

async function findMember(
  composition: Composition,
  provider: OidcProvider,
  person: VerifiedPerson,
  purpose: Purpose,
): Promise<Result<AdmittedMember, SignInRefusal>> {
  const { store, now, log } = composition;
  const identity: Identity = { issuer: person.issuer, subject: person.subject, provider: provider.id };
  const storedIdentity = await store.identities.find(identity.issuer, identity.subject);
  const member = storedIdentity?.memberId === undefined ? undefined : await store.members.get(storedIdentity.memberId);
  if (purpose.kind === "confirm" || purpose.kind === "link") {
    const isOtherMember = member ? member.id !== purpose.memberId : purpose.kind === "confirm";
    if (isOtherMember) return refuseSignIn("other", "signed in at the provider as another member");
  }
  if (member) {
    try {
      await store.identities.recordUse(identity, now());
    } catch (err) {
      // A full disk must not lock anyone out.
      log.warn({ err }, "identity update failed");
    }
    return ok({ member, kind: "known" });
  }
  if (await getReadOnlyState(composition)) return refuseSignIn("read-only", "the console is read-only: no one can join or link a provider");
  if (purpose.kind === "link") {
    const linkingMember = await store.members.get(purpose.memberId);
    if (person.role === "none" && linkingMember?.role !== "owner") return noGroupRefusal;
    return linkIdentity(composition, identity, linkingMember);
  }
  // Someone whose groups may not sign in doesn't become a member.
  if (person.role === "none") return noGroupRefusal;
  if (purpose.kind === "join") return joinTeam(composition, provider, identity, person, purpose.token);
  const memberByEmail = await store.members.getByEmail(person.email);
  if (memberByEmail) {
    if (memberByEmail.disabled) return suspendedRefusal;
    return provider.linksByAddress
      ? linkIdentity(composition, identity, memberByEmail)
      : refuseSignIn("unlinked", "the address belongs to a member who has not linked this provider");
  }
  if (storedIdentity || (await store.identities.isRemoved(person.email))) return refuseSignIn("removed", "the member was removed");
  const role = person.role ?? provider.signUp;
  if (provider.signUp === undefined || role === undefined) return refuseSignIn("stranger", "not a member");
  const newMember = await store.identities.createMember(
    { name: toMemberName(person), email: person.email, role, createdAt: now() },
    identity,
  );
  const change = { role: { to: role }, provider: provider.label, ...(person.groups ? { groups: person.groups } : { signUp: true }) };
  return newMember
    ? ok({ member: newMember, kind: "made", change })
    : refuseSignIn("lost", "the address or the subject was taken meanwhile");
}

async function linkIdentity(
  { store, now }: Dependencies<"store" | "now">,
  identity: Identity,
  member: Member | undefined,
): Promise<Result<AdmittedMember, SignInRefusal>> {
  if (!member || !(await store.identities.link(identity, member.id, now())))
    return refuseSignIn("other", "the member is linked to another subject of this provider");
  return ok({ member, kind: "linked" });
}

/** The link and the verified address together identify the invited person. Groups override the invitation's role. */
async function joinTeam(
  composition: Composition,
  provider: OidcProvider,
  identity: Identity,
  person: VerifiedPerson,
  token: string,
): Promise<Result<AdmittedMember, SignInRefusal>> {
  const { store, now } = composition;
  const invitation = await readInvitation(composition, token);
  if (invitation.state !== "open") return refuseSignIn("invitation", `the invitation is ${invitation.state}`);
  if (invitation.resets) return refuseSignIn("invitation", "the link is for a new password");
  if (invitation.email.toLowerCase() !== person.email) return refuseSignIn("invited", "the invitation is for another address");
  const invitedBy = await findInviter(composition, token);
  const joinedMember = await store.invitations.accept(token, { name: toMemberName(person), identity }, now());
  if (joinedMember === "taken") return refuseSignIn("unlinked", "the address belongs to a member");
  if (!joinedMember) return refuseSignIn("invitation", "the invitation was used or withdrawn meanwhile");
  const { role, groups } = person;
  const roleChange =
    role === undefined || role === "none" || role === joinedMember.role
      ? { role: { to: joinedMember.role } }
      : { role: { from: joinedMember.role, to: role }, groups };
  return ok({ member: joinedMember, kind: "joined", change: { ...roleChange, provider: provider.label, invitedBy } });
}

/** Undefined if the person may not sign in. A changed role ends earlier sessions. No role is raised while the console is read-only. */
async function applyRole(
  composition: Composition,
  member: Member,
  { role, groups }: Person,
  { label }: OidcProvider,
  kind: AdmittedMember["kind"],
): Promise<Member | undefined> {
  const { store, now, log } = composition;
  if (member.role === "owner" || role === undefined || role === member.role) return member;
  if (role === "none") return undefined;
  if (!hasRole(member.role, role) && (await getReadOnlyState(composition))) return member;
  await store.sessions.recordEndReasons(member.id, `role ${member.role} ${role}`, now());
  const updatedMember = await store.members.change(member.id, { role });
  if (!updatedMember || kind === "joined") return updatedMember;
  const memberFields = { memberId: member.id, memberName: member.name, memberEmail: member.email, via: `provider ${label}` };
  const auditTarget = describeMember(member, { role: { from: member.role, to: role }, groups, provider: label });
  try {
    await store.audit.add({ at: now(), requestId: "sign-in", action: "changeMember", status: 200, ...memberFields, ...auditTarget });
  } catch (err) {
    log.error({ memberId: member.id, role, err }, "role change audit write failed");
  }
  return updatedMember;
}

/** A member without a password always has the provider's address, unless another member has it. */
async function applyAddress({ store }: Dependencies<"store">, member: Member, email: string): Promise<Member> {
  if (member.passwordHash !== undefined || member.email === email) return member;
  return (await store.members.changeAccount(member.id, { email })) ?? member;
}

function toMemberName({ name, email }: VerifiedPerson): string {
  const plainName = toPlainLine(name ?? "")
    .trim()
    .slice(0, MAX_NAME_LENGTH);
  return plainName === "" ? email.slice(0, MAX_NAME_LENGTH) : plainName;
}

const suspendedRefusal = refuseSignIn("suspended", "the member is suspended");
const noGroupRefusal = refuseSignIn("groups", "not in any group that may sign in");

function refuseSignIn(publicReason: OidcRefusal, cause: string): Result<never, SignInRefusal> {
  return failed({ publicReason, cause });
}
