// What went wrong with an app's run, as data beside its sentence: which inputs, and at which node. Runs from before have the sentence alone.

import "server-only";
import { type Kysely, type Migration } from "kysely";

export const runErrors: Migration = {
  async up({ schema }: Kysely<unknown>): Promise<void> {
    await schema.alterTable("app_runs").addColumn("error_facts", "text").execute();
  },
};
