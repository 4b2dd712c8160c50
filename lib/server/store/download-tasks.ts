// Background downloads by connection: the service's last word on each, and the sealed request, for asking again.
// Guarantees: bounded per connection, ended ones are deleted after a week; of two readers at once, only one asks the service (`claim`).
// Must never: store an address with its query unencrypted; it may contain a token.

import "server-only";
import { type Database } from "./database";
import { type Sealed } from "./keys";
import { type DownloadTaskRow } from "./tables";

export type DownloadTaskStore = ReturnType<typeof createDownloadTaskStore>;
export type StoredDownload = DownloadTaskRow & { memberName: string | null };
export type SealedDownload = Pick<DownloadTaskRow, "id" | "ringKeyId" | "sealedRequest">;
/** The service's news about a download. */
export type DownloadNews = Partial<
  Pick<
    DownloadTaskRow,
    | "taskId"
    | "checkedAt"
    | "state"
    | "word"
    | "bytesDone"
    | "bytesTotal"
    | "share"
    | "assetId"
    | "fileName"
    | "reason"
    | "canCancel"
    | "endedAt"
  >
>;
type NewDownload = {
  id: string;
  connectionId: string;
  memberId: string;
  taskId: string;
  source: string;
  sealed: Sealed;
  word: string;
  now: number;
};

const MOST_OF_A_CONNECTION = 200;
const KEPT_MS = 7 * 24 * 60 * 60_000;

export function createDownloadTaskStore(database: Database) {
  const withMember = () =>
    database
      .selectFrom("downloadTasks")
      .leftJoin("members", "members.id", "downloadTasks.memberId")
      .selectAll("downloadTasks")
      .select("members.name as memberName");

  async function prune(connectionId: string, now: number): Promise<void> {
    const own = database.deleteFrom("downloadTasks").where("connectionId", "=", connectionId);
    await own.where("endedAt", "<", now - KEPT_MS).execute();
    const beyond = await database
      .selectFrom("downloadTasks")
      .select("id")
      .where("connectionId", "=", connectionId)
      // Running downloads are the last to be deleted.
      .orderBy((order) => order.case().when("endedAt", "is", null).then(0).else(1).end())
      .orderBy("createdAt", "desc")
      .offset(MOST_OF_A_CONNECTION)
      .limit(MOST_OF_A_CONNECTION)
      .execute();
    const ids = beyond.map(({ id }) => id);
    if (ids.length > 0) await database.deleteFrom("downloadTasks").where("id", "in", ids).execute();
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

    /** Newest first. */
    list(connectionId: string): Promise<StoredDownload[]> {
      return withMember()
        .where("connectionId", "=", connectionId)
        .orderBy("downloadTasks.createdAt", "desc")
        .orderBy("downloadTasks.id")
        .limit(MOST_OF_A_CONNECTION)
        .execute();
    },

    get(id: string): Promise<StoredDownload | undefined> {
      return withMember().where("downloadTasks.id", "=", id).executeTakeFirst();
    },

    async countUnderWay(connectionId: string): Promise<number> {
      const row = await database
        .selectFrom("downloadTasks")
        .select((select) => select.fn.countAll().as("count"))
        .where("connectionId", "=", connectionId)
        .where("endedAt", "is", null)
        .executeTakeFirst();
      return Number(row?.count ?? 0);
    },

    /** True for the one caller that is to ask the service now. */
    async claim(id: string, now: number, everyMs: number): Promise<boolean> {
      const updated = await database
        .updateTable("downloadTasks")
        .set({ checkedAt: now })
        .where("id", "=", id)
        .where("checkedAt", "<=", now - everyMs)
        .executeTakeFirst();
      return updated.numUpdatedRows === 1n;
    },

    async change(id: string, news: DownloadNews): Promise<void> {
      if (Object.keys(news).length > 0) await database.updateTable("downloadTasks").set(news).where("id", "=", id).execute();
    },

    /** All sealed requests, whatever the state of the download. */
    listSealed(): Promise<SealedDownload[]> {
      return database.selectFrom("downloadTasks").select(["id", "ringKeyId", "sealedRequest"]).orderBy("id").execute();
    },

    /** Only if it was not resealed meanwhile; tells whether it did. */
    async reseal(before: SealedDownload, after: Sealed): Promise<boolean> {
      const done = await database
        .updateTable("downloadTasks")
        .set({ ringKeyId: after.ringKeyId, sealedRequest: after.ciphertext })
        .where("id", "=", before.id)
        .where("sealedRequest", "=", before.sealedRequest)
        .executeTakeFirst();
      return Number(done.numUpdatedRows) > 0;
    },

    async remove(id: string): Promise<void> {
      await database.deleteFrom("downloadTasks").where("id", "=", id).execute();
    },
  };
}
