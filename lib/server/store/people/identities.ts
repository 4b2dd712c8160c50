// A member's identities at the providers of sign-in: an issuer's subject belongs to one member; addresses are not used here.
// Guarantees: if many requests sign in first at once, one member is made; the subject of a removed member stays known, so the removal
// holds; what ends a session at its provider is deleted with the session.

import "server-only";
import { type Database, prepareOne } from "../database";
import { insertMember, type Member, type NewMember, oneMemberAtATime } from "./members";
import { type IdentityRow } from "./people-rows";

/** `provider`: its id in the settings, for people to read. */
export type Identity = { issuer: string; subject: string; provider: string };
export type KnownIdentity = Identity & {
  /** Undefined: the member was removed. */
  memberId: string | undefined;
  createdAt: number;
  usedAt: number;
};
/** `sealedHint`: the ID token, encrypted. */
export type ProviderSession = { sessionId: string; provider: string; sealedHint: string | undefined };
export type IdentityStore = ReturnType<typeof createIdentityStore>;

export function createIdentityStore(database: Database) {
  const bySubject = prepareOne(database, database.selectFrom("identities").selectAll().where("issuer", "=", "").where("subject", "=", ""));
  return {
    async find(issuer: string, subject: string): Promise<KnownIdentity | undefined> {
      const row = await bySubject(issuer, subject);
      return row && toIdentity(row);
    },

    /** Of all members, or of one. */
    async list(memberId?: string): Promise<KnownIdentity[]> {
      const all = database.selectFrom("identities").selectAll().where("memberId", "is not", null).orderBy("createdAt");
      const rows = await (memberId === undefined ? all : all.where("memberId", "=", memberId)).execute();
      return rows.map(toIdentity);
    },

    /** False if it is another member's, or if the member has another subject at the issuer. */
    link: (identity: Identity, memberId: string, now: number) =>
      oneMemberAtATime(database, (transaction) => linkIdentity(transaction, identity, memberId, now)),

    /** Undefined if the address or the subject is taken. */
    async makeMember(member: NewMember, identity: Identity): Promise<Member | undefined> {
      return oneMemberAtATime(database, async (transaction) => {
        const known = await transaction
          .selectFrom("identities")
          .select("subject")
          .where("issuer", "=", identity.issuer)
          .where("subject", "=", identity.subject)
          .executeTakeFirst();
        const made = known ? undefined : await insertMember(transaction, member);
        if (made) await linkIdentity(transaction, identity, made.id, member.createdAt);
        return made;
      });
    },

    async noteUse({ issuer, subject, provider }: Identity, now: number): Promise<void> {
      await database
        .updateTable("identities")
        .set({ usedAt: now, provider })
        .where("issuer", "=", issuer)
        .where("subject", "=", subject)
        .execute();
    },

    /** Stores the email address of a removed member. It can't sign in again until an admin invites it. */
    async keepRemoved(email: string, now: number): Promise<void> {
      await database
        .insertInto("identities")
        .values({ issuer: "proxy", subject: email, provider: "proxy", memberId: null, createdAt: now, usedAt: now })
        .onConflict((conflict) => conflict.columns(["issuer", "subject"]).doUpdateSet({ memberId: null, usedAt: now }))
        .execute();
    },

    /** For email addresses without a member. */
    async isRemoved(email: string): Promise<boolean> {
      return (await bySubject("proxy", email)) !== undefined;
    },

    async unlink(memberId: string, provider: string): Promise<boolean> {
      const done = await database
        .deleteFrom("identities")
        .where("memberId", "=", memberId)
        .where("provider", "=", provider)
        .executeTakeFirst();
      return Number(done.numDeletedRows) > 0;
    },

    async keepSession({ sessionId, provider, sealedHint }: ProviderSession): Promise<void> {
      await database
        .insertInto("providerSessions")
        .values({ sessionId, provider, sealedHint: sealedHint ?? null })
        .execute();
    },

    async sessionOf(sessionId: string): Promise<ProviderSession | undefined> {
      const row = await database.selectFrom("providerSessions").selectAll().where("sessionId", "=", sessionId).executeTakeFirst();
      return row && { sessionId, provider: row.provider, sealedHint: row.sealedHint ?? undefined };
    },
  };
}

/** Runs in the caller's transaction. The subject of a removed member may be given to another one. */
export async function linkIdentity(database: Database, identity: Identity, memberId: string, now: number): Promise<boolean> {
  const { issuer, subject, provider } = identity;
  const others = await database
    .selectFrom("identities")
    .select(["subject", "memberId"])
    .where("issuer", "=", issuer)
    .where((is) => is.or([is("subject", "=", subject), is("memberId", "=", memberId)]))
    .execute();
  if (others.some((other) => other.memberId !== null && (other.subject !== subject || other.memberId !== memberId))) return false;
  await database
    .insertInto("identities")
    .values({ issuer, subject, provider, memberId, createdAt: now, usedAt: now })
    .onConflict((conflict) => conflict.columns(["issuer", "subject"]).doUpdateSet({ memberId, provider, usedAt: now }))
    .execute();
  return true;
}

function toIdentity({ issuer, subject, provider, memberId, createdAt, usedAt }: IdentityRow): KnownIdentity {
  return { issuer, subject, provider, memberId: memberId ?? undefined, createdAt, usedAt };
}
