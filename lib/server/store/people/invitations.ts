// One-time invitation links, stored as a hash, with an expiry.

import "server-only";
import { randomUUID } from "node:crypto";
import { hasRole, type Role } from "@/lib/contract/members/roles";
import { type Database, deleteBefore } from "../database";
import { hashToken } from "../settings";
import { type Row } from "../tables";
import { type Identity, linkIdentity } from "./identities";
import { insertMember, type Member, runMemberChange, setPassword } from "./members";

const RETENTION_MS = 90 * 24 * 60 * 60_000;
const MAX_LISTED = 200;

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
export type Invitation = Omit<Row<"invitations">, "tokenHash">;
type InvitationAcceptance = { name: string; passwordHash?: string; identity?: Identity };

export function createInvitationStore(database: Database) {
  return {
    /** Only the newest link for an address is valid, so earlier open ones are withdrawn. */
    async create({ token, ...invitation }: NewInvitation): Promise<{ id: string }> {
      const { email, createdAt } = invitation;
      const id = randomUUID();
      await runMemberChange(database, async (transaction) => {
        await deleteBefore(transaction, "invitations", "expiresAt", createdAt - RETENTION_MS);
        await transaction
          .updateTable("invitations")
          .set({ withdrawnAt: createdAt })
          .where("email", "=", email)
          .where("acceptedAt", "is", null)
          .where("withdrawnAt", "is", null)
          .execute();
        await transaction
          .insertInto("invitations")
          .values({ ...invitation, id, tokenHash: hashToken(token) })
          .execute();
      });
      return { id };
    },

    async find(token: string): Promise<Invitation | undefined> {
      return database.selectFrom("invitations").selectAll().where("tokenHash", "=", hashToken(token)).executeTakeFirst();
    },

    async list(): Promise<Invitation[]> {
      return database
        .selectFrom("invitations")
        .selectAll()
        .where("resetsMemberId", "is", null)
        .orderBy("expiresAt", "desc")
        .orderBy("id")
        .limit(MAX_LISTED)
        .execute();
    },

    /**
     * Accepts the invitation and creates its member, or sets a member's new password, in one commit. Undefined if it is no longer valid.
     * "taken" means that the address belongs to a member, and the invitation is unchanged. With an identity, no password is set.
     */
    async accept(
      token: string,
      { name, passwordHash, identity }: InvitationAcceptance,
      now: number,
    ): Promise<Member | "taken" | undefined> {
      return runMemberChange(database, async (transaction) => {
        const row = await transaction
          .selectFrom("invitations")
          .select(["id", "email", "role", "resetsMemberId", "invitedBy"])
          .where("tokenHash", "=", hashToken(token))
          .where("acceptedAt", "is", null)
          .where("withdrawnAt", "is", null)
          .where("expiresAt", ">", now)
          .executeTakeFirst();
        if (!row) return undefined;
        const { email, resetsMemberId } = row;
        if (resetsMemberId !== undefined && passwordHash === undefined) return undefined;
        const inviterQuery = transaction.selectFrom("members").select(["role", "disabled"]).where("id", "=", row.invitedBy);
        if (resetsMemberId === undefined && !canInvite(await inviterQuery.executeTakeFirst(), row.role)) return undefined;
        const member =
          resetsMemberId === undefined || passwordHash === undefined
            ? await insertMember(transaction, { name, passwordHash, email, role: row.role, createdAt: now })
            : await setPassword(transaction, resetsMemberId, passwordHash, now);
        if (!member) return "taken";
        // Throws to undo everything, because another member got the identity in the meantime.
        if (identity && !(await linkIdentity(transaction, identity, member.id, now)))
          throw new Error("the identity belongs to another member");
        const acceptance = transaction.updateTable("invitations").set({ acceptedAt: now }).where("id", "=", row.id);
        // Another process may have withdrawn the invitation in the meantime. Throws to undo everything.
        const { numUpdatedRows } = await acceptance.where("withdrawnAt", "is", null).executeTakeFirst();
        if (Number(numUpdatedRows) === 0) throw new Error("the invitation was withdrawn in the meantime");
        return member;
      });
    },

    /** Returns its email address, or undefined if the invitation doesn't exist or is no longer valid. */
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

export function canInvite(inviter: Pick<Member, "role" | "disabled"> | undefined, role: Role): boolean {
  return inviter !== undefined && !inviter.disabled && hasRole(inviter.role, "admin") && hasRole(inviter.role, role);
}
