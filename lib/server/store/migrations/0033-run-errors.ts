// The error of an app's run as data beside its sentence: which inputs, and at which node. Older runs have only the sentence.

import "server-only";
import { type Kysely, type Migration } from "kysely";

export const runErrors: Migration = {
  async up({ schema }: Kysely<unknown>): Promise<void> {
    await schema.alterTable("app_runs").addColumn("error_facts", "text").execute();
  },
};
