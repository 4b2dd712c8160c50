// How long an ended task can be asked about: beyond an age, or a number for each user, it is removed. Its asset stays.
// Guarantees: waiting and running tasks are neither counted nor removed; that a file was fetched is known for as long as the file is there.

import { type ServiceSettings } from "../settings";
import { type Database, query } from "../store/database";
import { PUBLIC_OWNER } from "../users/user";

const DAY_MS = 86_400_000;
const AT_ONCE = 500;

export type PruneParts = { database: Database; settings: Pick<ServiceSettings, "retentionTaskDays" | "retentionTasks">; now: () => number };

/** Returns how many tasks were removed. */
export async function pruneTasks({ database, settings, now }: PruneParts, goOn: () => boolean): Promise<number> {
  let removed = 0;
  const before = now() - settings.retentionTaskDays * DAY_MS;
  for (const { id } of await database.rows(query.selectFrom("users").select("id"))) {
    const ended = query.selectFrom("tasks").select("tasks.id").where("user_id", "=", id).where("completed_at", "is not", null);
    const old = ended.where("completed_at", "<", before).limit(AT_ONCE);
    const many = ended.orderBy("completed_at", "desc").orderBy("id", "desc").limit(AT_ONCE).offset(settings.retentionTasks);
    for (const which of [old, many]) {
      for (let went = AT_ONCE; went === AT_ONCE && goOn(); removed += went)
        went = await database.commit((tx) => tx.run(query.deleteFrom("tasks").where("id", "in", which)));
    }
  }
  await database.commit((tx) => tx.run(forgotten));
  return removed;
}

/** Entries of content that the user no longer has. */
const forgotten = query.deleteFrom("fetched_sources").where(({ not, exists, selectFrom }) =>
  not(
    exists(
      selectFrom("assets")
        .select("assets.seq")
        .whereRef("assets.hash", "=", "fetched_sources.hash")
        .where(({ or, eb }) =>
          or([eb("assets.owner_id", "=", eb.ref("fetched_sources.user_id")), eb("assets.owner_id", "=", PUBLIC_OWNER)]),
        ),
    ),
  ),
);
