// Invitations to the team: a one-time link, stored as a hash, with an end.
// Guarantees: of many who open one link at once, one is accepted.

import "server-only";
import { randomUUID } from "node:crypto";
import { roles, type Role } from "@/lib/contract/roles";
import { type Database } from "./database";
import { hashToken } from "./set-up-token";

export type NewInvitation = { token: string; email: string; role: Role; invitedBy: string; expiresAt: number };
export type InvitationStore = ReturnType<typeof createInvitationStore>;

export function createInvitationStore(database: Database) {
  return {
    async create(invitation: NewInvitation): Promise<{ id: string }> {
      const id = randomUUID();
      await database
        .insertInto("invitations")
        .values({
          id,
          token_hash: hashToken(invitation.token),
          email: invitation.email,
          role: invitation.role,
          invited_by: invitation.invitedBy,
          expires_at: invitation.expiresAt,
          accepted_at: null,
        })
        .execute();
      return { id };
    },

    /** Takes the invitation if it is open; the second taker gets undefined. */
    async accept(token: string, now: number): Promise<{ email: string; role: Role } | undefined> {
      const row = await database
        .updateTable("invitations")
        .set({ accepted_at: now })
        .where("token_hash", "=", hashToken(token))
        .where("accepted_at", "is", null)
        .where("expires_at", ">", now)
        .returning(["email", "role"])
        .executeTakeFirst();
      return row && { email: row.email, role: roles.find((role) => role === row.role) ?? "viewer" };
    },
  };
}
