// Saved views of lists, and for each list the view that a member opens it with.
// Guarantees: every read names the member; a personal view is found only by its own member; a member's views are deleted with the member.

import "server-only";
import { randomUUID } from "node:crypto";
import { ownOrTeams } from "./connections";
import { type Database } from "./database";
import { type SavedViewRow } from "./tables";

/** `memberId` undefined: the team's view. */
export type StoredView = { id: string; memberId: string | undefined; screen: string; name: string; query: string; createdAt: number };
export type SavedViewStore = ReturnType<typeof createSavedViewStore>;

export function createSavedViewStore(database: Database) {
  const seenBy = (memberId: string) => database.selectFrom("savedViews").selectAll().where(ownOrTeams(memberId));

  return {
    async listFor(memberId: string, screen: string): Promise<StoredView[]> {
      const rows = await seenBy(memberId).where("screen", "=", screen).orderBy("name").orderBy("id").execute();
      return rows.map(toView);
    },

    async getFor(memberId: string, id: string): Promise<StoredView | undefined> {
      const row = await seenBy(memberId).where("id", "=", id).executeTakeFirst();
      return row && toView(row);
    },

    async create(view: Omit<StoredView, "id">): Promise<StoredView> {
      const row: SavedViewRow = { ...view, id: randomUUID(), memberId: view.memberId ?? null };
      await database.insertInto("savedViews").values(row).execute();
      return toView(row);
    },

    async change(id: string, change: { name?: string; query?: string }): Promise<void> {
      const columns = {
        ...(change.name !== undefined && { name: change.name }),
        ...(change.query !== undefined && { query: change.query }),
      };
      if (Object.keys(columns).length > 0) await database.updateTable("savedViews").set(columns).where("id", "=", id).execute();
    },

    /** False if it is already gone: of several requests, one removes it. */
    async remove(id: string): Promise<boolean> {
      const done = await database.deleteFrom("savedViews").where("id", "=", id).executeTakeFirst();
      return Number(done.numDeletedRows) > 0;
    },

    /** The id of the view with which the member's list opens. */
    async defaultOf(memberId: string, screen: string): Promise<string | undefined> {
      const row = await database
        .selectFrom("openingViews")
        .select("viewId")
        .where("memberId", "=", memberId)
        .where("screen", "=", screen)
        .executeTakeFirst();
      return row?.viewId;
    },

    /** Undefined: no default view. */
    async setDefault(memberId: string, screen: string, viewId: string | undefined): Promise<void> {
      if (viewId === undefined) {
        await database.deleteFrom("openingViews").where("memberId", "=", memberId).where("screen", "=", screen).execute();
        return;
      }
      await database
        .insertInto("openingViews")
        .values({ memberId, screen, viewId })
        .onConflict((conflict) => conflict.columns(["memberId", "screen"]).doUpdateSet({ viewId }))
        .execute();
    },
  };
}

const toView = (row: SavedViewRow): StoredView => ({ ...row, memberId: row.memberId ?? undefined });
