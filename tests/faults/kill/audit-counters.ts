// Compares every stored counter with a count of its rows, and the search index with its assets.
import { expect } from "vitest";
import { toSeqSql } from "@/lib/service/store/asset-index";
import { type SqliteConnection } from "@/lib/shared/database/sqlite";

const counters: readonly { storedQuery: string; countQuery: string }[] = [
  {
    storedQuery:
      "SELECT user_id, workflow_id, state, has_image, has_video, has_audio, n FROM job_counts WHERE n <> 0 AND workflow_id <> ''",
    countQuery: "SELECT user_id, workflow_id, state, has_image, has_video, has_audio, count(*) AS n FROM jobs GROUP BY 1, 2, 3, 4, 5, 6",
  },
  {
    storedQuery: "SELECT user_id, state, has_image, has_video, has_audio, n FROM job_counts WHERE n <> 0 AND workflow_id = ''",
    countQuery: "SELECT user_id, state, has_image, has_video, has_audio, count(*) AS n FROM jobs GROUP BY 1, 2, 3, 4, 5",
  },
  {
    storedQuery: "SELECT owner_id, n FROM asset_counts WHERE n <> 0",
    countQuery: "SELECT owner_id, count(*) AS n FROM assets GROUP BY 1",
  },
  {
    storedQuery: "SELECT owner_id, tag, n FROM tag_counts WHERE n <> 0",
    countQuery: "SELECT owner_id, tag, count(*) AS n FROM asset_tags JOIN assets ON seq = asset_seq GROUP BY 1, 2",
  },
  {
    storedQuery: "SELECT owner_id, bytes FROM user_storage WHERE bytes <> 0",
    countQuery:
      "SELECT owner_id, sum(size) AS bytes FROM (SELECT DISTINCT owner_id, hash, size FROM assets WHERE owner_id <> 0) GROUP BY 1",
  },
  {
    storedQuery: `SELECT ${toSeqSql("rowid")} AS seq FROM asset_search`,
    countQuery: "SELECT seq FROM assets",
  },
];

export function auditCounters(database: SqliteConnection): void {
  for (const { storedQuery, countQuery } of counters)
    expect(queryRows(database, storedQuery), storedQuery).toEqual(queryRows(database, countQuery));
  const duplicatesQuery = "SELECT name FROM users WHERE last_number < (SELECT max(number) FROM jobs WHERE user_id = users.id)";
  expect(database.prepare(duplicatesQuery).all(), "a job number may be reused").toEqual([]);
}

function queryRows(database: SqliteConnection, sql: string): string[] {
  return database
    .prepare(sql)
    .all()
    .map((row) => JSON.stringify(row))
    .sort();
}
