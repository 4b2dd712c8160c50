// Members and invitations: changes, removal, and which roles each role may grant.

import "server-only";
import { randomBytes } from "node:crypto";
import { describeMember, formatMemberIdentity, type MemberChange } from "@/lib/contract/audit/audit";
import { type InvitationItem, type InvitationState, type InvitationView, type MemberView } from "@/lib/contract/console";
import { createFailure, createFieldFailure, type Failure } from "@/lib/contract/failure";
import { hasRole, type Role } from "@/lib/contract/members/roles";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Composition, type Dependencies } from "../composition-type";
import { getConsoleUrl } from "../env";
import { type OidcProvider } from "../sign-in-settings";
import { type StoredIdentity } from "../store/people/identities";
import { canInvite, type Invitation } from "../store/people/invitations";
import { type Member } from "../store/people/members";
import { hashPassword, validatePassword } from "./passwords";
import { checkReadOnly } from "./read-only";
import { type Context, createRoleTooLowFailure } from "./viewer";

type Change = { role?: Role; disabled?: boolean };

export async function changeMember(context: Context, id: string, change: Change): Promise<Result<MemberView, Failure>> {
  const { store, now } = context.composition;
  const result = await requireManageableMember(context, id);
  if (!result.ok) return result;
  const member = result.value;
  if (change.role !== undefined) {
    if (!hasRole(context.viewer.role, change.role)) return failed(createRoleTooLowFailure(context.viewer.role, change.role));
    const provider = findRoleProvider(context.composition, member, await store.identities.list(id));
    if (provider && change.role !== member.role) return failed(createRoleFromGroupsFailure(member, provider));
  }
  const cause = change.disabled ? "suspended" : change.role === undefined ? "ended" : (`role ${member.role} ${change.role}` as const);
  await store.sessions.recordEndReasons(id, cause, now());
  const updatedMember = await store.members.change(id, change);
  return updatedMember ? ok(toMemberView(updatedMember)) : failed(memberNotFoundFailure);
}

export async function removeMember(context: Context, id: string): Promise<Result<undefined, Failure>> {
  const { store, now } = context.composition;
  const result = await requireManageableMember(context, id);
  if (!result.ok) return result;
  await store.identities.recordRemoval(result.value.email, now());
  await store.sessions.recordEndReasons(id, "removed", now());
  return (await store.members.remove(id)) ? ok(undefined) : failed(memberNotFoundFailure);
}

/** Describes a member for the audit log, with the changed values and the actor. Call it before the change. */
export async function describeMemberChange(
  { composition: { store }, viewer }: Context,
  id: string,
  change?: Change,
): Promise<{ target: string; outcome?: string }> {
  const member = await store.members.get(id);
  if (!member) return { target: id };
  const memberChange: MemberChange = {
    ...(change?.role !== undefined && { role: { from: member.role, to: change.role } }),
    ...(change?.disabled !== undefined && { disabled: change.disabled }),
    by: formatMemberIdentity(viewer),
  };
  return describeMember(member, memberChange);
}

export function toMemberView({ id, name, email, role, disabled, createdAt, seenAt }: Member): MemberView {
  return { id, name, email, role, disabled, createdAt, ...(seenAt !== undefined && { seenAt }) };
}

/** The provider whose groups set the member's role at each sign-in. Undefined if admins set it. */
export function findRoleProvider(
  { env }: Dependencies<"env">,
  { id, role }: Member,
  identities: readonly StoredIdentity[],
): OidcProvider | undefined {
  if (role === "owner") return undefined;
  const providerIds = new Set(identities.filter(({ memberId }) => memberId === id).map(({ provider }) => provider));
  return env.oidc.find((provider) => provider.roles && providerIds.has(provider.id));
}

async function requireManageableMember({ composition: { store }, viewer }: Context, id: string): Promise<Result<Member, Failure>> {
  const member = await store.members.get(id);
  if (!member) return failed(memberNotFoundFailure);
  if (member.role === "owner")
    return failed(
      createFailure(
        "OWNER_PROTECTED",
        `${member.name} is the owner. The owner's role is fixed, and no one can suspend or remove the owner.`,
      ),
    );
  if (member.id === viewer.memberId)
    return failed(createFailure("OWN_MEMBERSHIP", "You cannot change your own role, suspend or remove yourself. Ask another admin."));
  if (!hasRole(viewer.role, member.role)) return failed(createRoleTooLowFailure(viewer.role, member.role));
  return ok(member);
}

function createRoleFromGroupsFailure({ name }: Member, { label }: OidcProvider): Failure {
  return createFailure("ROLE_FROM_GROUPS", `The role of ${name} follows their groups at ${label}. Change the groups there.`);
}

const memberNotFoundFailure = createFailure("NOT_FOUND", "There is no such member.");

const INVITATION_LIFETIME_MS = 7 * 24 * 60 * 60_000;

