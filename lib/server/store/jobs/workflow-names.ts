// The last known name of each workflow of a connection, because a list item of the interface carries only its id.
// Guarantees: one row per connection and workflow; deleted with the connection.

import "server-only";
import { type Database } from "../database";
import { oneOf } from "../dialect/dialect";

const MOST_LISTED = 2_000;

export type WorkflowNameStore = ReturnType<typeof createWorkflowNameStore>;

export function createWorkflowNameStore(database: Database) {
  return {
    /** `name` has passed the key gate. */
    async remember(connectionId: string, workflowId: string, name: string): Promise<void> {
      await database
        .insertInto("workflow_names")
        .values({ connection_id: connectionId, workflow_id: workflowId, name, is_masked: 1 })
        .onConflict((conflict) => conflict.columns(["connection_id", "workflow_id"]).doUpdateSet({ name, is_masked: 1 }))
        .execute();
    },

    /** Names stored before the key gate existed. */
    async unmasked(): Promise<{ connectionId: string; workflowId: string; name: string }[]> {
      const rows = await database.selectFrom("workflow_names").selectAll().where("is_masked", "=", 0).execute();
      return rows.map((row) => ({ connectionId: row.connection_id, workflowId: row.workflow_id, name: row.name }));
    },

    /** `isFinal`: it need not be checked again. */
    async mask(connectionId: string, workflowId: string, name: string, isFinal: boolean): Promise<void> {
      await database
        .updateTable("workflow_names")
        .set({ name, is_masked: isFinal ? 1 : 0 })
        .where("connection_id", "=", connectionId)
        .where("workflow_id", "=", workflowId)
        .execute();
    },

    /** A connection's workflows by name; as many as a person may look through. */
    async all(connectionId: string): Promise<{ id: string; name: string }[]> {
      const rows = await database
        .selectFrom("workflow_names")
        .select(["workflow_id", "name"])
        .where("connection_id", "=", connectionId)
        .orderBy("name")
        .limit(MOST_LISTED)
        .execute();
      return rows.map((row) => ({ id: row.workflow_id, name: row.name }));
    },

    /** Names by workflow id; workflows without a name are absent. */
    async list(connectionId: string, workflowIds: readonly string[]): Promise<Map<string, string>> {
      const rows = await database
        .selectFrom("workflow_names")
        .select(["workflow_id", "name"])
        .where("connection_id", "=", connectionId)
        .where("workflow_id", "in", oneOf(database, workflowIds))
        .execute();
      return new Map(rows.map((row) => [row.workflow_id, row.name]));
    },
  };
}
