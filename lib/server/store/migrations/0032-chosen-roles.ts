// An app may be limited to roles. A file given to an app has the time and its original name; older files have neither.

import "server-only";
import { type Kysely, type Migration } from "kysely";

export const chosenRoles: Migration = {
  async up({ schema }: Kysely<unknown>): Promise<void> {
    await schema
      .alterTable("apps")
      .addColumn("roles", "text", (column) => column.notNull().defaultTo("[]"))
      .execute();
    await schema
      .alterTable("app_files")
      .addColumn("given_at", "bigint", (column) => column.notNull().defaultTo(0))
      .execute();
    await schema
      .alterTable("app_files")
      .addColumn("own_name", "text", (column) => column.notNull().defaultTo(""))
      .execute();
  },
};
