// Stores runners. Always reads the table, because a command may change it while the service runs.

import { createHash, randomUUID } from "node:crypto";
import { type RawBuilder, type Selectable, sql } from "kysely";
import { z } from "zod";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import {
  BUILT_IN_RUNNER,
  type NewRunner,
  newRunnerSchema,
  type Runner,
  type RunnerChange,
  runnerChangeSchema,
  runnerDeviceSchema,
  type RunnerFailure,
  type ServiceRunners,
} from "@/lib/contract/runners/runners";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Database, query, type Reader, type Transaction } from "../store/database";
import { type RunnerRow as RunnerColumns } from "../store/schema";
import { isHandedOver } from "./attempts";
import { type CheckedRunner, checkRunner } from "./check-runner";
import { formatCatalogue } from "./libraries";

export type RunnerRow = Selectable<RunnerColumns>;

type RunnersDependencies = {
  database: Database;
  now: () => number;
  /** The built-in runner. Its slots are those of all processes that share the database. */
  builtIn: { slots: () => Promise<number>; classes: number };
  notifyChange?: () => Promise<void>;
  /** How long an address may take to respond. Overrides the default. */
  responseTimeoutMs?: number;
};

export async function readRunners(reader: Reader): Promise<RunnerRow[]> {
  return reader.rows(query.selectFrom("runners").selectAll().where("removed_at", "is", null).orderBy("created_at").orderBy("id"));
}

export async function readRunner(reader: Reader, id: string): Promise<RunnerRow | undefined> {
  return reader.row(query.selectFrom("runners").selectAll().where("id", "=", id).where("removed_at", "is", null));
}

