// Maps a provider's person to a member: known, linked, invited, new or refused.
// An address leads to a member only if it is verified and the settings allow it; groups never make or change an owner.

import "server-only";
import { aboutMember, type MemberChange, personLabel } from "@/lib/contract/audit/audit";
import { hasRole } from "@/lib/contract/people/roles";
import { type OidcRefusal } from "@/lib/contract/people/sign-in";
import { toPlainLine } from "@/lib/contract/plain-line";
import { type Composition, type Parts } from "@/lib/server/composition-type";
import { type OidcProvider } from "@/lib/server/sign-in-settings";
import { type Identity } from "@/lib/server/store/people/identities";
import { type Member } from "@/lib/server/store/people/members";
import { failed, ok, type Result } from "@/lib/shared/result";
import { inviterOf, readInvitation } from "../members";
import { readReadOnly } from "../read-only";
import { type Purpose } from "../sealed-cookies";
import { type Person } from "./provider";

/** `kind`: for the audit log, if more happened than a sign-in. `change`: what the sign-in changed about the member, and why. */
export type AdmittedMember = { member: Member; kind: "known" | "linked" | "joined" | "made"; change?: MemberChange };
/** `shown` is for the person, `cause` for the log; `person` is set once the address is verified. */
export type SignInRefusal = { shown: OidcRefusal; cause: string; person?: string };

const MAX_NAME_LENGTH = 100;

export async function admit(
  composition: Composition,
  provider: OidcProvider,
  person: Person,
  purpose: Purpose,
): Promise<Result<AdmittedMember, SignInRefusal>> {
  const { email } = person;
  if (email === undefined) return refuse("unverified", "the address is missing or not verified");
  const admitted = await admitVerified(composition, provider, { ...person, email }, purpose);
  return admitted.ok ? admitted : failed({ ...admitted.failure, person: personLabel({ name: nameOf({ ...person, email }), email }) });
}

type VerifiedPerson = Person & { email: string };

async function admitVerified(
  composition: Composition,
  provider: OidcProvider,
  person: VerifiedPerson,
  purpose: Purpose,
): Promise<Result<AdmittedMember, SignInRefusal>> {
  const { email } = person;
  if (provider.domains.length > 0 && !provider.domains.includes(email.slice(email.lastIndexOf("@") + 1)))
    return refuse("domain", "the address is of another domain");
  const memberResult = await findMember(composition, provider, person, purpose);
  if (!memberResult.ok) return memberResult;
  const { member, kind, change } = memberResult.value;
  if (member.disabled) return suspended;
  const changed = await applyRole(composition, member, person, provider, kind);
  if (!changed) return inNoGroup;
  return ok({ member: await applyAddress(composition, changed, email), kind, change });
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
    const isOther = member ? member.id !== purpose.memberId : purpose.kind === "confirm";
    if (isOther) return refuse("other", "signed in at the provider as another member");
  }
  if (member) {
    try {
      await store.identities.noteUse(identity, now());
    } catch (err) {
      // A full disk must not lock anyone out.
      log.warn({ err }, "identity update failed");
    }
    return ok({ member, kind: "known" });
  }
  if (await readReadOnly(composition)) return refuse("read-only", "the console is read-only: no one can join or connect a provider");
  if (purpose.kind === "link") return link(composition, identity, await store.members.get(purpose.memberId));
  // A person whose groups may not sign in doesn't become a member.
  if (person.role === "none") return inNoGroup;
  if (purpose.kind === "join") return joinTeam(composition, provider, identity, person, purpose.token);
  const holder = await store.members.getByEmail(person.email);
  if (holder) {
    if (holder.disabled) return suspended;
    return provider.linksByAddress
      ? link(composition, identity, holder)
      : refuse("unlinked", "the address is a member's who has not linked this provider");
  }
  if (storedIdentity || (await store.identities.isRemoved(person.email))) return refuse("removed", "the member was removed");
  const role = person.role ?? provider.signUp;
  if (provider.signUp === undefined || role === undefined) return refuse("stranger", "not a member");
  const newMember = await store.identities.makeMember({ name: nameOf(person), email: person.email, role, createdAt: now() }, identity);
  const change = { role: { to: role }, provider: provider.label, ...(person.groups ? { groups: person.groups } : { signUp: true }) };
  return newMember ? ok({ member: newMember, kind: "made", change }) : refuse("lost", "the address or the subject was taken meanwhile");
}

async function link(
  { store, now }: Parts<"store" | "now">,
  identity: Identity,
  member: Member | undefined,
): Promise<Result<AdmittedMember, SignInRefusal>> {
  if (!member || !(await store.identities.link(identity, member.id, now())))
    return refuse("other", "the member is known to the provider by another subject");
  return ok({ member, kind: "linked" });
}

/** The link and the verified address together prove that this is the invited person. Groups override the invitation's role. */
async function joinTeam(
  composition: Composition,
  provider: OidcProvider,
  identity: Identity,
  person: VerifiedPerson,
  token: string,
): Promise<Result<AdmittedMember, SignInRefusal>> {
  const { store, now } = composition;
  const invitation = await readInvitation(composition, token);
  if (invitation.state !== "open") return refuse("invitation", `the invitation is ${invitation.state}`);
  if (invitation.resets) return refuse("invitation", "the link is for a new password");
  if (invitation.email.toLowerCase() !== person.email) return refuse("invited", "the invitation is for another address");
  const invitedBy = await inviterOf(composition, token);
  const joined = await store.invitations.accept(token, { name: nameOf(person), identity }, now());
  if (joined === "taken") return refuse("unlinked", "the address is a member's");
  if (!joined) return refuse("invitation", "the invitation was used meanwhile");
  const { role, groups } = person;
  const roleChange =
    role === undefined || role === "none" || role === joined.role
      ? { role: { to: joined.role } }
      : { role: { from: joined.role, to: role }, groups };
  return ok({ member: joined, kind: "joined", change: { ...roleChange, provider: provider.label, invitedBy } });
}

/** Undefined: may not sign in. A changed role ends earlier sessions; while the console is read-only, no role is raised. */
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
  if (!hasRole(member.role, role) && (await readReadOnly(composition))) return member;
  await store.sessions.recordEndReasons(member.id, `role ${member.role} ${role}`, now());
  const changed = await store.members.change(member.id, { role });
  if (!changed || kind === "joined") return changed;
  const memberFields = { memberId: member.id, memberName: member.name, memberEmail: member.email, via: `provider ${label}` };
  const about = aboutMember(member, { role: { from: member.role, to: role }, groups, provider: label });
  try {
    await store.audit.add({ at: now(), requestId: "sign-in", action: "changeMember", status: 200, ...memberFields, ...about });
  } catch (err) {
    log.error({ memberId: member.id, role, err }, "audit entry of a role change failed");
  }
  return changed;
}

/** A member without a password always has the provider's address. An address that another member has is not taken over. */
async function applyAddress({ store }: Parts<"store">, member: Member, email: string): Promise<Member> {
  if (member.passwordHash !== undefined || member.email === email) return member;
  return (await store.members.changeAccount(member.id, { email })) ?? member;
}

function nameOf({ name, email }: VerifiedPerson): string {
  const plain = toPlainLine(name ?? "")
    .trim()
    .slice(0, MAX_NAME_LENGTH);
  return plain === "" ? email.slice(0, MAX_NAME_LENGTH) : plain;
}

const suspended = refuse("suspended", "the member is suspended");
const inNoGroup = refuse("groups", "in none of the groups that may sign in");

function refuse(publicReason: OidcRefusal, cause: string): Result<never, SignInRefusal> {
  return failed({ shown: publicReason, cause });
}
