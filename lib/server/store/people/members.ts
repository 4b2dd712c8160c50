// Members. Email addresses are lower case and unique; there is at most one owner.

import "server-only";
import { createHash, randomUUID } from "node:crypto";
import { type Kysely } from "kysely";
import { type Role } from "@/lib/contract/people/roles";
import { type Database, hasEffect, prepareQuery } from "../database";
import { getDialect } from "../dialect";
import { type Row, type Tables } from "../tables";

export type Member = Omit<Row<"members">, "passwordHash" | "guestSeenAt"> & { passwordHash: string | undefined };
export type NewMember = { name: string; email: string; role: Role; passwordHash?: string; passwordResetAt?: number; createdAt: number };
export type AccountChange = { name?: string; email?: string; passwordHash?: string };

const GUEST_KEPT_MS = 30 * 24 * 60 * 60_000;
const GUESTS_AT_ONCE = 200;

/** Work that looks for an owner, an address or an identity and then writes it runs one after the other. */
export const oneMemberAtATime = <T>(database: Database, work: (trx: Kysely<Tables>) => Promise<T>) =>
  getDialect(database).runExclusive(database, "members", work);

export function createMemberStore(database: Database) {
  const byId = prepareQuery(database, database.selectFrom("members").selectAll().where("id", "=", ""));
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
      const member = await getDialect(database).runExclusive(database, id, (trx) =>
        trx
          .insertInto("members")
          .values({ ...toRow({ name, email, role: "viewer", createdAt: now }), ...of })
          .onConflict((conflict) => conflict.column("email").doUpdateSet({ name, guestSeenAt: now }))
          .returningAll()
          .executeTakeFirstOrThrow(),
      );
      return toMember(member);
    },

    /** Deletes some guests of a host page, or some who stayed away for a month; true if more may remain. Logs and usage keep names. */
    async removeGuests(of: { hostId: string } | { now: number }): Promise<boolean> {
      const guests = database.selectFrom("members").select("id").where("guestOf", "is not", null).limit(GUESTS_AT_ONCE);
      const condition = "hostId" in of ? guests.where("guestOf", "=", of.hostId) : guests.where("guestSeenAt", "<", of.now - GUEST_KEPT_MS);
      const deleteResult = await database.deleteFrom("members").where("id", "in", condition).executeTakeFirst();
      return Number(deleteResult.numDeletedRows) === GUESTS_AT_ONCE;
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

export async function setPassword(database: Database, id: string, passwordHash: string, now: number): Promise<Member | undefined> {
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
