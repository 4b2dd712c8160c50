// Saved views of the list of jobs, and each member's default among them.
// Guarantees: every read names the member; a personal view is found by its own member only; what belonged to a member goes with them.

import "server-only";
import { randomUUID } from "node:crypto";
import { type Database } from "./database";
import { type SavedViewRow } from "./tables";

/** `memberId` undefined: the team's. */
export type StoredView = { id: string; memberId: string | undefined; name: string; query: string; createdAt: number };
export type SavedViewStore = ReturnType<typeof createSavedViewStore>;

export function createSavedViewStore(database: Database) {
  const seenBy = (memberId: string) =>
    database
      .selectFrom("saved_views")
      .selectAll()
      .where((where) => where.or([where("member_id", "is", null), where("member_id", "=", memberId)]));

  return {
    async listFor(memberId: string): Promise<StoredView[]> {
      const rows = await seenBy(memberId).orderBy("name").orderBy("id").execute();
      return rows.map(toView);
    },

    async getFor(memberId: string, id: string): Promise<StoredView | undefined> {
      const row = await seenBy(memberId).where("id", "=", id).executeTakeFirst();
      return row && toView(row);
    },

    async create(view: Omit<StoredView, "id">): Promise<StoredView> {
      const row: SavedViewRow = {
        id: randomUUID(),
        member_id: view.memberId ?? null,
        name: view.name,
        query: view.query,
        created_at: view.createdAt,
      };
      await database.insertInto("saved_views").values(row).execute();
      return toView(row);
    },

    async change(id: string, change: { name?: string; query?: string }): Promise<void> {
      const columns = {
        ...(change.name !== undefined && { name: change.name }),
        ...(change.query !== undefined && { query: change.query }),
      };
      if (Object.keys(columns).length > 0) await database.updateTable("saved_views").set(columns).where("id", "=", id).execute();
    },

    async remove(id: string): Promise<void> {
      await database.deleteFrom("saved_views").where("id", "=", id).execute();
    },

    /** The id of the view that the member's list opens with. */
    async defaultOf(memberId: string): Promise<string | undefined> {
      const row = await database.selectFrom("default_views").select("view_id").where("member_id", "=", memberId).executeTakeFirst();
      return row?.view_id;
    },

    /** Undefined: none. */
    async setDefault(memberId: string, viewId: string | undefined): Promise<void> {
      if (viewId === undefined) {
        await database.deleteFrom("default_views").where("member_id", "=", memberId).execute();
        return;
      }
      await database
        .insertInto("default_views")
        .values({ member_id: memberId, view_id: viewId })
        .onConflict((conflict) => conflict.column("member_id").doUpdateSet({ view_id: viewId }))
        .execute();
    },
  };
}

function toView(row: SavedViewRow): StoredView {
  return { id: row.id, memberId: row.member_id ?? undefined, name: row.name, query: row.query, createdAt: Number(row.created_at) };
}
