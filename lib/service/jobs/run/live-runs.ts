import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { type BlobStore } from "@/lib/service/assets/blob-store";
import { type ProducedFile } from "@/lib/service/nodes/run";
import { type ServiceLog } from "@/lib/service/options";
import { createStatement, type Database, type Reader } from "@/lib/service/store/database";
import { createLimiter, sleep } from "@/lib/shared/async";
import { type ActiveRun } from "./claim";
import { type Progress } from "./run-record";

const WRITE_INTERVAL_MS = 500;
const READ_INTERVAL_MS = 250;
/** How long a reader waits for the announcement of a new output, and then for its storage. */
const MAX_ANNOUNCE_MS = 2 * WRITE_INTERVAL_MS;
const MAX_STORE_MS = 10_000;
const RETRY_DELAY_MS = 10_000;
const MAX_UPLOADS = 4;

/** An output of a running job. `isStored` means that the blob store has it. */
type SharedFile = { hash: string; size: number; mediaType: string; name: string; isStored: boolean };
type RunningJob = Pick<ActiveRun, "id" | "userId" | "fence" | "endPromise" | "record">;
type LiveRunsDependencies = {
  getRuns: () => Iterable<RunningJob>;
  database: Database;
  blobs: BlobStore;
  /** Whether other processes may run on the database, and whether they share the blob store. */
  isShared: boolean;
  hasSharedFiles: boolean;
  log: ServiceLog;
};

/** Publishes the progress and outputs of this process's runs to other processes. */
function shareRuns({ getRuns, database, blobs, hasSharedFiles, log }: Omit<LiveRunsDependencies, "isShared">) {
  let writePromise: Promise<void> | undefined;
  let lastProgress = new Map<string, string>();
  const announcedHashesByRun = new WeakMap<RunningJob, Set<string>>();
  const limit = createLimiter(MAX_UPLOADS);

  /** Announces new files. Readers wait for an announced file until the blob store has it. */
  async function publishFiles(run: RunningJob): Promise<void> {
    const announcedHashes = announcedHashesByRun.get(run) ?? new Set();
    announcedHashesByRun.set(run, announcedHashes);
    const newFiles = [...new Map(run.record.files.map((file) => [file.hash, file])).values()].filter(
      ({ hash }) => !announcedHashes.has(hash),
    );
    if (newFiles.length === 0) return;
    await database.rows(createPublishStatement(run, newFiles));
    for (const file of newFiles) {
      announcedHashes.add(file.hash);
      let hasEnded = false;
      void run.endPromise.then(() => (hasEnded = true));
      limit(() => (hasEnded ? Promise.resolve() : storeUntilOver(run, file))).catch((error: unknown) => {
        // The run's files were stored or removed when it ended.
        if (hasEnded) return;
        log.warn({ err: error, job: run.id }, "live output broadcast failed");
        setTimeout(() => announcedHashes.delete(file.hash), RETRY_DELAY_MS).unref();
      });
    }
  }

  /** Keeps the file in the blob store until the run is over. Resolves as soon as it is stored. */
  function storeUntilOver({ id, fence, endPromise }: RunningJob, { hash, path, byteLength: size }: ProducedFile): Promise<void> {
    return new Promise((resolve, reject) => {
      const holdPromise = blobs.hold([hash], async () => {
        await blobs.adopt({ path, hash, size });
        const text = "UPDATE run_files SET is_stored = true WHERE job_id = ? AND hash = ? AND fence = ?";
        await database.rows(createStatement(text, [id, hash, fence]));
        resolve();
        await endPromise;
      });
      holdPromise.finally(() => blobs.removeIfUnused(hash)).catch(reject);
    });
  }

  async function write(): Promise<void> {
    const latestProgress = new Map<string, string>();
    const changedRuns: { jobId: string; fence: number; text: string }[] = [];
    for (const run of getRuns()) {
      if (hasSharedFiles) await publishFiles(run);
      const text = writeExactJson(run.record.getProgress());
      latestProgress.set(run.id, text);
      if (lastProgress.get(run.id) !== text) changedRuns.push({ jobId: run.id, fence: run.fence, text });
    }
    if (changedRuns.length > 0) await database.rows(createWriteStatement(changedRuns));
    lastProgress = latestProgress;
  }

  const timer = setInterval(() => {
    writePromise ??= write()
      .catch((error: unknown) => log.warn({ err: error }, "progress broadcast failed"))
      .finally(() => (writePromise = undefined));
  }, WRITE_INTERVAL_MS).unref();

  return {
    async read(reader: Reader, jobIds: readonly string[]): Promise<ReadonlyMap<string, Progress>> {
      if (jobIds.length === 0) return new Map();
      const rows = await reader.rows(
        createStatement<{ job_id: string; progress: string }>(
          `SELECT job_id, progress FROM run_progress JOIN jobs ON jobs.id = job_id AND jobs.fence = run_progress.fence WHERE job_id = ANY (?::text[])`,
          [jobIds],
        ),
      );
      return new Map(rows.map(({ job_id, progress }) => [job_id, parseExactJson<Progress>(progress)]));
    },

    /** Returns the user's running jobs, each with its announced output of this hash. */
    async findFile(userId: number, hash: string): Promise<{ id: string; file: SharedFile | undefined }[]> {
      type Row = { id: string; size: number | null; media_type: string | null; name: string | null; is_stored: number | null };
      const text = `SELECT jobs.id, size, media_type, run_files.name, is_stored FROM jobs LEFT JOIN run_files
        ON job_id = jobs.id AND run_files.fence = jobs.fence AND hash = ?
        WHERE user_id = ? AND state IN ('pending', 'in_progress') AND state = 'in_progress'`;
      const rows = await database.rows(createStatement<Row>(text, [hash, userId]));
      return rows.map(({ id, size, media_type: mediaType, name, is_stored: isStored }) => ({
        id,
        file:
          size === null || mediaType === null || name === null
            ? undefined
            : { hash, size: Number(size), mediaType, name, isStored: isStored === 1 },
      }));
    },

    async sweep(): Promise<void> {
      const condition = "NOT EXISTS (SELECT 1 FROM jobs WHERE id = job_id AND state IN ('pending', 'in_progress'))";
      for (const table of ["run_progress", "run_files"]) await database.rows(createStatement(`DELETE FROM ${table} WHERE ${condition}`));
    },

    async stop(): Promise<void> {
      clearInterval(timer);
      await writePromise;
    },
  };
}

