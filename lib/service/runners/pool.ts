// Selects runners for the engine. A job's kind contains its needs and the runners that have already tried it.

import { createHash } from "node:crypto";
import { sql } from "kysely";
import { createTraffic, type Traffic } from "@/lib/comfyui/socket";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { BUILT_IN_RUNNER, type JobWaitReason } from "@/lib/contract/runners/runners";
import { coalesce } from "@/lib/shared/async";
import { createLru } from "@/lib/shared/lru";
import { findMissingNeeds, findModels, formatNeeds, type Needs } from "../nodes/needs";
import { type Database, query, type Reader, type Transaction } from "../store/database";
import { type Processes } from "../store/processes";
import { isHandedOver } from "./attempts";
import { createLibraries } from "./libraries";
import { getRunnerState, readRunner, readRunners, type RunnerRow } from "./store";

/** This process's use of a runner. Until `busyUntilMs`, the runner counts as busy with other clients' jobs. */
type RunnerUsage = { slots: Set<number>; traffic: Traffic; busyUntilMs: number };
export type WorkerSlot = { runner: RunnerRow; slot: string };
export type Pool = Awaited<ReturnType<typeof createPool>>;

/** Unavailable states, ordered by how soon a runner may take jobs again. */
const readinessOrder = ["checking", "unreachable", "draining", "paused", "set_aside"] as const;

/** How long a runner counts as busy with other clients' jobs. */
const BUSY_MS = 5000;

const MAX_CACHED_RESULTS = 10_000;

type PoolDependencies = { database: Database; processes: Pick<Processes, "isRunElsewhere">; concurrency: number };

