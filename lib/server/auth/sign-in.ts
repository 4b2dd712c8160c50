// Signs members in with a password, and creates the first member.

import "server-only";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { failed, ok, type Result } from "@/lib/shared/result";
import { getTelemetry } from "@/lib/shared/telemetry";
import { type Composition, type Dependencies } from "../composition-type";
import { storeApiKey } from "../keys/key-ring";
import { type Attempt, createRateLimitFailure } from "../limits/attempt-limit";
import { type Member } from "../store/people/members";
import { EMBEDDED_BASE_URL } from "../upstream/send";
import { hashPassword, validatePassword, verifyPassword } from "./passwords";

const TEAM_USER = "team";
const DEFAULT_CONNECTION_ID = "embedded";
const EMBEDDED_NAME = "Embedded service";

export async function createOwner(
  composition: Composition,
  account: { token: string; name: string; email: string; password: string },
): Promise<Result<Member, Failure>> {
  const { store, now, log } = composition;
  if (!(await store.setUpToken.has(account.token))) {
    return failed(createFailure("UNAUTHORIZED", "This link has been used or is from an earlier start."));
  }
  const passwordFailure = await validatePassword(composition, account.password, account.email);
  if (passwordFailure) return failed(passwordFailure);
  const passwordHash = await hashPassword(account.password);
  await ensureDefaultConnection(composition);
  const owner = await store.members.createFirstOwner({ name: account.name, email: account.email, passwordHash, createdAt: now() });
  if (!owner) return failed(createFailure("CONFLICT", "Lightdesk already has an owner."));
  await store.setUpToken.clear();
  log.info({ memberId: owner.id }, "owner created");
  return ok(owner);
}

async function ensureDefaultConnection({ store, keyRing, serviceKeys, now }: Composition): Promise<void> {
  // The id is fixed, so that concurrent attempts create a single connection.
  const connection = await store.connections.create({
    id: DEFAULT_CONNECTION_ID,
    name: EMBEDDED_NAME,
    baseUrl: EMBEDDED_BASE_URL,
    createdAt: now(),
  });
  if (await store.keys.getByConnection(connection.id)) return;
  const { key: apiKey } = await serviceKeys().createKey(TEAM_USER);
  await storeApiKey(store.keys, keyRing, { connectionId: connection.id, apiKey, now: now() });
  await store.connections.setStatus(connection.id, "active");
}

const MAX_CREDENTIAL_LENGTH = 254;

export async function signIn(composition: Composition, credentials: Attempt & { password: string }): Promise<Result<Member, Failure>> {
  const { store, signInLimits, log } = composition;
  const email = credentials.email.trim().toLowerCase();
  if (
    email === "" ||
    email.length > MAX_CREDENTIAL_LENGTH ||
    credentials.password === "" ||
    credentials.password.length > MAX_CREDENTIAL_LENGTH
  )
    return failed(wrongCredentialsFailure);
  const waitMs = await signInLimits.consume({ ...credentials, email });
  if (waitMs > 0) {
    getTelemetry().metrics?.count("lightdesk_sign_in_refusals_total", { way: "password", reason: "limited" });
    return failed(createRateLimitFailure(waitMs));
  }
  const member = await store.members.getByEmail(email);
  const isPasswordCorrect = await verifyPassword(member?.passwordHash, credentials.password);
  const failure =
    !member || !isPasswordCorrect
      ? wrongCredentialsFailure
      : member.disabled
        ? suspendedFailure
        : canUsePassword(composition, member)
          ? undefined
          : passwordSignInOffFailure;
  if (!member || failure) {
    const { code } = failure ?? wrongCredentialsFailure;
    getTelemetry().metrics?.count("lightdesk_sign_in_refusals_total", { way: "password", reason: "wrong" });
    log.warn({ address: credentials.address, code }, "sign-in refused");
    return failed(failure ?? wrongCredentialsFailure);
  }
  await signInLimits.recordSuccess({ ...credentials, email });
  return ok(member);
}

const RESET_GRACE_MS = 24 * 60 * 60_000;

/** If passwords are switched off, a member may use one for a day after it was reset from the command line (docs/decisions/0038). */
export function canUsePassword({ env, now }: Dependencies<"env" | "now">, { passwordHash, passwordResetAt }: Member): boolean {
  if (passwordHash === undefined) return false;
  return env.passwordSignIn || (passwordResetAt !== undefined && now() - passwordResetAt < RESET_GRACE_MS);
}

const suspendedFailure = createFailure("SUSPENDED", "Your account is suspended. Ask an owner or admin of your team.");
const passwordSignInOffFailure = createFailure("PASSWORD_SIGN_IN_OFF", "Password sign-in is off. Use a sign-in provider.");
const wrongCredentialsFailure = createFailure("UNAUTHORIZED", "Wrong email address or password.");
