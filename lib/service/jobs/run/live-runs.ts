import { z } from "zod";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { type BlobStore } from "@/lib/service/assets/blob-store";
import { type ProducedFile } from "@/lib/service/nodes/run";
import { type ServiceLog } from "@/lib/service/options";
import { type Database, plainStatement, query, type Reader } from "@/lib/service/store/database";
import { type PeerRequests } from "@/lib/service/store/processes";
import { isUnfinished } from "../transitions";
import { type Running } from "./claim";
import { type Progress } from "./run-record";

const WRITE_EVERY_MS = 500;

type ProgressHere = { id: string; fence: number; record: { progress(): Progress } };

function shareProgress(database: Database, running: () => Iterable<ProgressHere>, log: ServiceLog) {
  let writing: Promise<void> | undefined;
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

  const timer = setInterval(() => {
    writing ??= write(running())
      .catch((error: unknown) => log.warn({ err: error }, "how far jobs are could not be told to other processes"))
      .finally(() => (writing = undefined));
  }, WRITE_EVERY_MS).unref();

  return {
    async read(reader: Reader, jobIds: readonly string[]): Promise<ReadonlyMap<string, Progress>> {
      if (jobIds.length === 0) return new Map();
      const rows = await reader.rows(
        plainStatement<{ job_id: string; progress: string }>(
          `SELECT job_id, progress FROM run_progress JOIN jobs ON jobs.id = job_id AND jobs.fence = run_progress.fence WHERE job_id = ANY (?::text[])`,
          [jobIds],
        ),
      );
      return new Map(rows.map(({ job_id, progress }) => [job_id, parseExactJson<Progress>(progress)]));
    },

    async sweep(): Promise<void> {
      const over = "NOT EXISTS (SELECT 1 FROM jobs WHERE id = job_id AND state IN ('pending', 'in_progress'))";
      await database.rows(plainStatement(`DELETE FROM run_progress WHERE ${over}`));
    },

    async stop(): Promise<void> {
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

const FILE = "a file of a run";
const questionSchema = z.object({ userId: z.number(), hash: z.string() });
const answerSchema = z.object({ size: z.number(), mediaType: z.string(), name: z.string() });

type LentFile = z.output<typeof answerSchema>;
export type LiveRuns = ReturnType<typeof createLiveRuns>;
type Live = Pick<Running, "id" | "userId" | "fence" | "over" | "record">;
type Parts = {
  runs: () => Iterable<Live>;
  database: Database;
  blobs: BlobStore;
  peerRequests: PeerRequests;
  isShared: boolean;
  log: ServiceLog;
};

export function createLiveRuns({ runs, database, blobs, peerRequests, isShared, log }: Parts) {
  const shared = isShared ? shareProgress(database, runs, log) : undefined;
  const lent = new WeakMap<Live, Map<string, Promise<void>>>();

  peerRequests.answer(FILE, async (asked) => {
    const { data } = questionSchema.safeParse(asked);
    const found = data && findHere(data.userId, data.hash);
    if (!found) return undefined;
    const { run, file } = found;
    await lendOnce(run, file);
    return { size: file.byteLength, mediaType: file.mimeType, name: file.displayName } satisfies LentFile;
  });

  function findHere(userId: number, hash: string): { run: Live; file: ProducedFile } | undefined {
    for (const run of runs()) {
      const file = run.userId === userId ? run.record.files.find((one) => one.hash === hash) : undefined;
      if (file) return { run, file };
    }
    return undefined;
  }

  function lendOnce(run: Live, file: ProducedFile): Promise<void> {
    const ofRun = lent.get(run) ?? new Map<string, Promise<void>>();
    lent.set(run, ofRun);
    const work = ofRun.get(file.hash) ?? lend(run, file);
    ofRun.set(file.hash, work);
    work.catch(() => ofRun.delete(file.hash));
    return work;
  }

  function lend({ over }: Live, { hash, path, byteLength: size }: ProducedFile): Promise<void> {
    return new Promise((resolve, reject) => {
      const lending = blobs.hold([hash], async () => {
        await blobs.adopt({ path, hash, size });
        resolve();
        await over;
      });
      lending
        .catch(reject)
        .then(() => blobs.drop(hash))
        .catch((error: unknown) => log.warn({ err: error, hash }, "bytes that nothing names stay until the next sweep"));
    });
  }

  return {
    async progressOf(reader: Reader, jobIds: readonly string[]): Promise<ReadonlyMap<string, Progress>> {
      const found = new Map<string, Progress>();
      if (jobIds.length === 0) return found;
      const here = new Map([...runs()].map(({ id, record }) => [id, record] as const));
      const elsewhere = jobIds.filter((id) => !here.has(id));
      for (const [id, progress] of (await shared?.read(reader, elsewhere)) ?? []) found.set(id, progress);
      for (const id of jobIds) {
        const record = here.get(id);
        if (record) found.set(id, record.progress());
      }
      return found;
    },

    fileHere: (userId: number, hash: string): ProducedFile | undefined => findHere(userId, hash)?.file,

    /** A file of one of the user's jobs that run at another process. */
    async fileElsewhere(userId: number, hash: string): Promise<LentFile | undefined> {
      const running = query
        .selectFrom("jobs")
        .select("id")
        .where("user_id", "=", userId)
        .where(isUnfinished)
        .where("state", "=", "in_progress");
      const here = new Set([...runs()].map(({ id }) => id));
      if ((await database.rows(running)).every(({ id }) => here.has(id))) return undefined;
      const [answer] = await peerRequests.ask(FILE, { userId, hash });
      return answerSchema.safeParse(answer).data;
    },

    sweep: () => shared?.sweep() ?? Promise.resolve(),
    stop: () => shared?.stop(),
  };
}