function createPublishStatement({ id, fence }: RunningJob, files: readonly ProducedFile[]) {
  return createStatement(
    `INSERT INTO run_files (job_id, fence, hash, size, media_type, name, is_stored)
     SELECT ?::text, ?::bigint, *, false FROM unnest(?::text[], ?::bigint[], ?::text[], ?::text[])
     ON CONFLICT (job_id, hash) DO UPDATE
     SET fence = excluded.fence, size = excluded.size, media_type = excluded.media_type, name = excluded.name, is_stored = false
     WHERE run_files.fence <= excluded.fence`,
    [
      ...[id, fence],
      files.map(({ hash }) => hash),
      files.map(({ byteLength }) => byteLength),
      files.map(({ mimeType }) => mimeType),
      files.map(({ displayName }) => displayName),
    ],
  );
}

function createWriteStatement(changedRuns: readonly { jobId: string; fence: number; text: string }[]) {
  return createStatement(
    `INSERT INTO run_progress (job_id, fence, progress) SELECT * FROM unnest(?::text[], ?::bigint[], ?::text[])
     ON CONFLICT (job_id) DO UPDATE SET fence = excluded.fence, progress = excluded.progress WHERE run_progress.fence <= excluded.fence`,
    [changedRuns.map(({ jobId }) => jobId), changedRuns.map(({ fence }) => fence), changedRuns.map(({ text }) => text)],
  );
}

export type LiveRuns = ReturnType<typeof createLiveRuns>;

export function createLiveRuns({ isShared, ...dependencies }: LiveRunsDependencies) {
  const { getRuns } = dependencies;
  const sharedRuns = isShared ? shareRuns(dependencies) : undefined;

  return {
    async getProgress(reader: Reader, jobIds: readonly string[]): Promise<ReadonlyMap<string, Progress>> {
      const progressById = new Map<string, Progress>();
      if (jobIds.length === 0) return progressById;
      const localRecords = new Map([...getRuns()].map(({ id, record }) => [id, record] as const));
      const otherIds = jobIds.filter((id) => !localRecords.has(id));
      for (const [id, progress] of (await sharedRuns?.read(reader, otherIds)) ?? []) progressById.set(id, progress);
      for (const id of jobIds) {
        const record = localRecords.get(id);
        if (record) progressById.set(id, record.getProgress());
      }
      return progressById;
    },

    findLocalFile(userId: number, hash: string): ProducedFile | undefined {
      for (const run of getRuns()) {
        const file = run.userId === userId ? run.record.files.find((file) => file.hash === hash) : undefined;
        if (file) return file;
      }
      return undefined;
    },

    /** Finds an output of the user's jobs in other processes. Waits for a file that was just produced. */
    async findPeerFile(userId: number, hash: string): Promise<SharedFile | undefined> {
      if (!sharedRuns) return undefined;
      const localIds = new Set([...getRuns()].map(({ id }) => id));
      for (let waitedMs = 0; ; waitedMs += READ_INTERVAL_MS) {
        const otherRuns = (await sharedRuns.findFile(userId, hash)).filter(({ id }) => !localIds.has(id));
        const file = otherRuns.find((run) => run.file)?.file;
        if (file?.isStored) return file;
        if (otherRuns.length === 0 || waitedMs >= (file ? MAX_STORE_MS : MAX_ANNOUNCE_MS)) return undefined;
        await sleep(READ_INTERVAL_MS);
      }
    },

    sweep: () => sharedRuns?.sweep() ?? Promise.resolve(),
    stop: () => sharedRuns?.stop(),
  };
}
