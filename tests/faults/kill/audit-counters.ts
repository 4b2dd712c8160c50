// Every counter that is kept, held against counting; every index of words, held against its rows.
import type Sqlite from "better-sqlite3";
import { expect } from "vitest";

const counters: readonly { kept: string; counted: string }[] = [
  {
    kept: "SELECT user_id, workflow_id, state, has_image, has_video, has_audio, n FROM job_counts WHERE n <> 0 AND workflow_id <> ''",
    counted: "SELECT user_id, workflow_id, state, has_image, has_video, has_audio, count(*) AS n FROM jobs GROUP BY 1, 2, 3, 4, 5, 6",
  },
  {
    kept: "SELECT user_id, state, has_image, has_video, has_audio, n FROM job_counts WHERE n <> 0 AND workflow_id = ''",
    counted: "SELECT user_id, state, has_image, has_video, has_audio, count(*) AS n FROM jobs GROUP BY 1, 2, 3, 4, 5",
  },
  {
    kept: "SELECT owner_id, n FROM asset_counts WHERE n <> 0",
    counted: "SELECT owner_id, count(*) AS n FROM assets GROUP BY 1",
  },
];

export function auditCounters(database: Sqlite.Database): void {
  for (const { kept, counted } of counters) expect(sorted(database, kept), kept).toEqual(sorted(database, counted));
  const numbers = "SELECT name FROM users WHERE last_number < (SELECT max(number) FROM jobs WHERE user_id = users.id)";
  expect(database.prepare(numbers).all(), "a number that is given out twice").toEqual([]);
}

function sorted(database: Sqlite.Database, sql: string): string[] {
  return database
    .prepare(sql)
    .all()
    .map((row) => JSON.stringify(row))
    .sort();
}
