// A member's own account: name, address, password, and the end of all of its sessions.
// Guarantees: address and password change with the present password only, tried as often as at the sign-in and no oftener; a new password
// ends every session, this one too.
// Must never: touch another member than the one who asks.

import "server-only";
import { type z } from "zod";
import { type accountChangeSchema, type MemberView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { failed, ok, type Result } from "@/lib/shared/result";
import { composition } from "../composition";
import { taken } from "./invitations";
import { toMemberView } from "./members";
import { hashPassword, judgePassword, verifyPassword } from "./passwords";
import { type Viewer } from "./viewer";

/** `address`: of who asks, for the limit of attempts. */
export async function changeAccount(
  { memberId, email: known }: Viewer,
  { name, email, password, currentPassword }: z.infer<typeof accountChangeSchema>,
  address: string,
): Promise<Result<MemberView, Failure>> {
  const { store, signInLimits } = composition();
  if (email !== undefined || password !== undefined) {
    const waitMs = signInLimits.take(known, address);
    if (waitMs > 0)
      return failed({ code: "RATE_LIMITED", message: "Too many attempts. Try again later.", status: 429, retryAfterMs: waitMs });
    const member = await store.members.get(memberId);
    if (!(await verifyPassword(member?.passwordHash, currentPassword ?? ""))) return failed(wrongPassword);
    signInLimits.succeeded(known, address);
  }
  const weak = password === undefined ? undefined : await judgePassword(password, email ?? known);
  if (weak) return failed(weak);
  const passwordHash = password === undefined ? undefined : await hashPassword(password);
  const changed = await store.members.changeAccount(memberId, { name, email, passwordHash });
  return changed ? ok(toMemberView(changed)) : failed(taken);
}

export async function endSessions({ memberId }: Viewer): Promise<void> {
  await composition().store.members.change(memberId, {});
}

const wrongPassword: Failure = {
  code: "INVALID_BODY",
  message: "currentPassword: is not your current password",
  status: 400,
  details: [{ path: "currentPassword", message: "is not your current password" }],
};
