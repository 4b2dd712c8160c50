// Signing in with an address and a password.
// Guarantees: the same response, at the same cost, for an unknown account, a wrong password and a member without a password. Only the right
// password reveals that the member is suspended, or that passwords are switched off.
// Must never: log the address of a failed attempt or anything about a password.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { failed, ok, type Result } from "@/lib/shared/result";
import { telemetry } from "@/lib/shared/telemetry";
import { composition } from "../composition";
import { type Member } from "../store/people/members";
import { verifyPassword } from "./passwords";
import { type Attempt } from "./sign-in-limits";

const LONGEST = 254;

export async function signIn(given: Attempt & { password: string }): Promise<Result<Member, Failure>> {
  const { store, signInLimits, log, ready } = composition();
  await ready;
  const email = given.email.trim().toLowerCase();
  if (email === "" || email.length > LONGEST || given.password === "" || given.password.length > LONGEST) return failed(refused);
  const waitMs = await signInLimits.take({ ...given, email });
  if (waitMs > 0) {
    telemetry().metrics?.count("lightdesk_sign_in_refusals_total", { way: "password", reason: "limited" });
    return failed({ code: "RATE_LIMITED", message: "Too many attempts. Try again later.", status: 429, retryAfterMs: waitMs });
  }
  const member = await store.members.getByEmail(email);
  const fits = await verifyPassword(member?.passwordHash, given.password);
  const refusal = !member || !fits ? refused : member.disabled ? suspended : mayUsePassword(member) ? undefined : passwordOff;
  if (!member || refusal) {
    const { code } = refusal ?? refused;
    telemetry().metrics?.count("lightdesk_sign_in_refusals_total", { way: "password", reason: "wrong" });
    log.warn({ address: given.address, code }, "sign-in refused");
    return failed(refusal ?? refused);
  }
  await signInLimits.succeeded({ ...given, email });
  log.info({ memberId: member.id }, "signed in");
  return ok(member);
}

const WAY_BACK_MS = 24 * 60 * 60_000;

/** If passwords are switched off, a member may use one for a day after it was reset from the command line (docs/decisions/0038). */
export function mayUsePassword({ passwordHash, passwordResetAt }: Member): boolean {
  const { env, now } = composition();
  if (passwordHash === undefined) return false;
  return env.passwordSignIn || (passwordResetAt !== undefined && now() - passwordResetAt < WAY_BACK_MS);
}

const suspended: Failure = { code: "SUSPENDED", message: "Your account is suspended. Ask an owner or admin of your team.", status: 403 };
const passwordOff: Failure = {
  code: "PASSWORD_SIGN_IN_OFF",
  message: "Signing in with a password is switched off here. Use a sign-in provider.",
  status: 403,
};
/** Failures shown only for the right password. Passed through next-auth by code. */
export const explainedRefusals: readonly Failure[] = [suspended, passwordOff];
const refused: Failure = { code: "UNAUTHORIZED", message: "Address or password is wrong.", status: 401 };
