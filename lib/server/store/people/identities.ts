// Members' identities at sign-in providers. An issuer's subject belongs to one member. Subjects of removed members stay stored.

import "server-only";
import { type Database, hasEffect, prepareQuery } from "../database";
import { type Row } from "../tables";
import { insertMember, type Member, type NewMember, runMemberChange } from "./members";

/** `provider` is its id in the settings. */
export type Identity = { issuer: string; subject: string; provider: string };
export type StoredIdentity = Row<"identities">;
export type ProviderSession = Row<"providerSessions">;

export function createIdentityStore(database: Database) {
  const findBySubject = prepareQuery(
    database,
    database.selectFrom("identities").selectAll().where("issuer", "=", "").where("subject", "=", ""),
  );
  return {
    find: (issuer: string, subject: string): Promise<StoredIdentity | undefined> => findBySubject(issuer, subject),

    async list(memberId?: string): Promise<StoredIdentity[]> {
      const identityQuery = database.selectFrom("identities").selectAll().where("memberId", "is not", null).orderBy("createdAt");
      return (memberId === undefined ? identityQuery : identityQuery.where("memberId", "=", memberId)).execute();
    },

    /** Returns false if the identity belongs to another member, or the member has another subject at the issuer. */
    link: (identity: Identity, memberId: string, now: number) =>
      runMemberChange(database, (transaction) => linkIdentity(transaction, identity, memberId, now)),

    async createMember(member: NewMember, identity: Identity): Promise<Member | undefined> {
      return runMemberChange(database, async (transaction) => {
        const storedIdentity = await transaction
          .selectFrom("identities")
          .select("subject")
          .where("issuer", "=", identity.issuer)
          .where("subject", "=", identity.subject)
          .executeTakeFirst();
        const newMember = storedIdentity ? undefined : await insertMember(transaction, member);
        if (newMember) await linkIdentity(transaction, identity, newMember.id, member.createdAt);
        return newMember;
      });
    },

    async recordUse({ issuer, subject, provider }: Identity, now: number): Promise<void> {
      await database
        .updateTable("identities")
        .set({ usedAt: now, provider })
        .where("issuer", "=", issuer)
        .where("subject", "=", subject)
        .execute();
    },

    /** Stores the email address of a removed member, who can't sign in again without an invitation. */
    async recordRemoval(email: string, now: number): Promise<void> {
      await database
        .insertInto("identities")
        .values({ issuer: "proxy", subject: email, provider: "proxy", memberId: null, createdAt: now, usedAt: now })
        .onConflict((conflict) => conflict.columns(["issuer", "subject"]).doUpdateSet({ memberId: null, usedAt: now }))
        .execute();
    },

    async isRemoved(email: string): Promise<boolean> {
      return (await findBySubject("proxy", email)) !== undefined;
    },

    async unlink(memberId: string, provider: string): Promise<boolean> {
      return hasEffect(database.deleteFrom("identities").where("memberId", "=", memberId).where("provider", "=", provider));
    },

    async saveSession(session: ProviderSession): Promise<void> {
      await database.insertInto("providerSessions").values(session).execute();
    },

    async findSession(sessionId: string): Promise<ProviderSession | undefined> {
      return database.selectFrom("providerSessions").selectAll().where("sessionId", "=", sessionId).executeTakeFirst();
    },
  };
}

/** Runs in the caller's transaction. A removed member's subject may be linked to another member. */
export async function linkIdentity(database: Database, identity: Identity, memberId: string, now: number): Promise<boolean> {
  const { issuer, subject, provider } = identity;
  const relatedIdentities = await database
    .selectFrom("identities")
    .select(["subject", "memberId"])
    .where("issuer", "=", issuer)
    .where((where) => where.or([where("subject", "=", subject), where("memberId", "=", memberId)]))
    .execute();
  if (relatedIdentities.some((other) => other.memberId !== undefined && (other.subject !== subject || other.memberId !== memberId)))
    return false;
  await database
    .insertInto("identities")
    .values({ issuer, subject, provider, memberId, createdAt: now, usedAt: now })
    .onConflict((conflict) => conflict.columns(["issuer", "subject"]).doUpdateSet({ memberId, provider, usedAt: now }))
    .execute();
  return true;
}