export async function createPool({ database, processes, concurrency }: PoolDependencies) {
  const libraries = createLibraries(database);
  const usageByRunner = new Map<string, RunnerUsage>();
  const needsById = new Map<number, Needs>();
  const missingNeedsCache = createLru<string, string[]>({ max: MAX_CACHED_RESULTS });
  let runnerRows: RunnerRow[] = [];
  /** The slots that other processes used at the last refresh. */
  let otherUsage: ReadonlyMap<string, number> = new Map();

  function getUsage(runnerId: string): RunnerUsage {
    const usage = usageByRunner.get(runnerId) ?? { slots: new Set(), traffic: createTraffic(), busyUntilMs: 0 };
    usageByRunner.set(runnerId, usage);
    return usage;
  }

  /** Never runs concurrently, so that an older read can't replace a newer one. */
  const refresh = coalesce(async () => {
    const latestRows = await readRunners(database);
    const latestOtherUsage = await countSlotsUsedElsewhere(database, processes);
    await loadNeeds(latestRows.map(({ last_needs }) => last_needs));
    const isChanged = await libraries.refresh();
    runnerRows = latestRows;
    otherUsage = latestOtherUsage;
    if (isChanged) missingNeedsCache.clear();
  });

  /** Call before the functions below, which read only from memory. */
  async function loadNeeds(ids: Iterable<number | null>, reader: Reader = database): Promise<void> {
    const unknownIds = [...new Set(ids)].filter((id) => id !== null).filter((id) => !needsById.has(id));
    if (unknownIds.length === 0) return;
    const storedNeeds = await reader.rows(
      query.selectFrom("job_needs").select(["id", "text"]).where("id", "in", reader.dialect.numbers(unknownIds)),
    );
    for (const { id, text } of storedNeeds) needsById.set(id, parseExactJson<Needs>(text));
  }

  const getModels = (id: number | null) => findModels((id === null ? undefined : needsById.get(id)) ?? []);

  function listMissingNeeds(needs: number | null, runnerId: string): readonly string[] {
    if (needs === null) return runnerId === BUILT_IN_RUNNER ? [] : ["requirements that were not recorded"];
    const jobNeeds = needsById.get(needs);
    if (!jobNeeds) return ["requirements that are not loaded yet"];
    const key = `${needs} ${runnerId}`;
    const missingNeeds = missingNeedsCache.get(key) ?? findMissingNeeds(libraries.getLibrary(runnerId), jobNeeds);
    missingNeedsCache.set(key, missingNeeds);
    return missingNeeds;
  }

  /** A runner that already tried the job gets it again only if no other runner can run it. */
  function canRun(kind: string, runnerId: string): boolean {
    const { needs, triedRunners } = parseKind(kind);
    if (listMissingNeeds(needs, runnerId).length > 0) return false;
    if (!triedRunners.includes(runnerId)) return true;
    return !runnerRows.some(
      (row) => !triedRunners.includes(row.id) && getRunnerState(row) === "ready" && listMissingNeeds(needs, row.id).length === 0,
    );
  }

  const countSlots = ({ address, slots }: RunnerRow) => (address === null ? concurrency : slots);
  const countUsedSlots = ({ id }: RunnerRow) => getUsage(id).slots.size + (otherUsage.get(id) ?? 0);
  const listFreeRunners = () => runnerRows.filter((row) => getRunnerState(row) === "ready" && countUsedSlots(row) < countSlots(row));

  const isBusy = ({ id }: RunnerRow) => getUsage(id).busyUntilMs > performance.now();

  const isOtherRunnerFree = (kind: string, runnerId: string) =>
    listFreeRunners().some((row) => row.id !== runnerId && !isBusy(row) && canRun(kind, row.id));

  /** Prefers a runner without other clients' jobs, then one with the same models, then the one with the shortest queue. */
  function compareRunners(kind: string) {
    const { needs } = parseKind(kind);
    const models = getModels(needs);
    const countSharedModels = ({ last_needs }: RunnerRow) =>
      models.length === 0 ? 0 : getModels(last_needs).filter((model) => models.includes(model)).length;
    const getLoad = (row: RunnerRow) =>
      Math.max(countUsedSlots(row), (row.queue_running ?? 0) + (row.queue_pending ?? 0)) / countSlots(row);
    return (a: RunnerRow, b: RunnerRow) =>
      Number(isBusy(a)) - Number(isBusy(b)) || countSharedModels(b) - countSharedModels(a) || getLoad(a) - getLoad(b);
  }

  function describeWait(needs: number | null): JobWaitReason | undefined {
    const capableRunners = runnerRows.filter(({ id }) => listMissingNeeds(needs, id).length === 0);
    const states = new Set(capableRunners.map(getRunnerState));
    if (states.has("ready")) return undefined;
    const state = readinessOrder.find((value) => states.has(value)) ?? "none";
    const labels = capableRunners.map(({ label }) => label);
    return { state, runners: labels, message: describeState(states.size > 1 ? "mixed" : state, labels) };
  }

  await refresh();
  return {
    refresh,
    loadNeeds,

    addNeeds: (id: number, needs: Needs) => void needsById.set(id, needs),

    /** Removes needs of ended jobs from the table and from memory. */
    async removeUnusedNeeds(): Promise<void> {
      await database.commitWithReserve(deleteUnusedNeeds);
      const storedNeedIds = (await database.rows(query.selectFrom("job_needs").select("id").orderBy("id"))).map(({ id }) => id);
      const [remainingIds, newestId] = [new Set(storedNeedIds), storedNeedIds.at(-1) ?? 0];
      // Keep newer needs, which were stored meanwhile.
      for (const id of needsById.keys()) if (id < newestId && !remainingIds.has(id)) needsById.delete(id);
    },

    libraries,
    canDo: canRun,
    isFreeElsewhere: isOtherRunnerFree,
    reportBusy: (runnerId: string) => void (getUsage(runnerId).busyUntilMs = performance.now() + BUSY_MS),

    canAssign(kind: string, runner: RunnerRow): boolean {
      return canRun(kind, runner.id) && !(isBusy(runner) && isOtherRunnerFree(kind, runner.id));
    },

    getTraffic: (runnerId: string): Traffic => getUsage(runnerId).traffic,

    listFreeRunners,

    /** Checks a slot that this process occupies. Reads the store, because the runner may be paused and other processes use its slots. */
    async hasFreeSlot(tx: Transaction, { id }: RunnerRow): Promise<boolean> {
      const row = await readRunner(tx, id);
      if (!row || getRunnerState(row) !== "ready") return false;
      return row.address === null || getUsage(id).slots.size + ((await countSlotsUsedElsewhere(tx, processes)).get(id) ?? 0) <= row.slots;
    },

    findBest: (kind: string, candidates: readonly RunnerRow[]) =>
      candidates.filter(({ id }) => canRun(kind, id)).sort(compareRunners(kind))[0],

    occupySlot(runner: RunnerRow): WorkerSlot & { release(): void } {
      const slots = getUsage(runner.id).slots;
      let index = 1;
      while (slots.has(index)) index += 1;
      slots.add(index);
      return { runner, slot: runner.address === null ? `slot-${index}` : `${runner.label}/${index}`, release: () => slots.delete(index) };
    },

    async describeWaits(reader: Reader, needs: Iterable<number | null>): Promise<ReadonlyMap<number | null, JobWaitReason>> {
      const ids = [...needs];
      await loadNeeds(ids, reader);
      const waitsById = ids.map((id) => [id, describeWait(id)] as const);
      return new Map(waitsById.flatMap(([id, waitReason]) => (waitReason ? [[id, waitReason]] : [])));
    },

    /** Describes what each runner lacks. Returns undefined if a runner lacks nothing. */
    describeMissingNeeds(needs: Needs): string | undefined {
      const candidates = runnerRows.map(({ id, label }) => ({ label, missingNeeds: findMissingNeeds(libraries.getLibrary(id), needs) }));
      if (candidates.some((item) => item.missingNeeds.length === 0)) return undefined;
      return candidates.map((item) => `${item.label} lacks ${formatFirstNames(item.missingNeeds)}`).join("; ");
    },
  };
}

