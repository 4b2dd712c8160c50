// Checks the database and every file after all jobs have ended and the process has stopped.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { blake3 } from "@napi-rs/blake-hash";
import { expect } from "vitest";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { auditCounters } from "./audit-counters";
import { expectedResults } from "./load-inputs";
import { type OperationLog } from "./operation-log";

type TraceStep = { job: string; was: string | null; became: string };
type JobRow = { id: string; state: string; attempts: number; error: string | null; messages: string | null; files: number };

const finalTransitions = [">completed", ">failed", ">cancelled"];
const validTransition = /^(>pending|pending>in_progress|pending>cancelled|in_progress>(pending|completed|failed|cancelled))$/;

/** Installs triggers that record every job's state changes in the same transactions. The trace outlives the jobs' rows. */
export function installTrace(file: string): void {
  const database = new SqliteConnection(file);
  database.exec(`
    CREATE TABLE trace (n INTEGER PRIMARY KEY, job TEXT NOT NULL, was TEXT, became TEXT NOT NULL);
    CREATE TRIGGER trace_begun AFTER INSERT ON jobs BEGIN INSERT INTO trace (job, was, became) VALUES (new.id, NULL, new.state); END;
    CREATE TRIGGER trace_step AFTER UPDATE OF state ON jobs BEGIN INSERT INTO trace (job, was, became) VALUES (new.id, old.state, new.state); END;
  `);
  database.close();
}

function readTrace(database: SqliteConnection): Map<string, string[]> {
  const steps = database.prepare<[], TraceStep>("SELECT job, was, became FROM trace ORDER BY n").all();
  const trace = new Map<string, string[]>();
  for (const { job, was, became } of steps) trace.set(job, [...(trace.get(job) ?? []), `${was ?? ""}>${became}`]);
  return trace;
}

export function auditStore(folder: string, operationLogs: readonly OperationLog[]): void {
  const database = new SqliteConnection(join(folder, "service.sqlite"), { readOnly: true });
  try {
    expect(database.pragma("integrity_check")).toBe("ok");
    expect(database.pragma("foreign_key_check")).toBeUndefined();
    auditRuns(database, operationLogs);
    auditCounters(database);
    auditBytes(database, folder);
    expect(database.prepare("SELECT * FROM job_images").all(), "images of ended jobs are released").toEqual([]);
    const incompleteMasksQuery = database.prepare(
      "SELECT id FROM assets WHERE origin = 'upload' AND metadata LIKE '%mask_layer%' AND NOT EXISTS (SELECT 1 FROM mask_layers AS l WHERE l.owner_id = assets.owner_id AND instr(l.result || l.mask || l.paint || l.painted, assets.hash))",
    );
    expect(incompleteMasksQuery.all(), "a mask's four pictures are stored together or not at all").toEqual([]);
  } finally {
    database.close();
  }
}

/** Checks that every job ended once, by valid steps, with the results of exactly one run. */
function auditRuns(database: SqliteConnection, operationLogs: readonly OperationLog[]): void {
  const trace = readTrace(database);
  const rows = database
    .prepare<[], JobRow>(
      "SELECT id, state, attempts, error, messages, (SELECT count(*) FROM assets WHERE prompt_id = jobs.id) AS files FROM jobs LEFT JOIN job_results ON job_seq = seq",
    )
    .all();
  for (const [job, steps] of trace) {
    const ends = steps.filter((step) => finalTransitions.some((final) => step.endsWith(final)));
    expect(ends.length, `${job} ended once: ${steps.join(" ")}`).toBe(1);
    expect(steps.at(-1), `nothing follows the end of ${job}`).toBe(ends[0]);
    expect(steps.filter((step) => !validTransition.test(step))).toEqual([]);
  }
  for (const row of rows) {
    const steps = trace.get(row.id) ?? [];
    expect(row.attempts, `${row.id} counts its attempts: ${steps.join(" ")}`).toBe(
      steps.filter((step) => step === "pending>in_progress").length,
    );
    const successes = (row.messages ?? "").split('"execution_success"').length - 1;
    expect(successes, `${row.id} reports one success`).toBe(row.state === "completed" ? 1 : 0);
    if (row.state === "cancelled") expect(row.files, `${row.id} was cancelled and has no files`).toBe(0);
  }
  const files = database.prepare<[string], number>("SELECT count(*) FROM assets WHERE prompt_id = ?").pluck();
  const errors = new Map(rows.map((row) => [row.id, row.error ?? ""]));
  for (const job of operationLogs.flatMap((operationLog) => [...operationLog.jobs.values()])) {
    const steps = trace.get(job.id) ?? [];
    const end = steps.at(-1)?.split(">")[1];
    const subject = `${job.kind} ${job.id}: ${steps.join(" ")} ${errors.get(job.id) ?? ""}`;
    if (job.cancelled === "yes") expect(end, subject).toBe("cancelled");
    if (end === "cancelled") continue;
    const isAbandoned = end === "failed" && steps.filter((step) => step === "pending>in_progress").length === 3 && files.get(job.id) === 0;
    if (!isAbandoned) expect({ state: end, files: files.get(job.id) }, subject).toEqual(expectedResults[job.kind]);
  }
  const duplicateOutputs = database
    .prepare(
      "SELECT prompt_id FROM assets WHERE prompt_id IS NOT NULL GROUP BY prompt_id, node_id, output_key, output_index HAVING count(*) > 1",
    )
    .all();
  expect(duplicateOutputs).toEqual([]);
}

/** Checks that blobs match rows one to one, bytes match hashes, and no other files remain. */
function auditBytes(database: SqliteConnection, folder: string): void {
  const rows = database.prepare<[], { hash: string; size: number }>("SELECT hash, size FROM blobs").all();
  const blobs = join(folder, "blobs", "blake3-v1");
  const blobNames = listFiles(blobs).map((path) => path.replaceAll("/", ""));
  expect(blobNames.sort()).toEqual(rows.map((row) => row.hash).sort());
  for (const { hash, size } of rows) {
    const bytes = readFileSync(join(blobs, hash.slice(0, 2), hash.slice(2)));
    expect({ size: bytes.byteLength, hash: Buffer.from(blake3(bytes)).toString("hex") }).toEqual({ size, hash });
  }
  const unused =
    "SELECT hash FROM blobs WHERE NOT EXISTS (SELECT 1 FROM assets WHERE assets.hash = blobs.hash) AND NOT EXISTS (SELECT 1 FROM job_images WHERE job_images.hash = blobs.hash) AND NOT EXISTS (SELECT 1 FROM user_files WHERE user_files.hash = blobs.hash)";
  expect(database.prepare(unused).all(), "unreferenced blobs").toEqual([]);
  const hashes = new Set(rows.map((row) => row.hash));
  const thumbnails = listFiles(join(folder, "thumbnails")).map((path) => path.replace(/\/[^/]*$/, "").replaceAll("/", ""));
  expect(
    thumbnails.filter((hash) => !hashes.has(hash)),
    "thumbnails of deleted blobs",
  ).toEqual([]);
  expect(readdirSync(join(folder, "tmp")), "temporary files").toEqual([]);
  const workFiles = readdirSync(join(folder, "work"), { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory());
  expect(workFiles, "files of jobs that have ended").toEqual([]);
  const names = database.prepare<[], string>("SELECT path FROM user_files").pluck().all();
  expect(names.filter((name) => !["a.json", "b.json", "c.json"].includes(name))).toEqual([]);
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}
