// The progress of jobs, for processes at which they do not run: written at most twice a second, while it changes, and read with a list or a
// job.
// On SQLite there is no other process. On PostgreSQL it is in a table that a crash of the database may empty.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { type ServiceLog } from "@/lib/service/options";
import { type Database, type Reader } from "@/lib/service/store/database";
import { plainStatement } from "@/lib/service/store/statement";
import { type Progress } from "./run-record";

const WRITE_EVERY_MS = 500;

type ProgressHere = { id: string; fence: number; record: { progress(): Progress } };
export type SharedProgress = {
  /** `running`: returns what runs here; called again and again. */
  share(running: () => Iterable<ProgressHere>): void;
  /** The progress of jobs that run elsewhere. */
  read(reader: Reader, jobIds: readonly string[]): Promise<ReadonlyMap<string, Progress>>;
  /** Removes what is left of jobs that no longer run. */
  sweep(): Promise<void>;
  stop(): Promise<void>;
};

export function createNoSharedProgress(): SharedProgress {
  return {
    share: () => undefined,
    read: () => Promise.resolve(new Map()),
    sweep: () => Promise.resolve(),
    stop: () => Promise.resolve(),
  };
}

export function createPostgresProgress(database: Database, log: ServiceLog): SharedProgress {
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  /** What was last written, by job. */
  let written = new Map<string, string>();

  async function write(running: Iterable<ProgressHere>): Promise<void> {
    const latest = new Map<string, string>();
    const changed: { jobId: string; fence: number; text: string }[] = [];
    for (const { id: jobId, fence, record } of running) {
      const text = writeExactJson(record.progress());
      latest.set(jobId, text);
      if (written.get(jobId) !== text) changed.push({ jobId, fence, text });
    }
    if (changed.length > 0) await database.rows(writeStatement(changed));
    written = latest;
  }

  return {
    share(running) {
      timer = setInterval(() => {
        writing ??= write(running())
          .catch((error: unknown) => log.warn({ err: error }, "how far jobs are could not be told to other processes"))
          .finally(() => (writing = undefined));
      }, WRITE_EVERY_MS).unref();
    },

    async read(reader, jobIds) {
      if (jobIds.length === 0) return new Map();
      const rows = await reader.rows(
        plainStatement<{ job_id: string; progress: string }>(
          `SELECT job_id, progress FROM run_progress JOIN jobs ON jobs.id = job_id AND jobs.fence = run_progress.fence WHERE job_id = ANY (?::text[])`,
          [jobIds],
        ),
      );
      return new Map(rows.map(({ job_id, progress }) => [job_id, parseExactJson<Progress>(progress)]));
    },

    async sweep() {
      const over = "NOT EXISTS (SELECT 1 FROM jobs WHERE id = job_id AND state IN ('pending', 'in_progress'))";
      await database.rows(plainStatement(`DELETE FROM run_progress WHERE ${over}`));
    },

    async stop() {
      clearInterval(timer);
      await writing;
    },
  };
}

function writeStatement(changed: readonly { jobId: string; fence: number; text: string }[]) {
  return plainStatement(
    `INSERT INTO run_progress (job_id, fence, progress) SELECT * FROM unnest(?::text[], ?::bigint[], ?::text[])
     ON CONFLICT (job_id) DO UPDATE SET fence = excluded.fence, progress = excluded.progress WHERE run_progress.fence <= excluded.fence`,
    [changed.map(({ jobId }) => jobId), changed.map(({ fence }) => fence), changed.map(({ text }) => text)],
  );
}