async function countSlotsUsedElsewhere(
  reader: Reader,
  { isRunElsewhere }: Pick<Processes, "isRunElsewhere">,
): Promise<Map<string, number>> {
  const slotCounts = query
    .selectFrom("jobs")
    .select(({ fn }) => ["runner", fn.countAll<number>().as("n")])
    .where(sql<boolean>`state in ('pending', 'in_progress')`)
    .where(isHandedOver)
    .where("runner", "is not", null)
    .where(isRunElsewhere)
    .groupBy("runner");
  return new Map((await reader.rows(slotCounts)).map(({ runner, n }) => [runner ?? "", n]));
}

export async function storeNeeds(tx: Transaction, needs: Needs): Promise<number> {
  const hash = createHash("sha256").update(formatNeeds(needs)).digest("hex");
  const storedNeeds = await tx.row(query.selectFrom("job_needs").select("id").where("hash", "=", hash));
  if (storedNeeds) return storedNeeds.id;
  const insertedNeeds = await tx.row(query.insertInto("job_needs").values({ hash, text: writeExactJson(needs) }).returning("id")); // prettier-ignore
  if (!insertedNeeds) throw new Error("the job's needs were not stored");
  return insertedNeeds.id;
}

/** Keeps the newest row, because SQLite would reuse its id for other needs while ended jobs and memory still refer to it. */
async function deleteUnusedNeeds(tx: Transaction): Promise<void> {
  const usedIds = sql<number>`(
    SELECT needs FROM jobs WHERE state IN ('pending', 'in_progress') AND needs IS NOT NULL
    UNION SELECT last_needs FROM runners WHERE last_needs IS NOT NULL UNION SELECT max(id) FROM job_needs
  )`;
  await tx.run(query.deleteFrom("job_needs").where("id", "not in", usedIds));
}

export async function findKind(reader: Reader, job: { seq: number; needs: number | null; attempts: number }): Promise<string> {
  return formatKind(job.needs, job.attempts === 0 ? [] : (await findTriedRunners(reader, job.seq)).get(job.seq));
}

export function formatKind(needs: number | null, triedRunners: readonly string[] = []): string {
  return `${needs ?? ""}|${triedRunners.join(",")}`;
}

/** Returns the runners that have tried each waiting job, by `seq`. Covers all waiting jobs if `seq` is omitted. */
export async function findTriedRunners(reader: Reader, seq?: number): Promise<ReadonlyMap<number, string[]>> {
  const endedAttempts = query.selectFrom("attempts").select(["job_seq", "runner"]).distinct().where("ended_at", "is not", null);
  const waitingSeqs = sql<number>`(select seq from jobs where state in ('pending', 'in_progress') and state = 'pending' and attempts > 0)`;
  const triedRunnersBySeq = new Map<number, string[]>();
  for (const { job_seq, runner } of await reader.rows(
    endedAttempts.where("job_seq", "in", seq === undefined ? waitingSeqs : reader.dialect.numbers([seq])),
  ))
    triedRunnersBySeq.set(job_seq, [...(triedRunnersBySeq.get(job_seq) ?? []), runner]);
  return triedRunnersBySeq;
}

export function parseKind(kind: string) {
  const [needs = "", triedText = ""] = kind.split("|");
  return { needs: needs === "" ? null : Number(needs), triedRunners: triedText.split(",").filter(Boolean) };
}

function describeState(state: Exclude<JobWaitReason["state"], "queued"> | "mixed", labels: readonly string[]): string {
  const names = formatFirstNames(labels);
  const [be, have, take] = labels.length === 1 ? ["is", "has", "takes"] : ["are", "have", "take"];
  if (state === "none") return "No runner can run this job any more. The operator can add one.";
  if (state === "mixed") return `Waits for ${names}, which aren't accepting jobs.`;
  if (state === "checking") return `Waits for ${names}, which ${have} not responded yet.`;
  if (state === "unreachable") return `Waits for ${names}, which ${be} unreachable.`;
  if (state === "set_aside") return `Waits for ${names}, which ${labels.length === 1 ? "was" : "were"} set aside.`;
  if (state === "draining") return `Waits for ${names}, which ${be} draining and ${take} no new jobs.`;
  return `Waits for ${names}, which ${be} paused.`;
}

function formatFirstNames(names: readonly string[]): string {
  return names.slice(0, 5).join(", ") + (names.length > 5 ? " and more" : "");
}
