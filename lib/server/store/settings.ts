// The team's settings for the whole console, by name; the text is written and read by the module that owns the setting.

import "server-only";
import { type Database, prepareOne } from "./database";

/** `authSecret`: sealed. */
type SettingName = "readOnly" | "authSecret";
export type SettingStore = ReturnType<typeof createSettingStore>;

export function createSettingStore(database: Database) {
  const byName = prepareOne(database, database.selectFrom("settings").select("value").where("name", "=", ""));
  return {
    async get(name: SettingName): Promise<string | undefined> {
      return (await byName(name))?.value;
    },

    /** False if it is set already; the value then stays as it was. */
    async add(name: SettingName, value: string): Promise<boolean> {
      const done = await database
        .insertInto("settings")
        .values({ name, value })
        .onConflict((conflict) => conflict.column("name").doNothing())
        .executeTakeFirst();
      return Number(done.numInsertedOrUpdatedRows ?? 0) > 0;
    },

    /** Only if the value is still `before`; tells whether it was. */
    async replace(name: SettingName, { before, after }: { before: string; after: string }): Promise<boolean> {
      const done = await database
        .updateTable("settings")
        .set({ value: after })
        .where("name", "=", name)
        .where("value", "=", before)
        .executeTakeFirst();
      return Number(done.numUpdatedRows) > 0;
    },

    async remove(name: SettingName): Promise<void> {
      await database.deleteFrom("settings").where("name", "=", name).execute();
    },
  };
}
