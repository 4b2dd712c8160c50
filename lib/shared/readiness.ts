// Checks whether the parts of a process work, at most once a second. Results never contain paths, keys or error texts.

import { accessSync, constants, statfsSync } from "node:fs";
import { withTimeout } from "./async";
import { isStoreUnavailable } from "./error-codes";

/** `reason` is a sentence for the operator. A ready part may have one too, if it does not work fully. */
export type PartState = { part: string; ready: boolean; reason?: string };
export type Readiness = () => Promise<readonly PartState[]>;
type CheckResult = Omit<PartState, "part"> | undefined;
type ReadinessCheck = () => CheckResult | Promise<CheckResult>;

const CACHE_MS = 1000;
const CHECK_TIMEOUT_MS = 2000;
const MIN_FREE_BYTES = 1024 ** 2;

export function createReadiness(parts: Readonly<Record<string, ReadinessCheck>>, now: () => number = () => performance.now()): Readiness {
  let cachedStates: { states: Promise<PartState[]>; at: number } | undefined;
  return () => {
    if (!cachedStates || now() - cachedStates.at >= CACHE_MS || now() < cachedStates.at)
      cachedStates = { at: now(), states: Promise.all(Object.entries(parts).map(([part, check]) => checkPart(part, check))) };
    return cachedStates.states;
  };
}

async function checkPart(part: string, check: ReadinessCheck): Promise<PartState> {
  const onTimeout = () => createNotReady(`No response within ${CHECK_TIMEOUT_MS / 1000} s.`);
  try {
    const result = await withTimeout(Promise.resolve().then(check), CHECK_TIMEOUT_MS, onTimeout);
    return { part, ready: true, ...result };
  } catch (error) {
    return { part, ...createNotReady(isStoreUnavailable(error) ? "The database is unreachable." : "It failed. See the log.") };
  }
}

export function createNotReady(reason: string): { ready: false; reason: string } {
  return { ready: false, reason };
}

/** A full disk counts as ready, because stored content is still served and deletes must reach the process to free space. */
export function checkDisk(folder: string): CheckResult {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return createNotReady("The data folder is missing or not writable.");
  }
  return getFreeBytes(folder) < MIN_FREE_BYTES
    ? { ready: true, reason: "The disk is full: nothing new is stored until space is freed." }
    : undefined;
}

export function getFreeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
