// A hundred thousand jobs: one real, finished job is copied row by row in the stopped service's database, with new ids and times.
// So every row has the current shape.
import { randomUUID } from "node:crypto";
import { SqliteConnection } from "@/lib/shared/database/sqlite";

const states = ["completed", "completed", "completed", "completed", "completed", "completed", "completed", "failed", "cancelled"];

/** Fills up to `count` jobs for the user who already has jobs. */
export function seedJobs(databaseFile: string, count: number): void {
  const database = new SqliteConnection(databaseFile);
  const template = database.prepare<[], Record<string, unknown>>("SELECT * FROM jobs WHERE state = 'completed' ORDER BY seq LIMIT 1").get();
  if (!template) throw new Error("There is no finished job to copy.");
  const inputs = database.prepare<[unknown], Record<string, unknown>>("SELECT * FROM job_inputs WHERE job_seq = ?").get(template.seq);
  const results = database.prepare<[unknown], Record<string, unknown>>("SELECT * FROM job_results WHERE job_seq = ?").get(template.seq);
  const have = database.prepare<[], { n: number }>("SELECT count(*) AS n FROM jobs").get()?.n ?? 0;
  const createdAt = Number(template.create_time);

  const insert = (table: string, row: Record<string, unknown>) => {
    const names = Object.keys(row);
    const marks = names.map((name) => `@${name}`).join(", ");
    return database.prepare<[Record<string, unknown>]>(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${marks})`);
  };
  const { seq: _seq, ...job } = template;
  const insertJob = insert("jobs", job);
  const insertInputs = inputs && insert("job_inputs", inputs);
  const insertResults = results && insert("job_results", results);

  database.exclusively(() => {
    for (let index = have; index < count; index += 1) {
      const earlier = (count - index) * 1000;
      const shift = (name: string) => Number(template[name]) - earlier;
      const state = states[index % states.length];
      const durationMs = 200 + ((index * 7919) % 60_000);
      const row = {
        ...job,
        id: randomUUID(),
        state,
        number: index,
        create_time: createdAt - earlier,
        update_time: shift("update_time"),
        state_time: shift("state_time"),
        start_time: shift("start_time"),
        end_time: shift("start_time") + durationMs,
        execution_time: durationMs,
        ...(state === "completed" ? {} : { preview: null, outputs_count: 0, has_image: 0 }),
      };
      const job_seq = insertJob.run(row).lastInsertRowid;
      insertInputs?.run({ ...inputs, job_seq });
      if (state === "completed") insertResults?.run({ ...results, job_seq });
    }
  });
  database.pragma("wal_checkpoint(TRUNCATE)");
  database.close();
}
