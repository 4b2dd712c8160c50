// Background downloads by connection, with the sealed request for retries. URLs are stored without their query, which may contain a token.

import "server-only";
import { type Updateable } from "kysely";
import { type Sealed } from "./connections";
import { type Database, hasEffect } from "./database";
import { type Row, type Tables } from "./tables";

export type StoredDownload = Row<"downloadTasks"> & { memberName: string | null };
/** What the service reports about a download. Absent fields are unchanged. */
export type DownloadUpdate = Omit<Updateable<Tables["downloadTasks"]>, "id" | "connectionId" | "memberId" | "sealedRequest" | "ringKeyId">;
type NewDownload = Pick<StoredDownload, "id" | "connectionId" | "taskId" | "source" | "word"> & {
  memberId: string;
  sealed: Sealed;
  now: number;
};

const MAX_PER_CONNECTION = 200;
const RETENTION_MS = 7 * 24 * 60 * 60_000;

export function createDownloadTaskStore(database: Database) {
  const selectWithMember = () =>
    database
      .selectFrom("downloadTasks")
      .leftJoin("members", "members.id", "downloadTasks.memberId")
      .selectAll("downloadTasks")
      .select("members.name as memberName");

  async function prune(connectionId: string, now: number): Promise<void> {
    const deletion = database.deleteFrom("downloadTasks").where("connectionId", "=", connectionId);
    await deletion.where("endedAt", "<", now - RETENTION_MS).execute();
    const surplusIds = database
      .selectFrom("downloadTasks")
      .select("id")
      .where("connectionId", "=", connectionId)
      // Running downloads are the last to be deleted.
      .orderBy((order) => order.case().when("endedAt", "is", null).then(0).else(1).end())
      .orderBy("createdAt", "desc")
      .offset(MAX_PER_CONNECTION)
      .limit(MAX_PER_CONNECTION);
    await database.deleteFrom("downloadTasks").where("id", "in", surplusIds).execute();
  }

  return {
    async add({ id, connectionId, memberId, taskId, source, sealed, word, now }: NewDownload): Promise<void> {
      const row = { id, connectionId, memberId, taskId, source, word, state: "working", canCancel: 0 };
      await database
        .insertInto("downloadTasks")
        .values({ ...row, ringKeyId: sealed.ringKeyId, sealedRequest: sealed.ciphertext, createdAt: now, checkedAt: 0 })
        .execute();
      await prune(connectionId, now);
    },

    list(connectionId: string): Promise<StoredDownload[]> {
      return selectWithMember()
        .where("connectionId", "=", connectionId)
        .orderBy("downloadTasks.createdAt", "desc")
        .orderBy("downloadTasks.id")
        .limit(MAX_PER_CONNECTION)
        .execute();
    },

    get(id: string): Promise<StoredDownload | undefined> {
      return selectWithMember().where("downloadTasks.id", "=", id).executeTakeFirst();
    },

    async countActive(connectionId: string): Promise<number> {
      const row = await database
        .selectFrom("downloadTasks")
        .select((select) => select.fn.countAll().as("count"))
        .where("connectionId", "=", connectionId)
        .where("endedAt", "is", null)
        .executeTakeFirst();
      return Number(row?.count ?? 0);
    },

    /** Returns true for the one caller that should query the service now. */
    async claim(id: string, now: number, intervalMs: number): Promise<boolean> {
      return hasEffect(
        database
          .updateTable("downloadTasks")
          .set({ checkedAt: now })
          .where("id", "=", id)
          .where("checkedAt", "<=", now - intervalMs),
      );
    },

    async change(id: string, update: DownloadUpdate): Promise<void> {
      if (Object.keys(update).length > 0) await database.updateTable("downloadTasks").set(update).where("id", "=", id).execute();
    },

    async remove(id: string): Promise<void> {
      await database.deleteFrom("downloadTasks").where("id", "=", id).execute();
    },
  };
}
