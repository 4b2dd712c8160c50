// Checks runners, reads their catalogues, and removes lost attempts from them.

import { removeFromServer } from "@/lib/comfyui/client";
import { createComfyServer } from "@/lib/comfyui/http";
import { withTimeout } from "@/lib/shared/async";
import { type Chore } from "../housekeeping";
import { type ServiceLog } from "../options";
import { type Database, type Transaction } from "../store/database";
import { findLostAttempts, markCleared } from "./attempts";
import { readHealth } from "./check-runner";
import {
  isOverLimits,
  readRunner,
  readRunners,
  type RunnerRow,
  settleDraining,
  storeCheckedRunner,
  storeFacts,
  storeProblem,
} from "./store";

/** Models may be added to a runner while it runs. */
const CATALOGUE_INTERVAL_MS = 300_000;
const PEER_CHECK_INTERVAL_MS = 500;

/** `signal` aborts when the service stops. */
type ChoreDependencies = {
  database: Database;
  now: () => number;
  log: ServiceLog;
  checkIntervalMs: number;
  /** `notifyChange` also notifies other processes. `handlePeerChange` handles their changes. */
  notifyChange: () => Promise<void>;
  handlePeerChange: () => Promise<void>;
  signal: AbortSignal;
};

export function createRunnerChores(dependencies: ChoreDependencies): Chore[] {
  const { database, log, checkIntervalMs, notifyChange, handlePeerChange, signal } = dependencies;
  const runningChecks = new Set<string>();
  let lastCommitCount: number | undefined;

  async function checkRemoteRunner(row: RunnerRow): Promise<void> {
    if (runningChecks.has(row.id)) return;
    runningChecks.add(row.id);
    try {
      if (!isOverLimits(row)) await checkRunnerRow(dependencies, row);
      await clearLostAttempts(dependencies, row);
    } catch (error) {
      log.error({ err: error, runner: row.label }, "runner check failed");
    } finally {
      runningChecks.delete(row.id);
    }
  }

  async function checkRunners(): Promise<void> {
    const runnerRows = await readRunners(database);
    const remoteRunners = runnerRows.filter(({ address }) => address !== null);
    const isDraining = runnerRows.some(({ mode }) => mode === "draining");
    // A slow runner must not delay the checks of the others.
    await withTimeout(Promise.all(remoteRunners.map(checkRemoteRunner)), checkIntervalMs / 2, () => undefined);
    // The built-in runner can drain too, even if it is the only one.
    if (signal.aborted || (remoteRunners.length === 0 && !isDraining)) return;
    if (isDraining) await database.commit(settleDraining);
    await notifyChange();
  }

  return [
    { name: "runners", everyMs: checkIntervalMs, isShared: true, run: checkRunners },
    {
      name: "runners of other processes",
      everyMs: PEER_CHECK_INTERVAL_MS,
      run: async () => {
        const commitCount = await database.countForeignCommits();
        if (commitCount === lastCommitCount) return;
        await handlePeerChange();
        lastCommitCount = commitCount;
      },
    },
  ];
}

async function checkRunnerRow({ database, now, log, signal }: ChoreDependencies, row: RunnerRow): Promise<void> {
  const server = createComfyServer(row.address ?? "", signal);
  const health = await readHealth(server);
  if (signal.aborted) return;
  if (!health.ok) {
    const { code, message } = health.failure;
    if (row.problem === null) log.warn({ runner: row.label, code, reason: message }, "runner check failed");
    return database.commit(async (tx) => {
      if (await isUnchanged(tx, row)) await storeProblem(tx, row.id, { code, message }, now());
    });
  }
  const isCatalogueDue =
    row.problem !== null ||
    row.catalogue_at === null ||
    now() - row.catalogue_at > CATALOGUE_INTERVAL_MS ||
    row.version !== health.value.version;
  const catalogue = isCatalogueDue ? await server.getCatalogue() : undefined;
  if (signal.aborted) return;
  await database.commit(async (tx) => {
    if (!(await isUnchanged(tx, row))) return;
    if (catalogue?.ok) {
      const facts = { ...health.value, classes: Object.keys(catalogue.value).length };
      await storeCheckedRunner(tx, row.id, { facts, catalogue: catalogue.value }, now());
    } else if (catalogue) await storeProblem(tx, row.id, catalogue.failure, now());
    else await storeFacts(tx, row.id, health.value, now());
  });
}

/** The runner may have been removed, disabled or changed since the request. */
async function isUnchanged(tx: Transaction, { id, address }: RunnerRow): Promise<boolean> {
  const row = await readRunner(tx, id);
  return row?.address === address && !isOverLimits(row);
}

const MAX_ARRIVAL_MS = 2000;

async function clearLostAttempts({ database, now, signal }: ChoreDependencies, { id, address }: RunnerRow): Promise<void> {
  for (const attempt of await findLostAttempts(database, id, now() - MAX_ARRIVAL_MS)) {
    const jobKey = { promptId: attempt.prompt_id, clientId: attempt.client_id };
    if (address === null || signal.aborted || !(await removeFromServer(createComfyServer(address, signal), jobKey))) return;
    await database.commit((tx) => markCleared(tx, attempt));
  }
}
