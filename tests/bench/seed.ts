// Copies one real, completed job many times in a stopped service's database, with new ids and times. So every row has the current
// shape.
import { randomUUID } from "node:crypto";
import { SqliteConnection } from "@/lib/shared/database/sqlite";

const states = ["completed", "completed", "completed", "completed", "completed", "completed", "completed", "failed", "cancelled"];

/** Adds copies until the user who already has jobs has `count` of them. */
export function seedJobs(databaseFile: string, count: number): void {
  const database = new SqliteConnection(databaseFile);
  const template = database.prepare<[], Record<string, unknown>>("SELECT * FROM jobs WHERE state = 'completed' ORDER BY seq LIMIT 1").get();
  if (!template) throw new Error("There is no completed job to copy.");
  const inputs = database.prepare<[unknown], Record<string, unknown>>("SELECT * FROM job_inputs WHERE job_seq = ?").get(template.seq);
  const results = database.prepare<[unknown], Record<string, unknown>>("SELECT * FROM job_results WHERE job_seq = ?").get(template.seq);
  const existingCount = database.prepare<[], { n: number }>("SELECT count(*) AS n FROM jobs").get()?.n ?? 0;
  const createdAt = Number(template.create_time);

  const prepareInsert = (table: string, row: Record<string, unknown>) => {
    const names = Object.keys(row);
    const placeholders = names.map((name) => `@${name}`).join(", ");
    return database.prepare<[Record<string, unknown>]>(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${placeholders})`);
  };
  const { seq: _seq, ...job } = template;
  const insertJob = prepareInsert("jobs", job);
  const insertInputs = inputs && prepareInsert("job_inputs", inputs);
  const insertResults = results && prepareInsert("job_results", results);

  database.runExclusively(() => {
    for (let index = existingCount; index < count; index += 1) {
      const ageMs = (count - index) * 1000;
      const getShiftedTime = (name: string) => Number(template[name]) - ageMs;
      const state = states[index % states.length];
      const durationMs = 200 + ((index * 7919) % 60_000);
      const row = {
        ...job,
        id: randomUUID(),
        state,
        number: index,
        create_time: createdAt - ageMs,
        update_time: getShiftedTime("update_time"),
        state_time: getShiftedTime("state_time"),
        start_time: getShiftedTime("start_time"),
        end_time: getShiftedTime("start_time") + durationMs,
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
