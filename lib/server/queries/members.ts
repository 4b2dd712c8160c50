// Members, their sign-in methods, invitations and token options, and the options of the sign-in and set-up pages.

import "server-only";
import { type InvitationItem, type MemberView } from "@/lib/contract/console";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { hasRole } from "@/lib/contract/members/roles";
import {
  APPS_OPERATION,
  EVENTS_OPERATION,
  type MemberMethods,
  type SignInChoices,
  type SignInMethods,
} from "@/lib/contract/members/sign-in";
import { type TokenChoices, type TokenOperation } from "@/lib/contract/members/tokens";
import { allOperations } from "@/lib/contract/operations";
import { failed, ok, type Result } from "@/lib/shared/result";
import { usesEmailForSignIn } from "../auth/account";
import { findRoleProvider, listInvitationItems, toMemberView } from "../auth/members";
import { canUsePassword } from "../auth/sign-in";
import { adminRequiredFailure, type Context } from "../auth/viewer";
import { type Composition, type Dependencies } from "../composition-type";
import { listConnectionViews } from "../connections/connection-views";
import { type StoredIdentity } from "../store/people/identities";
import { type Member } from "../store/people/members";

export async function listInvitations({ composition, viewer }: Context): Promise<Result<InvitationItem[], Failure>> {
  return hasRole(viewer.role, "admin") ? ok(await listInvitationItems(composition)) : failed(adminRequiredFailure);
}

export async function getAccount({ composition: { store }, viewer: { memberId } }: Context): Promise<MemberView | undefined> {
  const member = await store.members.get(memberId);
  return member && toMemberView(member);
}

export async function listMembers({ composition, viewer }: Context): Promise<Result<MemberView[], Failure>> {
  if (!hasRole(viewer.role, "admin")) return failed(adminRequiredFailure);
  const { store } = composition;
  const [members, identities] = await Promise.all([store.members.list(), store.identities.list()]);
  const getMethods = createMemberMethods(composition, identities);
  return ok(
    members.map((member) => {
      const roleFrom = findRoleProvider(composition, member, identities)?.label;
      return { ...toMemberView(member), ...(getMethods && { methods: getMethods(member) }), ...(roleFrom !== undefined && { roleFrom }) };
    }),
  );
}

export async function getTokenChoices(context: Context): Promise<TokenChoices> {
  const connections = await listConnectionViews(context);
  return { connections: connections.map(({ id, name, current }) => ({ id, name, current })), operations };
}

const operations: TokenOperation[] = [
  ...allOperations.map(({ name, method, path }) => ({ name, call: `${method} ${path}` })),
  { name: EVENTS_OPERATION, call: "GET /ws" },
  { name: APPS_OPERATION, call: "POST /api/apps/{id}/runs" },
];

export function getSignInChoices({ env }: Dependencies<"env">): SignInChoices {
  return { password: env.passwordSignIn, providers: env.oidc.map(({ id, label }) => ({ id, label })) };
}

/** Returns why a user whom the reverse proxy authenticated is rejected. */
export async function getProxyRefusal(
  { store }: Dependencies<"store">,
  email: string,
): Promise<"vouchedSuspended" | "vouchedRemoved" | "stranger"> {
  const address = email.trim().toLowerCase();
  const member = await store.members.getByEmail(address);
  if (member?.disabled) return "vouchedSuspended";
  return !member && (await store.identities.isRemoved(address)) ? "vouchedRemoved" : "stranger";
}

export async function getSignInMethods({ composition, viewer: { memberId } }: Context): Promise<SignInMethods> {
  const { env, store } = composition;
  const addressFields: Pick<SignInMethods, "hasFixedAddress"> = (await usesEmailForSignIn(composition)) ? { hasFixedAddress: true } : {};
  // Without providers, no further queries are needed.
  if (env.oidc.length === 0) return { password: true, ...addressFields, providers: [] };
  const [member, identities] = await Promise.all([store.members.get(memberId), store.identities.list(memberId)]);
  const providers = env.oidc.map(({ id, label }) => ({ id, label, connected: identities.some(({ provider }) => provider === id) }));
  return { password: member !== undefined && canUsePassword(composition, member), ...addressFields, providers };
}

/** For the list of members. Undefined if passwords are the only sign-in method. */
function createMemberMethods(
  composition: Composition,
  identities: readonly StoredIdentity[],
): ((member: Member) => MemberMethods) | undefined {
  const { env } = composition;
  if (env.oidc.length === 0 && identities.length === 0) return undefined;
  const labelsById = new Map(env.oidc.map(({ id, label }) => [id, label]));
  return (member) => ({
    password: canUsePassword(composition, member),
    providers: identities.filter(({ memberId }) => memberId === member.id).map(({ provider }) => labelsById.get(provider) ?? provider),
  });
}

/** Fails if it is the member's last sign-in method. */
export async function disconnectProvider(context: Context, id: string): Promise<Result<undefined, Failure>> {
  const { env, store } = context.composition;
  const { password, providers } = await getSignInMethods(context);
  const connectedProviders = providers.filter((provider) => provider.connected);
  // Ignores password sign-in after a reset link, because it is only allowed for a day.
  const hasPassword = password && env.passwordSignIn;
  if (!hasPassword && connectedProviders.every((provider) => provider.id === id))
    return failed(createFailure("CONFLICT", "This is your only way to sign in."));
  if (await store.identities.unlink(context.viewer.memberId, id)) return ok(undefined);
  return failed(createFailure("NOT_FOUND", "This provider is not connected."));
}

type SetUpState = "open" | "over" | "unknown" | "noToken";

export async function getSetUpState({ store }: Dependencies<"store">, token: string | undefined): Promise<SetUpState> {
  if (await store.members.hasOwner()) return "over";
  if (token === undefined) return "noToken";
  return (await store.setUpToken.has(token)) ? "open" : "unknown";
}
