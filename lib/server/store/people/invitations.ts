// Invitations to the team: a one-time link, stored as a hash, with an expiry.
// Guarantees: if many open one link at once, one is accepted; a withdrawn invitation lets no one in; old
// ones are deleted when a new one is made.

import "server-only";
import { randomUUID } from "node:crypto";
import { type Role, roles } from "@/lib/contract/people/roles";
import { type Database } from "../database";
import { hashToken } from "../settings";
import { type Identity, linkIdentity } from "./identities";
import { insertMember, type Member, oneMemberAtATime, setPassword } from "./members";
import { type InvitationRow } from "./people-rows";

const KEPT_MS = 90 * 24 * 60 * 60_000;
const MOST_LISTED = 200;

export type NewInvitation = {
  token: string;
  email: string;
  role: Role;
  invitedBy: string;
  expiresAt: number;
  createdAt: number;
  /** For a member who has lost the password. */
  resetsMemberId?: string;
};
export type Invitation = {
  id: string;
  email: string;
  role: Role;
  invitedBy: string;
  createdAt: number | undefined;
  expiresAt: number;
  accepted: boolean;
  withdrawn: boolean;
  resetsMemberId: string | undefined;
};
type Accepting = { name: string; passwordHash?: string; identity?: Identity };
export type InvitationStore = ReturnType<typeof createInvitationStore>;

export function createInvitationStore(database: Database) {
  return {
    /** Only the newest link to an address counts: earlier open ones are withdrawn. */
    async create({ token, email, role, invitedBy, expiresAt, createdAt, resetsMemberId }: NewInvitation): Promise<{ id: string }> {
      const id = randomUUID();
      await oneMemberAtATime(database, async (transaction) => {
        await transaction
          .deleteFrom("invitations")
          .where("expiresAt", "<", createdAt - KEPT_MS)
          .execute();
        await transaction
          .updateTable("invitations")
          .set({ withdrawnAt: createdAt })
          .where("email", "=", email)
          .where("acceptedAt", "is", null)
          .where("withdrawnAt", "is", null)
          .execute();
        const about = { id, email, role, invitedBy, expiresAt, createdAt };
        await transaction
          .insertInto("invitations")
          .values({
            ...about,
            tokenHash: hashToken(token),
            acceptedAt: null,
            withdrawnAt: null,
            resetsMemberId: resetsMemberId ?? null,
          })
          .execute();
      });
      return { id };
    },

    /** In any state. */
    async find(token: string): Promise<Invitation | undefined> {
      const row = await database.selectFrom("invitations").selectAll().where("tokenHash", "=", hashToken(token)).executeTakeFirst();
      return row && toInvitation(row);
    },

    /** Invitations to join, newest first, in any state. */
    async list(): Promise<Invitation[]> {
      const rows = await database
        .selectFrom("invitations")
        .selectAll()
        .where("resetsMemberId", "is", null)
        .orderBy("expiresAt", "desc")
        .orderBy("id")
        .limit(MOST_LISTED)
        .execute();
      return rows.map(toInvitation);
    },

    /**
     * Accepts the invitation and makes its member, or gives a member a new password, in one commit; a second attempt gets undefined.
     * "taken": the address is a member's, and the invitation stays unchanged. A person who joins through a provider gets no password, and
     * resets none.
     */
    async accept(token: string, { name, passwordHash, identity }: Accepting, now: number): Promise<Member | "taken" | undefined> {
      return oneMemberAtATime(database, async (transaction) => {
        const row = await transaction
          .selectFrom("invitations")
          .select(["id", "email", "role", "resetsMemberId"])
          .where("tokenHash", "=", hashToken(token))
          .where("acceptedAt", "is", null)
          .where("withdrawnAt", "is", null)
          .where("expiresAt", ">", now)
          .executeTakeFirst();
        if (!row) return undefined;
        const { email, resetsMemberId: resets } = row;
        if (resets !== null && passwordHash === undefined) return undefined;
        const member =
          resets === null || passwordHash === undefined
            ? await insertMember(transaction, { name, passwordHash, email, role: toRole(row.role), createdAt: now })
            : await setPassword(transaction, resets, passwordHash, now);
        if (!member) return "taken";
        // Another member got the identity meanwhile: undo everything.
        if (identity && !(await linkIdentity(transaction, identity, member.id, now))) throw new Error("the identity is another member's");
        const taken = transaction.updateTable("invitations").set({ acceptedAt: now }).where("id", "=", row.id);
        // Withdrawn in another process meanwhile: undo everything.
        const { numUpdatedRows } = await taken.where("withdrawnAt", "is", null).executeTakeFirst();
        if (Number(numUpdatedRows) === 0) throw new Error("the invitation was withdrawn meanwhile");
        return member;
      });
    },

    /** Answers the address it was for; undefined if there is no such invitation, or it can no longer be used. */
    async withdraw(id: string, now: number): Promise<string | undefined> {
      const row = await database
        .updateTable("invitations")
        .set({ withdrawnAt: now })
        .where("id", "=", id)
        .where("acceptedAt", "is", null)
        .where("withdrawnAt", "is", null)
        .returning("email")
        .executeTakeFirst();
      return row?.email;
    },
  };
}

function toInvitation(row: InvitationRow): Invitation {
  return {
    id: row.id,
    email: row.email,
    role: toRole(row.role),
    invitedBy: row.invitedBy,
    createdAt: row.createdAt ?? undefined,
    expiresAt: row.expiresAt,
    accepted: row.acceptedAt !== null,
    withdrawn: row.withdrawnAt !== null,
    resetsMemberId: row.resetsMemberId ?? undefined,
  };
}

/** An unknown role in the table becomes the weakest role, never a stronger one. */
function toRole(word: string): Role {
  return roles.find((role) => role === word) ?? roles[0];
}
