// Signs members in with a password, and creates the first member.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { failed, ok, type Result } from "@/lib/shared/result";
import { telemetry } from "@/lib/shared/telemetry";
import { type Composition, type Parts } from "../composition-type";
import { storeApiKey } from "../keys/key-ring";
import { type Member } from "../store/people/members";
import { EMBEDDED_BASE_URL } from "../upstream/send";
import { hashPassword, judgePassword, verifyPassword } from "./passwords";
import { type Attempt } from "./sign-in-limits";

const TEAM_USER = "team";
const DEFAULT_CONNECTION_ID = "embedded";
const EMBEDDED_NAME = "Embedded service";

export async function setUp(
  composition: Composition,
  given: { token: string; name: string; email: string; password: string },
): Promise<Result<Member, Failure>> {
  const { store, now, log } = composition;
  if (!(await store.setUpToken.has(given.token))) {
    return failed({ code: "UNAUTHORIZED", message: "This link has been used or is from an earlier start.", status: 401 });
  }
  const weak = await judgePassword(composition, given.password, given.email);
  if (weak) return failed(weak);
  const passwordHash = await hashPassword(given.password);
  await ensureDefaultConnection(composition);
  const owner = await store.members.createFirstOwner({ name: given.name, email: given.email, passwordHash, createdAt: now() });
  if (!owner) return failed({ code: "CONFLICT", message: "Lightdesk already has an owner.", status: 409 });
  await store.setUpToken.clear();
  log.info({ memberId: owner.id }, "the owner was made");
  return ok(owner);
}

async function ensureDefaultConnection({ store, ring, serviceKeys, now }: Composition): Promise<void> {
  // The id is fixed, so two attempts at once make one connection.
  const made = await store.connections.create({
    id: DEFAULT_CONNECTION_ID,
    name: EMBEDDED_NAME,
    baseUrl: EMBEDDED_BASE_URL,
    createdAt: now(),
  });
  if (await store.keys.getOf(made.id)) return;
  const { key: apiKey } = await serviceKeys().createKey(TEAM_USER);
  await storeApiKey(store.keys, ring, { connectionId: made.id, apiKey, now: now() });
  await store.connections.setStatus(made.id, "active");
}

const MAX_LENGTH = 254;

export async function signIn(composition: Composition, given: Attempt & { password: string }): Promise<Result<Member, Failure>> {
  const { store, signInLimits, log } = composition;
  const email = given.email.trim().toLowerCase();
  if (email === "" || email.length > MAX_LENGTH || given.password === "" || given.password.length > MAX_LENGTH) return failed(refused);
  const waitMs = await signInLimits.take({ ...given, email });
  if (waitMs > 0) {
    telemetry().metrics?.count("lightdesk_sign_in_refusals_total", { way: "password", reason: "limited" });
    return failed({ code: "RATE_LIMITED", message: "Too many attempts. Try again later.", status: 429, retryAfterMs: waitMs });
  }
  const member = await store.members.getByEmail(email);
  const fits = await verifyPassword(member?.passwordHash, given.password);
  const refusal = !member || !fits ? refused : member.disabled ? suspended : mayUsePassword(composition, member) ? undefined : passwordOff;
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
export function mayUsePassword({ env, now }: Parts<"env" | "now">, { passwordHash, passwordResetAt }: Member): boolean {
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