export function createRunners({
  database,
  now,
  builtIn,
  notifyChange = async () => undefined,
  responseTimeoutMs,
}: RunnersDependencies): ServiceRunners {
  async function toRunner(row: RunnerRow): Promise<Runner> {
    const isBuiltIn = row.address === null;
    const endedCount = row.done + row.failed;
    const [code, message] =
      row.mode === "set_aside" && !isOverLimits(row)
        ? (["failures", row.mode_reason ?? ""] as const)
        : [row.problem, row.problem_message ?? ""];
    return {
      id: row.id,
      label: row.label,
      address: row.address,
      tags: readList(row.tags, z.string()),
      slots: isBuiltIn ? await builtIn.slots() : row.slots,
      state: getRunnerState(row),
      reason: code === null ? null : { code, message },
      version: row.version,
      devices: readList(row.devices, runnerDeviceSchema),
      classes: isBuiltIn ? builtIn.classes : row.classes,
      running: await countRunning(database, row),
      queue: row.queue_running === null ? null : { running: row.queue_running, pending: row.queue_pending ?? 0 },
      done: row.done,
      failed: row.failed,
      meanRunMs: endedCount === 0 ? null : Math.round(row.run_ms / endedCount),
      lastSeenMs: isBuiltIn ? now() : row.seen_at,
    };
  }

  const isAddressTaken = async (reader: Reader, address: string) => (await readRunners(reader)).some((row) => row.address === address);
  const notifyAndRead = async (id: string): Promise<Result<Runner, RunnerFailure>> => {
    await notifyChange();
    const row = await readRunner(database, id);
    return row ? ok(await toRunner(row)) : failed(notFoundFailure);
  };

  return {
    async list() {
      const runnerRows = await readRunners(database);
      return Promise.all(runnerRows.sort((a, b) => Number(a.address !== null) - Number(b.address !== null)).map(toRunner));
    },

    async check(address) {
      const checkResult = await checkRunner(address, responseTimeoutMs);
      return checkResult.ok
        ? { ok: true, address: checkResult.value.address, facts: checkResult.value.facts }
        : { ok: false, ...checkResult.failure };
    },

    async add(newRunner: NewRunner) {
      const result = newRunnerSchema.safeParse(newRunner);
      if (!result.success) return failed(createInvalidFailure(result.error));
      const { address, label = new URL(address).host.slice(0, 60), tags, slots, keep } = result.data;
      if (await isAddressTaken(database, address)) return failed(createAddressTakenFailure(address));
      const checkResult = await checkRunner(address, responseTimeoutMs);
      if (!checkResult.ok && !keep) return failed(checkResult.failure);
      const id = randomUUID();
      const isAdded = await database.commit(async (tx) => {
        if (await isAddressTaken(tx, address)) return false;
        const values = { id, label, address, tags: writeExactJson(tags), slots, mode: "ready" as const, devices: "[]", created_at: now() };
        await tx.run(query.insertInto("runners").values(values));
        if (checkResult.ok) await storeCheckedRunner(tx, id, checkResult.value, now());
        else await storeProblem(tx, id, checkResult.failure, now());
        return true;
      });
      return isAdded ? notifyAndRead(id) : failed(createAddressTakenFailure(address));
    },

    async change(id, change: RunnerChange) {
      const result = runnerChangeSchema.safeParse(change);
      if (!result.success) return failed(createInvalidFailure(result.error));
      const row = await readRunner(database, id);
      if (!row) return failed(notFoundFailure);
      const { label, address, tags, slots, state } = result.data;
      if (row.address === null && (address !== undefined || slots !== undefined)) return failed(builtInFailure);
      const hasNewAddress = address !== undefined && address !== row.address;
      if (hasNewAddress && (await isAddressTaken(database, address))) return failed(createAddressTakenFailure(address));
      const checkResult = hasNewAddress ? await checkRunner(address, responseTimeoutMs) : undefined;
      if (checkResult && !checkResult.ok) return failed(checkResult.failure);
      const isAccepted = await database.commit(async (tx) => {
        // The runner was removed while its address was checked. This is reported below.
        if (!(await readRunner(tx, id))) return true;
        if (hasNewAddress && (await isAddressTaken(tx, address))) return false;
        const changes = {
          ...(label !== undefined && { label }),
          ...(address !== undefined && { address }),
          ...(tags !== undefined && { tags: writeExactJson(tags) }),
          ...(slots !== undefined && { slots }),
          ...(state !== undefined && { mode: state, mode_reason: null, failed_users: "[]" }),
          // The runner is checked again before it gets jobs.
          ...((hasNewAddress || state !== undefined) && isOverLimits(row) && { ...resetChecks, mode: state ?? "ready" }),
        };
        if (Object.keys(changes).length > 0) await tx.run(query.updateTable("runners").set(changes).where("id", "=", id));
        if (checkResult?.ok) await storeCheckedRunner(tx, id, checkResult.value, now());
        await settleDraining(tx);
        return true;
      });
      return isAccepted || address === undefined ? notifyAndRead(id) : failed(createAddressTakenFailure(address));
    },

    async remove(id) {
      if (id === BUILT_IN_RUNNER) return failed(builtInFailure);
      const removeQuery = query.updateTable("runners").set({ removed_at: now() }).where("id", "=", id).where("removed_at", "is", null);
      const removedCount = await database.commitWithReserve(async (tx) => {
        await tx.run(query.deleteFrom("runner_catalogues").where("runner_id", "=", id));
        return tx.run(removeQuery);
      });
      await notifyChange();
      return removedCount > 0 ? ok(undefined) : failed(notFoundFailure);
    },
  };
}

export function getRunnerState({ mode, problem, checked_at, address }: RunnerRow): Runner["state"] {
  if (mode !== "ready" || address === null) return mode;
  return checked_at === null ? "checking" : problem === null ? "ready" : "unreachable";
}

