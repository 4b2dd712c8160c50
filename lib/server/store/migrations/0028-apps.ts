// Apps of a connection with their versions, and what members keep with them: favourites, presets, files they gave, runs.
// An app is deleted with its connection and stays when its maker leaves; what a member keeps is deleted with the member.

import "server-only";
import { type ColumnDefinitionBuilder, type Kysely, type Migration } from "kysely";

export const apps: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    const { schema } = database;
    const ofApp = (column: ColumnDefinitionBuilder) => column.notNull().references("apps.id").onDelete("cascade");
    const ofMember = (column: ColumnDefinitionBuilder) => column.notNull().references("members.id").onDelete("cascade");
    const needed = (column: ColumnDefinitionBuilder) => column.notNull();
    await schema
      .createTable("apps")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("connection_id", "text", (column) => column.notNull().references("connections.id").onDelete("cascade"))
      .addColumn("maker_id", "text", (column) => column.references("members.id").onDelete("set null"))
      .addColumn("title", "text", needed)
      .addColumn("text", "text", needed)
      .addColumn("tags", "text", needed)
      .addColumn("cover", "text")
      .addColumn("words", "text", needed)
      .addColumn("definition", "text", needed)
      .addColumn("access", "text", needed)
      .addColumn("limits", "text", needed)
      .addColumn("version", "integer", needed)
      .addColumn("updated_at", "bigint", needed)
      .execute();
    await schema.createIndex("apps_of_connection").on("apps").columns(["connection_id", "title"]).execute();
    await schema
      .createTable("app_members")
      .addColumn("app_id", "text", ofApp)
      .addColumn("member_id", "text", ofMember)
      .addPrimaryKeyConstraint("app_members_key", ["app_id", "member_id"])
      .execute();
    await schema
      .createTable("app_versions")
      .addColumn("app_id", "text", ofApp)
      .addColumn("number", "integer", needed)
      .addColumn("at", "bigint", needed)
      .addColumn("by", "text", needed)
      .addColumn("changes", "text", needed)
      .addColumn("restored_from", "integer")
      .addColumn("definition", "text", needed)
      .addPrimaryKeyConstraint("app_versions_key", ["app_id", "number"])
      .execute();
    await schema
      .createTable("app_favourites")
      .addColumn("app_id", "text", ofApp)
      .addColumn("member_id", "text", ofMember)
      .addPrimaryKeyConstraint("app_favourites_key", ["app_id", "member_id"])
      .execute();
    await schema
      .createTable("app_presets")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("app_id", "text", ofApp)
      .addColumn("member_id", "text", ofMember)
      .addColumn("name", "text", needed)
      .addColumn("inputs", "text", needed)
      .addColumn("is_team", "integer", needed)
      .execute();
    await schema.createIndex("presets_of_app").on("app_presets").columns(["app_id", "member_id"]).execute();
    await schema
      .createTable("app_files")
      .addColumn("app_id", "text", ofApp)
      .addColumn("member_id", "text", ofMember)
      .addColumn("name", "text", needed)
      .addColumn("bytes", "bigint", needed)
      .addColumn("pixels", "bigint")
      .addPrimaryKeyConstraint("app_files_key", ["app_id", "member_id", "name"])
      .execute();
    await schema
      .createTable("app_runs")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("app_id", "text", ofApp)
      .addColumn("member_id", "text", ofMember)
      .addColumn("version", "integer", needed)
      .addColumn("run_key", "text")
      .addColumn("content_hash", "text", needed)
      .addColumn("inputs", "text", needed)
      .addColumn("job_id", "text")
      .addColumn("state", "text", needed)
      .addColumn("created_at", "bigint", needed)
      .addColumn("ended_at", "bigint")
      .addColumn("error", "text")
      .addColumn("results", "text")
      .addUniqueConstraint("app_runs_once", ["app_id", "member_id", "run_key"])
      .execute();
    await schema.createIndex("runs_of_member").on("app_runs").columns(["app_id", "member_id", "created_at"]).execute();
  },
};
