// Members, and one-time invitation links stored as hashes. Email addresses are lower case and unique; there is at most one owner.

import "server-only";
import { createHash, randomUUID } from "node:crypto";
import { type Kysely } from "kysely";
import { type Role } from "@/lib/contract/people/roles";
import { type Database, hasEffect, prepareOne } from "../database";
import { dialectOf } from "../dialect";
import { hashToken } from "../settings";
import { type Row, type Tables } from "../tables";
import { type Identity, linkIdentity } from "./identities";

export type Member = Omit<Row<"members">, "passwordHash" | "guestSeenAt"> & { passwordHash: string | undefined };
export type NewMember = { name: string; email: string; role: Role; passwordHash?: string; passwordResetAt?: number; createdAt: number };
export type AccountChange = { name?: string; email?: string; passwordHash?: string };

const GUEST_KEPT_MS = 30 * 24 * 60 * 60_000;
const GUESTS_AT_ONCE = 200;

/** Work that looks for an owner, an address or an identity and then writes it runs one after the other. */
export const oneMemberAtATime = <T>(database: Database, work: (trx: Kysely<Tables>) => Promise<T>) =>
  dialectOf(database).serially(database, "members", work);

export function createMemberStore(database: Database) {
  const byId = prepareOne(database, database.selectFrom("members").selectAll().where("id", "=", ""));
  return {
    async hasOwner(): Promise<boolean> {
      const row = await database.selectFrom("members").select("id").where("role", "=", "owner").limit(1).executeTakeFirst();
      return row !== undefined;
    },

    async createFirstOwner(member: Omit<NewMember, "role">): Promise<Member | undefined> {
      return oneMemberAtATime(database, async (transaction) => {
        const owner = await transaction.selectFrom("members").select("id").where("role", "=", "owner").executeTakeFirst();
        if (owner) return undefined;
        const row = toRow({ ...member, role: "owner", passwordResetAt: member.createdAt });
        return toMember(await transaction.insertInto("members").values(row).returningAll().executeTakeFirstOrThrow());
      });
    },

    create: (member: NewMember) => insertMember(database, member),

    /**
     * The guest that a host page knows as `sub`, with the current name. The id is derived, so a guest who returns after removal is the same
     * person; only guests from before migration 0029 have random ids, which they keep until they are removed.
     */
    async guest(hostId: string, { sub, name }: { sub: string; name: string }, now: number): Promise<Member> {
      // Not an address: no one can type one like it.
      const email = `guest ${hostId} ${createHash("sha256").update(sub).digest("hex")}`;
      const id = `guest-${createHash("sha256").update(email).digest("hex").slice(0, 32)}`;
      const of = { id, disabled: true, guestOf: hostId, guestSeenAt: now };
      // Both the id and the address identify the guest: of two tickets at once, one waits.
      const kept = await dialectOf(database).serially(database, id, (trx) =>
        trx
          .insertInto("members")
          .values({ ...toRow({ name, email, role: "viewer", createdAt: now }), ...of })
          .onConflict((conflict) => conflict.column("email").doUpdateSet({ name, guestSeenAt: now }))
          .returningAll()
          .executeTakeFirstOrThrow(),
      );
      return toMember(kept);
    },

    /** Deletes some guests of a host page, or some who stayed away for a month; true if more may remain. Logs and usage keep names. */
    async removeGuests(of: { hostId: string } | { now: number }): Promise<boolean> {
      const guests = database.selectFrom("members").select("id").where("guestOf", "is not", null).limit(GUESTS_AT_ONCE);
      const some = "hostId" in of ? guests.where("guestOf", "=", of.hostId) : guests.where("guestSeenAt", "<", of.now - GUEST_KEPT_MS);
      const done = await database.deleteFrom("members").where("id", "in", some).executeTakeFirst();
      return Number(done.numDeletedRows) === GUESTS_AT_ONCE;
    },

    async get(id: string): Promise<Member | undefined> {
      const row = await byId(id);
      return row && toMember(row);
    },

    async getByEmail(email: string): Promise<Member | undefined> {
      const row = await database
        .selectFrom("members")
        .selectAll()
        .where("email", "=", email.trim().toLowerCase())
        .where("guestOf", "is", null)
        .executeTakeFirst();
      return row && toMember(row);
    },

    async list(): Promise<Member[]> {
      const all = database.selectFrom("members").selectAll().where("guestOf", "is", null);
      return (await all.orderBy("createdAt").orderBy("id").execute()).map(toMember);
    },

    /** Ends every session of the member, even if nothing else changes. */
    async change(id: string, change: { role?: Role; disabled?: boolean }): Promise<Member | undefined> {
      const row = await database
        .updateTable("members")
        .set((expression) => ({
          ...change,
          sessionVersion: expression("sessionVersion", "+", 1),
        }))
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirst();
      return row && toMember(row);
    },

    /** A change by the member. A new password ends old sessions. Undefined if the address is another member's. */
    async changeAccount(id: string, { name, email, passwordHash }: AccountChange): Promise<Member | undefined> {
      const changed = (trx: Kysely<Tables>) =>
        trx
          .updateTable("members")
          .set((expression) => ({
            name,
            email: email?.trim().toLowerCase(),
            ...(passwordHash !== undefined && { passwordHash, sessionVersion: expression("sessionVersion", "+", 1) }),
          }))
          .where("id", "=", id)
          .where(({ not, exists, selectFrom }) =>
            not(
              exists(
                selectFrom("members as others")
                  .select("others.id")
                  .where("others.email", "=", email ?? "")
                  .where("others.id", "!=", id),
              ),
            ),
          )
          .returningAll()
          .executeTakeFirst();
      // A single statement if possible: a full disk must not keep a new password from ending sessions.
      const row = await (email === undefined ? changed(database) : oneMemberAtATime(database, changed));
      return row && toMember(row);
    },

    async remove(id: string): Promise<boolean> {
      return hasEffect(database.deleteFrom("members").where("id", "=", id));
    },

    async setLastConnection(id: string, connectionId: string): Promise<void> {
      await database.updateTable("members").set({ lastConnectionId: connectionId }).where("id", "=", id).execute();
    },
  };
}