/** `requestOrigin` is the origin through which the inviting member reached the console. A configured public URL takes precedence. */
export async function inviteMember(
  { composition: { store, env, now }, viewer }: Context,
  invitation: { email: string; role: Role },
  requestOrigin: string | null,
): Promise<Result<{ url: string; expiresAt: number }, Failure>> {
  if (!hasRole(viewer.role, invitation.role)) return failed(createRoleTooLowFailure(viewer.role, invitation.role));
  if (await store.members.getByEmail(invitation.email)) return failed(emailTakenFailure);
  const token = randomBytes(32).toString("base64url");
  const createdAt = now();
  const expiresAt = createdAt + INVITATION_LIFETIME_MS;
  await store.invitations.create({ token, ...invitation, invitedBy: viewer.memberId, expiresAt, createdAt });
  return ok({ url: `${getConsoleUrl(env, requestOrigin)}/invitation?token=${token}`, expiresAt });
}

export async function listInvitationItems({ store, now }: Dependencies<"store" | "now">): Promise<InvitationItem[]> {
  const [invitations, members] = await Promise.all([store.invitations.list(), store.members.list()]);
  const membersById = new Map(members.map((member) => [member.id, member]));
  return invitations.map((invitation) => {
    const inviter = membersById.get(invitation.invitedBy);
    const { id, email, role, createdAt, expiresAt } = invitation;
    return { id, email, role, createdAt, expiresAt, state: getInvitationState(invitation, inviter, now()), invitedBy: inviter?.name };
  });
}

export async function withdrawInvitation({ store, now }: Dependencies<"store" | "now">, id: string): Promise<Result<string, Failure>> {
  const email = await store.invitations.withdraw(id, now());
  return email === undefined ? failed(invitationNotOpenFailure) : ok(email);
}

export async function readInvitation({ store, now }: Dependencies<"store" | "now">, token: string): Promise<InvitationView> {
  const invitation = await store.invitations.find(token);
  if (!invitation) return { state: "unknown" };
  const { email, role, invitedBy } = invitation;
  const state = getInvitationState(invitation, await store.members.get(invitedBy), now());
  return state === "open" ? { state, email, role, resets: invitation.resetsMemberId !== undefined } : { state };
}

export async function findInviter({ store }: Dependencies<"store">, token: string): Promise<string | undefined> {
  const invitation = await store.invitations.find(token);
  const inviter = invitation && (await store.members.get(invitation.invitedBy));
  return inviter && formatMemberIdentity(inviter);
}

function getInvitationState(invitation: Invitation, inviter: Member | undefined, now: number): InvitationItem["state"] {
  if (invitation.acceptedAt !== undefined) return "used";
  if (invitation.withdrawnAt !== undefined) return "withdrawn";
  if (invitation.expiresAt <= now) return "expired";
  // Reset links are created on the command line, by someone with access to the data folder.
  if (invitation.resetsMemberId !== undefined) return "open";
  return canInvite(inviter, invitation.role) ? "open" : "withdrawn";
}

type JoinResult = { member: Member; isNew: boolean; invitedBy?: string };

export async function acceptInvitation(
  composition: Composition,
  acceptance: { token: string; name?: string; password: string },
): Promise<Result<JoinResult, Failure>> {
  const { store, env, now } = composition;
  const invitation = await readInvitation(composition, acceptance.token);
  if (invitation.state !== "open") return failed(createInvitationFailure(invitation.state));
  const readOnlyFailure = invitation.resets ? undefined : await checkReadOnly(composition);
  if (readOnlyFailure) return failed(readOnlyFailure);
  if (!invitation.resets && !env.passwordSignIn && !env.proxySignIn) return failed(passwordSignInDisabledFailure);
  if (!invitation.resets && acceptance.name === undefined) return failed(nameRequiredFailure);
  const passwordFailure = await validatePassword(composition, acceptance.password, invitation.email);
  if (passwordFailure) return failed(passwordFailure);
  const passwordHash = await hashPassword(acceptance.password);
  const invitedBy = invitation.resets ? undefined : await findInviter(composition, acceptance.token);
  const memberToReset = invitation.resets ? await store.members.getByEmail(invitation.email) : undefined;
  if (memberToReset) await store.sessions.recordEndReasons(memberToReset.id, "password", now());
  const joinedMember = await store.invitations.accept(acceptance.token, { name: acceptance.name ?? "", passwordHash }, now());
  if (joinedMember === "taken") return failed(emailTakenFailure);
  if (joinedMember) return ok({ member: joinedMember, isNew: !invitation.resets, invitedBy });
  const { state } = await readInvitation(composition, acceptance.token);
  return failed(createInvitationFailure(state === "open" ? "used" : state));
}

type ClosedInvitationState = Exclude<InvitationState, "open">;
const invitationErrors: Readonly<Record<ClosedInvitationState, string>> = {
  used: "This link has been used.",
  expired: "This link has expired.",
  withdrawn: "This link was withdrawn, or its sender can no longer invite members.",
  unknown: "There is no such invitation.",
};

function createInvitationFailure(state: ClosedInvitationState): Failure {
  return createFailure("UNAUTHORIZED", invitationErrors[state], { invitation: state });
}

const passwordSignInDisabledFailure = createFailure("FORBIDDEN", "Password sign-in is off. Accept the invitation with a sign-in provider.");
const nameRequiredFailure = createFieldFailure("name", "required");
export const emailTakenFailure = createFailure("CONFLICT", "This email address already belongs to a member.");
const invitationNotOpenFailure = createFailure("NOT_FOUND", "There is no such invitation, or it can no longer be used.");
