// Options of the sign-in and set-up pages.

import "server-only";
import { type Failure, refusal } from "@/lib/contract/failure";
import { type MemberMethods, type SignInChoices, type SignInMethods } from "@/lib/contract/people/sign-in";
import { failed, ok, type Result } from "@/lib/shared/result";
import { isSignInByAddress } from "../auth/account";
import { canUsePassword } from "../auth/sign-in";
import { type Context } from "../auth/viewer";
import { type Composition, type Parts } from "../composition-type";
import { type StoredIdentity } from "../store/people/identities";
import { type Member } from "../store/people/members";

export function getSignInChoices({ env }: Parts<"env">): SignInChoices {
  return { password: env.passwordSignIn, providers: env.oidc.map(({ id, label }) => ({ id, label })) };
}

/** Why a person whom the reverse proxy identifies is refused. */
export async function getVouchedRefusal(
  { store }: Parts<"store">,
  email: string,
): Promise<"vouchedSuspended" | "vouchedRemoved" | "stranger"> {
  const address = email.trim().toLowerCase();
  const member = await store.members.getByEmail(address);
  if (member?.disabled) return "vouchedSuspended";
  return !member && (await store.identities.isRemoved(address)) ? "vouchedRemoved" : "stranger";
}

export async function getSignInMethods({ composition, viewer: { memberId } }: Context): Promise<SignInMethods> {
  const { env, store } = composition;
  // A console without providers makes no further queries.
  const fixed: Pick<SignInMethods, "hasFixedAddress"> = isSignInByAddress(composition) ? { hasFixedAddress: true } : {};
  if (env.oidc.length === 0) return { password: true, ...fixed, providers: [] };
  const [member, identities] = await Promise.all([store.members.get(memberId), store.identities.list(memberId)]);
  const providers = env.oidc.map(({ id, label }) => ({ id, label, connected: identities.some(({ provider }) => provider === id) }));
  return { password: member !== undefined && canUsePassword(composition, member), ...fixed, providers };
}

/** For the list of members; undefined if passwords are the only way to sign in. */
export function readMemberMethods(
  composition: Composition,
  identities: readonly StoredIdentity[],
): ((member: Member) => MemberMethods) | undefined {
  const { env } = composition;
  if (env.oidc.length === 0 && identities.length === 0) return undefined;
  const labelOf = new Map(env.oidc.map(({ id, label }) => [id, label]));
  return (member) => ({
    password: canUsePassword(composition, member),
    providers: identities.filter(({ memberId }) => memberId === member.id).map(({ provider }) => labelOf.get(provider) ?? provider),
  });
}

/** A member keeps their last way to sign in. */
export async function disconnectProvider(context: Context, id: string): Promise<Result<undefined, Failure>> {
  const { env, store } = context.composition;
  const { password, providers } = await getSignInMethods(context);
  const connected = providers.filter((provider) => provider.connected);
  // A reset link's day of password use does not count: it ends soon.
  const hasPassword = password && env.passwordSignIn;
  if (!hasPassword && connected.every((provider) => provider.id === id))
    return failed(refusal("CONFLICT", "This is your only way to sign in."));
  if (await store.identities.unlink(context.viewer.memberId, id)) return ok(undefined);
  return failed(refusal("NOT_FOUND", "It is not connected."));
}

type SetUpState = "open" | "over" | "unknown" | "noToken";

export async function getSetUp({ store }: Parts<"store">, token: string | undefined): Promise<SetUpState> {
  if (await store.members.hasOwner()) return "over";
  if (token === undefined) return "noToken";
  return (await store.setUpToken.has(token)) ? "open" : "unknown";
}
