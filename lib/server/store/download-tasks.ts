// Background downloads by connection: the service's last word on each, and the sealed request, for asking again.
// Guarantees: bounded per connection, ended ones are deleted after a week; of two readers at once, only one asks the service (`claim`).
// Must never: store an address with its query unencrypted; it may contain a token.

import "server-only";
import { type Database } from "./database";
import { type Sealed } from "./keys";
import { type DownloadTaskRow } from "./tables";

export type DownloadTaskStore = ReturnType<typeof createDownloadTaskStore>;
export type StoredDownload = DownloadTaskRow & { member_name: string | null };
export type SealedDownload = Pick<DownloadTaskRow, "id" | "ring_key_id" | "sealed_request">;
/** The service's news about a download. */
export type DownloadNews = Partial<
  Pick<
    DownloadTaskRow,
    | "task_id"
    | "checked_at"
    | "state"
    | "word"
    | "bytes_done"
    | "bytes_total"
    | "share"
    | "asset_id"
    | "file_name"
    | "reason"
    | "can_cancel"
    | "ended_at"
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
      .selectFrom("download_tasks")
      .leftJoin("members", "members.id", "download_tasks.member_id")
      .selectAll("download_tasks")
      .select("members.name as member_name");

  async function prune(connectionId: string, now: number): Promise<void> {
    const own = database.deleteFrom("download_tasks").where("connection_id", "=", connectionId);
    await own.where("ended_at", "<", now - KEPT_MS).execute();
    const beyond = await database
      .selectFrom("download_tasks")
      .select("id")
      .where("connection_id", "=", connectionId)
      // Running downloads are the last to be deleted.
      .orderBy((order) => order.case().when("ended_at", "is", null).then(0).else(1).end())
      .orderBy("created_at", "desc")
      .offset(MOST_OF_A_CONNECTION)
      .limit(MOST_OF_A_CONNECTION)
      .execute();
    const ids = beyond.map(({ id }) => id);
    if (ids.length > 0) await database.deleteFrom("download_tasks").where("id", "in", ids).execute();
  }

  return {
    async add({ id, connectionId, memberId, taskId, source, sealed, word, now }: NewDownload): Promise<void> {
      const row = { id, connection_id: connectionId, member_id: memberId, task_id: taskId, source, word, state: "working", can_cancel: 0 };
      await database
        .insertInto("download_tasks")
        .values({ ...row, ring_key_id: sealed.ringKeyId, sealed_request: sealed.ciphertext, created_at: now, checked_at: 0 })
        .execute();
      await prune(connectionId, now);
    },

    /** Newest first. */
    list(connectionId: string): Promise<StoredDownload[]> {
      return withMember()
        .where("connection_id", "=", connectionId)
        .orderBy("download_tasks.created_at", "desc")
        .orderBy("download_tasks.id")
        .limit(MOST_OF_A_CONNECTION)
        .execute();
    },

    get(id: string): Promise<StoredDownload | undefined> {
      return withMember().where("download_tasks.id", "=", id).executeTakeFirst();
    },

    async countUnderWay(connectionId: string): Promise<number> {
      const row = await database
        .selectFrom("download_tasks")
        .select((select) => select.fn.countAll().as("count"))
        .where("connection_id", "=", connectionId)
        .where("ended_at", "is", null)
        .executeTakeFirst();
      return Number(row?.count ?? 0);
    },

    /** True for the one caller that is to ask the service now. */
    async claim(id: string, now: number, everyMs: number): Promise<boolean> {
      const updated = await database
        .updateTable("download_tasks")
        .set({ checked_at: now })
        .where("id", "=", id)
        .where("checked_at", "<=", now - everyMs)
        .executeTakeFirst();
      return updated.numUpdatedRows === 1n;
    },

    async change(id: string, news: DownloadNews): Promise<void> {
      if (Object.keys(news).length > 0) await database.updateTable("download_tasks").set(news).where("id", "=", id).execute();
    },

    /** All sealed requests, whatever the state of the download. */
    listSealed(): Promise<SealedDownload[]> {
      return database.selectFrom("download_tasks").select(["id", "ring_key_id", "sealed_request"]).orderBy("id").execute();
    },

    /** Only if it was not resealed meanwhile; tells whether it did. */
    async reseal(before: SealedDownload, after: Sealed): Promise<boolean> {
      const done = await database
        .updateTable("download_tasks")
        .set({ ring_key_id: after.ringKeyId, sealed_request: after.ciphertext })
        .where("id", "=", before.id)
        .where("sealed_request", "=", before.sealed_request)
        .executeTakeFirst();
      return Number(done.numUpdatedRows) > 0;
    },

    async remove(id: string): Promise<void> {
      await database.deleteFrom("download_tasks").where("id", "=", id).execute();
    },
  };
}
