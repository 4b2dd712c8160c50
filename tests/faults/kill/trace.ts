// A durable trace of every job's state changes, written by triggers in the same transactions. It outlives the job's row.
// It is independent of the service, whose own responses can't prove that no job ran twice.
import { SqliteConnection } from "@/lib/shared/database/sqlite";

export type Step = { job: string; was: string | null; became: string };

export function installTrace(file: string): void {
  const database = new SqliteConnection(file);
  database.exec(`
    CREATE TABLE trace (n INTEGER PRIMARY KEY, job TEXT NOT NULL, was TEXT, became TEXT NOT NULL);
    CREATE TRIGGER trace_begun AFTER INSERT ON jobs BEGIN INSERT INTO trace (job, was, became) VALUES (new.id, NULL, new.state); END;
    CREATE TRIGGER trace_step AFTER UPDATE OF state ON jobs BEGIN INSERT INTO trace (job, was, became) VALUES (new.id, old.state, new.state); END;
  `);
  database.close();
}

export function readTrace(database: SqliteConnection): Map<string, string[]> {
  const steps = database.prepare<[], Step>("SELECT job, was, became FROM trace ORDER BY n").all();
  const trace = new Map<string, string[]>();
  for (const { job, was, became } of steps) trace.set(job, [...(trace.get(job) ?? []), `${was ?? ""}>${became}`]);
  return trace;
}
