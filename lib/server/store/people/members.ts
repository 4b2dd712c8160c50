// Members. Email addresses are lower case and unique. There is at most one owner.

import "server-only";
import { createHash, randomUUID } from "node:crypto";
import { type Kysely } from "kysely";
import { type Role } from "@/lib/contract/members/roles";
import { type Database, hasEffect, prepareQuery } from "../database";
import { getDialect } from "../dialect";
import { type Row, type Tables } from "../tables";

export type Member = Omit<Row<"members">, "passwordHash" | "guestSeenAt"> & { passwordHash: string | undefined };
export type NewMember = { name: string; email: string; role: Role; passwordHash?: string; passwordResetAt?: number; createdAt: number };
/** With `verifiedHash`, nothing changes if the password was replaced in the meantime. */
export type AccountChange = { name?: string; email?: string; passwordHash?: string; verifiedHash?: string };

const GUEST_RETENTION_MS = 30 * 24 * 60 * 60_000;
const GUEST_BATCH_SIZE = 200;

/** Serializes work that looks up an owner, an address or an identity before writing it. */
export const runMemberChange = <T>(database: Database, task: (trx: Kysely<Tables>) => Promise<T>) =>
  getDialect(database).runExclusive(database, "members", task);

export function createMemberStore(database: Database) {
  const findById = prepareQuery(database, database.selectFrom("members").selectAll().where("id", "=", ""));
  return {
    async hasOwner(): Promise<boolean> {
      const row = await database.selectFrom("members").select("id").where("role", "=", "owner").limit(1).executeTakeFirst();
      return row !== undefined;
    },

    async createFirstOwner(member: Omit<NewMember, "role">): Promise<Member | undefined> {
      return runMemberChange(database, async (transaction) => {
        const owner = await transaction.selectFrom("members").select("id").where("role", "=", "owner").executeTakeFirst();
        if (owner) return undefined;
        const row = toRow({ ...member, role: "owner", passwordResetAt: member.createdAt });
        return toMember(await transaction.insertInto("members").values(row).returningAll().executeTakeFirstOrThrow());
      });
    },

    create: (member: NewMember) => insertMember(database, member),

    /**
     * Returns the guest that a host page identifies by `sub`, with the current name. The id is derived from it, so a removed guest who returns
     * gets the same id. Only guests from before migration 0029 have random ids.
     */
    async upsertGuest(hostId: string, { sub, name }: { sub: string; name: string }, now: number): Promise<Member> {
      // Not a valid address, so nobody can sign in with it.
      const email = `guest ${hostId} ${createHash("sha256").update(sub).digest("hex")}`;
      const id = `guest-${createHash("sha256").update(email).digest("hex").slice(0, 32)}`;
      const guestFields = { id, disabled: true, guestOf: hostId, guestSeenAt: now };
      // Serialized, because both the id and the address identify the guest.
      const member = await getDialect(database).runExclusive(database, id, (trx) =>
        trx
          .insertInto("members")
          .values({ ...toRow({ name, email, role: "viewer", createdAt: now }), ...guestFields })
          .onConflict((conflict) => conflict.column("email").doUpdateSet({ name, guestSeenAt: now }))
          .returningAll()
          .executeTakeFirstOrThrow(),
      );
      return toMember(member);
    },

    /** Deletes a batch of a host page's guests or of inactive ones. Returns true if more may remain. Logs and usage keep their names. */
    async removeGuests(filter: { hostId: string } | { now: number }): Promise<boolean> {
      const guestQuery = database.selectFrom("members").select("id").where("guestOf", "is not", null).limit(GUEST_BATCH_SIZE);
      const filteredQuery =
        "hostId" in filter
          ? guestQuery.where("guestOf", "=", filter.hostId)
          : guestQuery.where("guestSeenAt", "<", filter.now - GUEST_RETENTION_MS);
      const deleteResult = await database.deleteFrom("members").where("id", "in", filteredQuery).executeTakeFirst();
      return Number(deleteResult.numDeletedRows) === GUEST_BATCH_SIZE;
    },

    async get(id: string): Promise<Member | undefined> {
      const row = await findById(id);
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
      const memberQuery = database.selectFrom("members").selectAll().where("guestOf", "is", null);
      return (await memberQuery.orderBy("createdAt").orderBy("id").execute()).map(toMember);
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

    /** A change by the member. A new password ends old sessions. Returns undefined if nothing changed. */
    async changeAccount(id: string, { name, email, passwordHash, verifiedHash }: AccountChange): Promise<Member | undefined> {
      const updateAccount = (trx: Kysely<Tables>) =>
        trx
          .updateTable("members")
          .set((expression) => ({
            name,
            email: email?.trim().toLowerCase(),
            ...(passwordHash !== undefined && { passwordHash, sessionVersion: expression("sessionVersion", "+", 1) }),
          }))
          .where("id", "=", id)
          .$if(verifiedHash !== undefined, (query) => query.where("passwordHash", "=", verifiedHash ?? ""))
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
      // Uses a single statement if possible, because a full disk must not keep a new password from ending sessions.
      const row = await (email === undefined ? updateAccount(database) : runMemberChange(database, updateAccount));
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
