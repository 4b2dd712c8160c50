// Saved views of lists, and each member's default view.

import "server-only";
import { randomUUID } from "node:crypto";
import { buildOwnOrTeamFilter } from "./connections";
import { type Database, hasEffect } from "./database";
import { type Row } from "./tables";

export type StoredView = Row<"savedViews">;

export function createSavedViewStore(database: Database) {
  const selectVisibleTo = (memberId: string) => database.selectFrom("savedViews").selectAll().where(buildOwnOrTeamFilter(memberId));

  return {
    async listFor(memberId: string, screen: string): Promise<StoredView[]> {
      return selectVisibleTo(memberId).where("screen", "=", screen).orderBy("name").orderBy("id").execute();
    },

    async getFor(memberId: string, id: string): Promise<StoredView | undefined> {
      return selectVisibleTo(memberId).where("id", "=", id).executeTakeFirst();
    },

    async create(view: Omit<StoredView, "id">): Promise<StoredView> {
      const row = { ...view, id: randomUUID() };
      await database.insertInto("savedViews").values(row).execute();
      return row;
    },

    async change(id: string, change: { name?: string; query?: string }): Promise<void> {
      if (change.name === undefined && change.query === undefined) return;
      await database.updateTable("savedViews").set(change).where("id", "=", id).execute();
    },

    async remove(id: string): Promise<boolean> {
      return hasEffect(database.deleteFrom("savedViews").where("id", "=", id));
    },

    async getDefaultId(memberId: string, screen: string): Promise<string | undefined> {
      const row = await database
        .selectFrom("openingViews")
        .select("viewId")
        .where("memberId", "=", memberId)
        .where("screen", "=", screen)
        .executeTakeFirst();
      return row?.viewId;
    },

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
