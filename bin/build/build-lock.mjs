// Serializes installs and builds in this folder. Uses plain Node, because no packages may be installed yet.
import { mkdirSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const POLL_MS = 300;
const RENEW_MS = 2_000;
/** A lock is stale if it was not renewed for this long. */
const STALE_MS = 20_000;

/** @type {<T>(root: string, work: () => Promise<T>, logProgress?: (text: string) => void) => Promise<T>} */
export async function withBuildLock(root, work, logProgress = (text) => process.stderr.write(text)) {
  const folder = join(root, ".next-lock");
  for (let isFirst = true; !acquire(folder); isFirst = false) {
    if (isFirst) logProgress("Waiting for another process that builds in this folder.\n");
    await wait(POLL_MS);
  }
  let hasLostLock = false;
  const release = () => void (hasLostLock || rmSync(folder, { recursive: true, force: true }));
  const renewTimer = setInterval(() => {
    try {
      utimesSync(folder, new Date(), new Date());
    } catch {
      hasLostLock = true; // another process took over the lock while the machine slept
    }
  }, RENEW_MS);
  process.once("exit", release);
  try {
    return await work();
  } finally {
    clearInterval(renewTimer);
    process.off("exit", release);
    release();
  }
}

function acquire(folder) {
  if (isStale(folder)) removeStale(folder);
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

/** Moves the lock away first, so that a slower process doesn't remove the new lock. */
function removeStale(folder) {
  const movedFolder = `${folder}-${process.pid}`;
  try {
    renameSync(folder, movedFolder);
  } catch (error) {
    if (error.code === "ENOENT") return;
    throw error;
  }
  if (isStale(movedFolder)) rmSync(movedFolder, { recursive: true, force: true });
  else renameSync(movedFolder, folder);
}

function isStale(folder) {
  const { mtimeMs } = statSync(folder, { throwIfNoEntry: false }) ?? {};
  return mtimeMs !== undefined && Date.now() - mtimeMs > STALE_MS;
}
