// A host page keeps its previous secret for a while, and who last set it up. A guest has the time of their last ticket, so that guests who
// stay away are found.

import "server-only";
import { type Kysely, type Migration, sql } from "kysely";

export const embed: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    const { schema } = database;
    for (const name of ["old_ring_key_id", "old_ciphertext", "kept_by", "kept_by_name"])
      await schema.alterTable("embed_hosts").addColumn(name, "text").execute();
    await schema.alterTable("embed_hosts").addColumn("old_until", "bigint").execute();
    await schema.alterTable("members").addColumn("guest_seen_at", "bigint").execute();
    await sql`UPDATE members SET guest_seen_at = strftime('%s', 'now') * 1000 WHERE guest_of IS NOT NULL`.execute(database);
    await sql`CREATE INDEX guests_seen ON members (guest_seen_at) WHERE guest_of IS NOT NULL`.execute(database);
    await sql`CREATE INDEX guests_of_hosts ON members (guest_of) WHERE guest_of IS NOT NULL`.execute(database);
  },
};
