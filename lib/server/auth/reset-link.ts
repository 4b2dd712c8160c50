// Creates a one-time password reset link from the command line.

import "server-only";
import { describeMember } from "@/lib/contract/audit/audit";
import { type Env, getConsoleUrl } from "../env";
import { type Store } from "../store/store";

const RESET_LINK_LIFETIME_MS = 24 * 60 * 60_000;

type ResetRequest = { store: Store; env: Env; email: string; token: string; now: number };

export async function createResetLink({ store, env, email, token, now }: ResetRequest): Promise<string | undefined> {
  const member = await store.members.getByEmail(email);
  if (!member) return undefined;
  const resetFields = { email: member.email, role: member.role, invitedBy: member.id, resetsMemberId: member.id };
  await store.invitations.create({ token, ...resetFields, expiresAt: now + RESET_LINK_LIFETIME_MS, createdAt: now });
  await store.audit.add({ at: now, requestId: "command line", action: "makeResetLink", status: 200, ...describeMember(member) });
  return `${getConsoleUrl(env)}/invitation?token=${token}`;
}
