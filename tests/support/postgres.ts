// Starts one server for all suites that run on PostgreSQL.
import { type TestProject } from "vitest/node";
import { startPostgres } from "./postgres-server";

declare module "vitest" {
  export interface ProvidedContext {
    /** URL of a server that allows creating databases. Undefined if the suite runs on SQLite. */
    postgres: string;
  }
}

export async function setup({ provide }: TestProject): Promise<(() => Promise<void>) | undefined> {
  const databaseUrl = process.env.DATABASE_URL_FOR_TESTS;
  if (databaseUrl) return void provide("postgres", databaseUrl);
  const server = await startPostgres();
  provide("postgres", server.url);
  return () => server.remove();
}