export async function storeCheckedRunner(
  tx: Transaction,
  id: string,
  { facts, catalogue }: Pick<CheckedRunner, "facts" | "catalogue">,
  nowMs: number,
): Promise<void> {
  const text = formatCatalogue(catalogue);
  const hash = createHash("sha256").update(text).digest("hex");
  await storeFacts(tx, id, facts, nowMs, { classes: facts.classes, catalogue_at: nowMs });
  await tx.run(
    query
      .insertInto("runner_catalogues")
      .values({ runner_id: id, hash, text })
      .onConflict((conflict) => conflict.column("runner_id").doUpdateSet({ hash, text })),
  );
}

export async function storeFacts(
  tx: Transaction,
  id: string,
  { version, devices, queue }: Pick<Runner, "version" | "devices" | "queue">,
  nowMs: number,
  catalogue: { classes?: number; catalogue_at?: number } = {},
): Promise<void> {
  const reportFields = {
    version,
    devices: writeExactJson(devices),
    queue_running: queue?.running ?? null,
    queue_pending: queue?.pending ?? null,
  };
  const checkFields = { problem: null, problem_message: null, checked_at: nowMs, seen_at: nowMs };
  await tx.run(query.updateTable("runners").set({ ...reportFields, ...checkFields, ...catalogue }).where("id", "=", id)); // prettier-ignore
}

const resetChecks = { mode_reason: null, problem: null, problem_message: null, checked_at: null };

export const isOverLimits = ({ problem }: Pick<RunnerRow, "problem">): boolean => problem === "over_limits";

/** Disables a runner that sends too much, because its next response may be just as large. */
export async function storeProblem(
  tx: Transaction,
  id: string,
  { code, message }: { code: NonNullable<RunnerRow["problem"]>; message: string },
  nowMs: number,
): Promise<void> {
  const changes = { problem: code, problem_message: message, checked_at: nowMs, queue_running: null, queue_pending: null };
  const mode = code === "over_limits" ? { mode: "set_aside" as const, mode_reason: message } : {};
  await tx.run(query.updateTable("runners").set({ ...changes, ...mode }).where("id", "=", id)); // prettier-ignore
}

/** Pauses draining runners that have no jobs left. */
export async function settleDraining(tx: Transaction): Promise<void> {
  const drainingRunners = query.selectFrom("runners").selectAll().where("mode", "=", "draining");
  for (const row of await tx.rows(drainingRunners))
    if ((await countHandedOver(tx, row)) === 0) await tx.run(query.updateTable("runners").set({ mode: "paused" }).where("id", "=", row.id));
}

type RunnerKey = Pick<RunnerRow, "id" | "address">;

const countRunning = (reader: Reader, row: RunnerKey) => countJobs(reader, row, sql<boolean>`state = 'in_progress'`);

const countHandedOver = (reader: Reader, row: RunnerKey) => countJobs(reader, row, isHandedOver);

async function countJobs(reader: Reader, { id, address }: RunnerKey, condition: RawBuilder<boolean>): Promise<number> {
  const runnerCondition = address === null ? sql<boolean>`runner is null` : sql<boolean>`runner = ${id}`;
  const countQuery = query
    .selectFrom("jobs")
    .select(({ fn }) => fn.countAll<number>().as("n"))
    .where(sql<boolean>`state in ('pending', 'in_progress')`)
    .where(condition)
    .where(runnerCondition);
  return (await reader.row(countQuery))?.n ?? 0;
}

function readList<T>(text: string, item: z.ZodType<T>): T[] {
  return z.array(item).catch([]).parse(JSON.parse(text));
}

const notFoundFailure: RunnerFailure = { code: "not_found", message: "Runner not found." };
const builtInFailure: RunnerFailure = {
  code: "built_in",
  message: "The built-in runner has no address and can be paused but not removed. LIGHTDESK_CONCURRENCY sets how many jobs it runs.",
};
const createAddressTakenFailure = (address: string): RunnerFailure => ({
  code: "taken",
  message: `Another runner has the address ${address}.`,
});

function createInvalidFailure(error: z.ZodError): RunnerFailure {
  const [issue] = error.issues;
  return { code: "invalid", message: `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "invalid"}` };
}