export async function insertMember(database: Database, member: NewMember): Promise<Member | undefined> {
  const row = await database
    .insertInto("members")
    .values(toRow(member))
    .onConflict((conflict) => conflict.column("email").doNothing())
    .returningAll()
    .executeTakeFirst();
  return row && toMember(row);
}

async function setPassword(database: Database, id: string, passwordHash: string, now: number): Promise<Member | undefined> {
  const row = await database
    .updateTable("members")
    .set((expression) => ({ passwordHash, passwordResetAt: now, sessionVersion: expression("sessionVersion", "+", 1) }))
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirst();
  return row && toMember(row);
}

function toRow({ email, passwordHash = "", ...member }: NewMember) {
  return { ...member, id: randomUUID(), email: email.trim().toLowerCase(), passwordHash };
}

export function toMember({ passwordHash, guestSeenAt: _, ...member }: Row<"members">): Member {
  return { ...member, passwordHash: passwordHash === "" ? undefined : passwordHash };
}

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
export type Invitation = Omit<Row<"invitations">, "tokenHash">;
type Accepting = { name: string; passwordHash?: string; identity?: Identity };

export function createInvitationStore(database: Database) {
  return {
    /** Only the newest link to an address counts: earlier open ones are withdrawn. */
    async create({ token, ...invitation }: NewInvitation): Promise<{ id: string }> {
      const { email, createdAt } = invitation;
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
        .limit(MOST_LISTED)
        .execute();
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
        if (resets !== undefined && passwordHash === undefined) return undefined;
        const member =
          resets === undefined || passwordHash === undefined
            ? await insertMember(transaction, { name, passwordHash, email, role: row.role, createdAt: now })
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
