// Invitations to the team: a one-time link, stored as a hash, with an end.
// Guarantees: of many who open one link at once, one is accepted.

import "server-only";
import { randomUUID } from "node:crypto";
import { roles, type Role } from "@/lib/contract/roles";
import { type Database } from "./database";
import { hashToken } from "./set-up-token";

export type NewInvitation = { token: string; email: string; role: Role; invitedBy: string; expiresAt: number };
export type Invitation = { email: string; role: Role; invitedBy: string; expiresAt: number; accepted: boolean };
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

    /** Whatever became of it. */
    async find(token: string): Promise<Invitation | undefined> {
      const row = await database.selectFrom("invitations").selectAll().where("token_hash", "=", hashToken(token)).executeTakeFirst();
      return (
        row && {
          email: row.email,
          role: toRole(row.role),
          invitedBy: row.invited_by,
          expiresAt: Number(row.expires_at),
          accepted: row.accepted_at !== null,
        }
      );
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
      return row && { email: row.email, role: toRole(row.role) };
    },
  };
}

/** An unknown word in the table gives the weakest role, never a stronger one. */
function toRole(word: string): Role {
  return roles.find((role) => role === word) ?? "viewer";
}
