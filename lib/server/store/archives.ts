// Choices of assets that wait to be fetched as one file.
// Guarantees: found only by the member who made it; gone after an hour.

import "server-only";
import { randomUUID } from "node:crypto";
import { type ArchiveChoice, archiveChoiceSchema } from "@/lib/contract/archive";
import { writeExactJson } from "@/lib/contract/exact-json";
import { type Database } from "./database";

export type ArchiveStore = ReturnType<typeof createArchiveStore>;
export type KeptArchive = { connectionId: string; choice: ArchiveChoice };

const KEPT_MS = 60 * 60_000;

export function createArchiveStore(database: Database) {
  return {
    async keep(memberId: string, { connectionId, choice }: KeptArchive, now: number): Promise<string> {
      await database
        .deleteFrom("archives")
        .where("created_at", "<", now - KEPT_MS)
        .execute();
      const id = randomUUID();
      const row = { id, member_id: memberId, connection_id: connectionId, choice: writeExactJson(choice), created_at: now };
      await database.insertInto("archives").values(row).execute();
      return id;
    },

    async find(memberId: string, id: string): Promise<KeptArchive | undefined> {
      const row = await database
        .selectFrom("archives")
        .select(["connection_id", "choice"])
        .where("id", "=", id)
        .where("member_id", "=", memberId)
        .executeTakeFirst();
      return row && { connectionId: row.connection_id, choice: archiveChoiceSchema.parse(JSON.parse(row.choice)) };
    },
  };
}
