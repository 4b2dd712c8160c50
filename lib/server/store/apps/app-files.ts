// Members' favourite apps, presets and app files.

import "server-only";
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { type AppValues } from "@/lib/contract/apps/app";
import { appBounds } from "@/lib/contract/apps/definition";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type Database } from "../database";
import { getDialect } from "../dialect";
import { type Row } from "../tables";
import { RUN_RETENTION_MS } from "./app-runs";
import { parseStoredJson } from "./apps";

export type StoredPreset = Omit<Row<"appPresets">, "appId" | "inputs"> & { inputs: AppValues };
/** `bytes` is 0 if unknown. */
export type StoredAppFile = Pick<Row<"appFiles">, "name" | "ownName" | "bytes" | "pixels">;

export function createAppFileStore(database: Database) {
  const selectFiles = (connectionId: string, memberId: string) =>
    database
      .selectFrom("appFiles")
      .innerJoin("apps", "apps.id", "appFiles.appId")
      .select(["name", "ownName", "bytes", "pixels"])
      .where("apps.connectionId", "=", connectionId)
      .where("memberId", "=", memberId);

  return {
    async setFavourite(appId: string, memberId: string, isFavourite: boolean): Promise<void> {
      if (isFavourite)
        await database
          .insertInto("appFavourites")
          .values({ appId, memberId })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      else await database.deleteFrom("appFavourites").where("appId", "=", appId).where("memberId", "=", memberId).execute();
    },

    async listPresets(appId: string, memberId: string): Promise<StoredPreset[]> {
      const rows = await database
        .selectFrom("appPresets")
        .selectAll()
        .where("appId", "=", appId)
        .where((where) => where.or([where("memberId", "=", memberId), where("isTeam", "=", true)]))
        .orderBy("name")
        .orderBy("id")
        .limit(1000)
        .execute();
      return rows.map(({ appId: _, inputs, ...preset }) => ({ ...preset, inputs: parseStoredJson<AppValues>(inputs) }));
    },

    async addPreset(appId: string, preset: Omit<StoredPreset, "id">): Promise<string | undefined> {
      return getDialect(database).runExclusive(database, `presets ${appId} ${preset.memberId}`, async (trx) => {
        const { count } = await trx
          .selectFrom("appPresets")
          .select(({ fn }) => fn.countAll<number>().as("count"))
          .where("appId", "=", appId)
          .where("memberId", "=", preset.memberId)
          .executeTakeFirstOrThrow();
        if (count >= appBounds.presets) return undefined;
        const id = randomUUID();
        await trx
          .insertInto("appPresets")
          .values({ id, appId, memberId: preset.memberId, ...toColumns(preset) })
          .execute();
        return id;
      });
    },

    async changePreset(id: string, preset: Omit<StoredPreset, "id" | "memberId">): Promise<void> {
      await database.updateTable("appPresets").set(toColumns(preset)).where("id", "=", id).execute();
    },

    async removePreset(id: string): Promise<void> {
      await database.deleteFrom("appPresets").where("id", "=", id).execute();
    },

    /** Also deletes files that no run and none of the member's presets use any more. */
    async addFile(appId: string, memberId: string, { name, ownName, bytes, pixels }: StoredAppFile, now: number): Promise<void> {
      await database
        .deleteFrom("appFiles")
        .where("appId", "=", appId)
        .where("memberId", "=", memberId)
        // Files stored before this column existed may still belong to a run.
        .where("givenAt", ">", 0)
        .where("givenAt", "<", now - RUN_RETENTION_MS)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom("appPresets")
                .select("appPresets.id")
                .where("appPresets.appId", "=", appId)
                .where("appPresets.memberId", "=", memberId)
                .where(sql<boolean>`app_presets.inputs like '%' || app_files.name || '%'`),
            ),
          ),
        )
        .execute();
      const columns = { ownName, bytes, pixels: pixels ?? null, givenAt: now };
      await database
        .insertInto("appFiles")
        .values({ appId, memberId, name, ...columns })
        .onConflict((conflict) => conflict.columns(["appId", "memberId", "name"]).doUpdateSet(columns))
        .execute();
    },

    /** Keeps these files as long as the run that uses them. */
    async extendRetention(memberId: string, names: readonly string[], now: number): Promise<void> {
      if (names.length === 0) return;
      await database.updateTable("appFiles").set({ givenAt: now }).where("memberId", "=", memberId).where("name", "in", names).execute();
    },

    /** The file may have been uploaded to any app of the connection. */
    async findFile(connectionId: string, memberId: string, name: string): Promise<StoredAppFile | undefined> {
      return selectFiles(connectionId, memberId).where("name", "=", name).orderBy("bytes", "desc").limit(1).executeTakeFirst();
    },

    async listFiles(connectionId: string, memberId: string, limit: number): Promise<StoredAppFile[]> {
      return selectFiles(connectionId, memberId).orderBy("givenAt", "desc").orderBy("name").limit(limit).execute();
    },
  };
}

function toColumns({ name, inputs, isTeam }: Pick<StoredPreset, "name" | "inputs" | "isTeam">) {
  return { name, inputs: writeExactJson(inputs), isTeam };
}
