// What is known of running jobs, wherever they run: their progress, and the files that they have put out so far.
// Guarantees: a file of a job that runs elsewhere is handed over through the blobs, where it is kept for as long as the job runs; no row of
// it is stored before its job has ended.

import { z } from "zod";
import { type BlobStore } from "@/lib/service/assets/blob-store";
import { type ProducedFile } from "@/lib/service/nodes/run";
import { type ServiceLog } from "@/lib/service/options";
import { type Database, query, type Reader } from "@/lib/service/store/database";
import { type Questions } from "@/lib/service/store/questions";
import { isUnfinished } from "../transitions";
import { type Running } from "./claim";
import { type Progress } from "./run-record";
import { type SharedProgress } from "./shared-progress";

const FILE = "a file of a run";
const questionSchema = z.object({ userId: z.number(), hash: z.string() });
const answerSchema = z.object({ size: z.number(), mediaType: z.string(), name: z.string() });

/** A file among the blobs, while its job runs. */
export type LentFile = z.output<typeof answerSchema>;
export type LiveRuns = ReturnType<typeof createLiveRuns>;
type Live = Pick<Running, "id" | "userId" | "fence" | "over" | "record">;
type Parts = {
  /** The jobs that run here. */
  runs: () => Iterable<Live>;
  database: Database;
  blobs: BlobStore;
  questions: Questions;
  shared: SharedProgress;
  log: ServiceLog;
};

export function createLiveRuns({ runs, database, blobs, questions, shared, log }: Parts) {
  const lent = new WeakMap<Live, Map<string, Promise<void>>>();

  shared.share(runs);
  questions.answer(FILE, async (asked) => {
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

  /** Resolves once the file is among the blobs. */
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
      for (const [id, progress] of await shared.read(reader, elsewhere)) found.set(id, progress);
      for (const id of jobIds) {
        const record = here.get(id);
        if (record) found.set(id, record.progress());
      }
      return found;
    },

    /** A file of one of the user's jobs that run here. */
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
      const [answer] = await questions.ask(FILE, { userId, hash });
      return answerSchema.safeParse(answer).data;
    },

    stop: () => shared.stop(),
  };
}
