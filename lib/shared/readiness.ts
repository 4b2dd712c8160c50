// Whether the parts that a process needs work, checked once a second at most. Never contains a path, a key or the text of an error.

import { accessSync, constants, statfsSync } from "node:fs";
import { withTimeout } from "./async";

/** `reason`: a sentence for the operator. A ready part may have one too: it works, but not fully. */
export type PartState = { part: string; ready: boolean; reason?: string };
export type Readiness = () => Promise<readonly PartState[]>;
type Finding = Omit<PartState, "part"> | undefined;
type ReadinessCheck = () => Finding | Promise<Finding>;

const FRESH_MS = 1000;
const PATIENCE_MS = 2000;
const MIN_FREE_BYTES = 1024 ** 2;

export function createReadiness(parts: Readonly<Record<string, ReadinessCheck>>, now: () => number = () => performance.now()): Readiness {
  let cachedStates: { states: Promise<PartState[]>; at: number } | undefined;
  return () => {
    if (!cachedStates || now() - cachedStates.at >= FRESH_MS || now() < cachedStates.at)
      cachedStates = { at: now(), states: Promise.all(Object.entries(parts).map(([part, look]) => stateOf(part, look))) };
    return cachedStates.states;
  };
}

async function stateOf(part: string, check: ReadinessCheck): Promise<PartState> {
  const late = () => notReady(`No answer within ${PATIENCE_MS / 1000} s.`);
  try {
    const result = await withTimeout(Promise.resolve().then(check), PATIENCE_MS, late);
    return { part, ready: true, ...result };
  } catch {
    return { part, ...notReady("It failed. See the log.") };
  }
}

export function notReady(reason: string): { ready: false; reason: string } {
  return { ready: false, reason };
}

/** A full disk is ready: stored things are still served, and deletes must reach the process so that they make room. */
export function checkDisk(folder: string): Finding {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return notReady("The data folder is missing or not writable.");
  }
  return freeBytes(folder) < MIN_FREE_BYTES
    ? { ready: true, reason: "The disk is full: nothing new is stored until space is freed." }
    : undefined;
}

export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
