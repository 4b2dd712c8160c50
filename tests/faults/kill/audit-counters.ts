// Compares the service's stored counters with a count of their rows.
import { expect } from "vitest";
import { toSeqSql } from "@/lib/service/store/asset-index";
import { type SqliteConnection } from "@/lib/shared/database/sqlite";

/** By table: the query of the stored counters, and one that computes the same values from the rows. */
export const storedCounters = {
  job_counts: [
    "SELECT user_id, workflow_id, state, has_image, has_video, has_audio, n FROM job_counts WHERE n <> 0 AND workflow_id <> ''",
    `SELECT user_id, workflow_id, state, has_image, has_video, has_audio, count(*) AS n FROM jobs WHERE workflow_id <> ''
      GROUP BY 1, 2, 3, 4, 5, 6`,
  ],
  asset_counts: ["SELECT owner_id, n FROM asset_counts WHERE n <> 0", "SELECT owner_id, count(*) AS n FROM assets GROUP BY 1"],
  user_storage: [
    "SELECT owner_id, bytes AS n FROM user_storage WHERE bytes <> 0",
    "SELECT owner_id, sum(size) AS n FROM (SELECT DISTINCT owner_id, hash, size FROM assets WHERE owner_id <> 0) AS contents GROUP BY 1",
  ],
  tag_counts: [
    "SELECT owner_id, tag, n FROM tag_counts WHERE n <> 0",
    "SELECT owner_id, tag, count(*) AS n FROM asset_tags JOIN assets ON seq = asset_seq GROUP BY 1, 2",
  ],
} as const;
/** Job counts of all workflows together. */
export const jobTotalsQuery = "SELECT user_id, state, has_image, has_video, has_audio, n FROM job_counts WHERE n <> 0 AND workflow_id = ''";

/** Converts the values to text, because PostgreSQL returns large numbers as text. */
export const sortRows = (rows: readonly object[]): string[] => rows.map((row) => Object.values(row).map(String).join(" ")).sort();

/** Compares every stored counter with a count of its rows, and the search index with its assets. */
export function auditCounters(database: SqliteConnection): void {
  const readRows = (query: string) => sortRows(database.prepare<[], object>(query).all());
  const totals = [
    jobTotalsQuery,
    "SELECT user_id, state, has_image, has_video, has_audio, count(*) AS n FROM jobs GROUP BY 1, 2, 3, 4, 5",
  ] as const;
  const searchRows = [`SELECT ${toSeqSql("rowid")} AS seq FROM asset_search`, "SELECT seq FROM assets"] as const;
  for (const [storedQuery, countQuery] of [...Object.values(storedCounters), totals, searchRows])
    expect(readRows(storedQuery), storedQuery).toEqual(readRows(countQuery));
  const duplicatesQuery = "SELECT name FROM users WHERE last_number < (SELECT max(number) FROM jobs WHERE user_id = users.id)";
  expect(database.prepare(duplicatesQuery).all(), "a job number may be reused").toEqual([]);
}
