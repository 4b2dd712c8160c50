// What members keep with an app: whether it is a favourite, presets by name, and which files they gave it.
// Guarantees: one's own, and of presets those that were shared with the team.

import "server-only";
import { randomUUID } from "node:crypto";
import { type AppValues } from "@/lib/contract/apps/app";
import { appBounds } from "@/lib/contract/apps/shape";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { readKept } from "./apps";
import { type Database } from "./database";

export type KeptPreset = { id: string; memberId: string; name: string; inputs: AppValues; isTeam: boolean };
export type KeptFile = { name: string; bytes: number; pixels: number | undefined };
export type AppKeepStore = ReturnType<typeof createAppKeepStore>;

export function createAppKeepStore(database: Database) {
  return {
    async setFavourite(appId: string, memberId: string, isFavourite: boolean): Promise<void> {
      if (isFavourite)
        await database
          .insertInto("app_favourites")
          .values({ app_id: appId, member_id: memberId })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      else await database.deleteFrom("app_favourites").where("app_id", "=", appId).where("member_id", "=", memberId).execute();
    },

    async presets(appId: string, memberId: string): Promise<KeptPreset[]> {
      const rows = await database
        .selectFrom("app_presets")
        .selectAll()
        .where("app_id", "=", appId)
        .where((where) => where.or([where("member_id", "=", memberId), where("is_team", "=", 1)]))
        .orderBy("name")
        .orderBy("id")
        .limit(1000)
        .execute();
      return rows.map((row) => ({
        id: row.id,
        memberId: row.member_id,
        name: row.name,
        inputs: readKept<AppValues>(row.inputs),
        isTeam: row.is_team === 1,
      }));
    },

    /** Undefined where the member has as many as may be. */
    async addPreset(appId: string, preset: Omit<KeptPreset, "id">): Promise<string | undefined> {
      const { count } = await database
        .selectFrom("app_presets")
        .select(({ fn }) => fn.countAll<number>().as("count"))
        .where("app_id", "=", appId)
        .where("member_id", "=", preset.memberId)
        .executeTakeFirstOrThrow();
      if (count >= appBounds.presets) return undefined;
      const id = randomUUID();
      await database
        .insertInto("app_presets")
        .values({ id, app_id: appId, member_id: preset.memberId, ...columnsOf(preset) })
        .execute();
      return id;
    },

    async changePreset(id: string, preset: Omit<KeptPreset, "id" | "memberId">): Promise<void> {
      await database.updateTable("app_presets").set(columnsOf(preset)).where("id", "=", id).execute();
    },

    async removePreset(id: string): Promise<void> {
      await database.deleteFrom("app_presets").where("id", "=", id).execute();
    },

    async addFile(appId: string, memberId: string, { name, bytes, pixels }: KeptFile): Promise<void> {
      const size = { bytes, pixels: pixels ?? null };
      await database
        .insertInto("app_files")
        .values({ app_id: appId, member_id: memberId, name, ...size })
        .onConflict((conflict) => conflict.columns(["app_id", "member_id", "name"]).doUpdateSet(size))
        .execute();
    },

    async file(appId: string, memberId: string, name: string): Promise<KeptFile | undefined> {
      const row = await database
        .selectFrom("app_files")
        .select(["name", "bytes", "pixels"])
        .where("app_id", "=", appId)
        .where("member_id", "=", memberId)
        .where("name", "=", name)
        .executeTakeFirst();
      return row && { name: row.name, bytes: row.bytes, pixels: row.pixels ?? undefined };
    },
  };
}

function columnsOf({ name, inputs, isTeam }: Pick<KeptPreset, "name" | "inputs" | "isTeam">) {
  return { name, inputs: writeExactJson(inputs), is_team: isTeam ? 1 : 0 };
}
