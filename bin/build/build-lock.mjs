// Lets one process at a time install and build in this folder. Plain Node only: nothing may be installed yet.
import { mkdirSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const POLL_MS = 300;
const RENEW_MS = 2_000;
/** A lock that was not renewed for this long belongs to a process that was killed. */
const STALE_MS = 20_000;

/**
 * Runs `work` while no other process builds below `root`.
 * @template T
 * @param {string} root
 * @param {() => Promise<T>} work
 * @param {(text: string) => void} say
 * @returns {Promise<T>}
 */
export async function withBuildLock(root, work, say = (text) => process.stderr.write(text)) {
  const folder = join(root, ".next-lock");
  for (let isFirst = true; !take(folder); isFirst = false) {
    if (isFirst) say("Waiting for another start, which builds in this folder.\n");
    await wait(POLL_MS);
  }
  let isLost = false;
  const release = () => void (isLost || rmSync(folder, { recursive: true, force: true }));
  const renewing = setInterval(() => {
    try {
      utimesSync(folder, new Date(), new Date());
    } catch {
      isLost = true; // After a long sleep of the machine, another process has taken the lock over.
    }
  }, RENEW_MS);
  process.once("exit", release);
  try {
    return await work();
  } finally {
    clearInterval(renewing);
    process.off("exit", release);
    release();
  }
}

function take(folder) {
  if (isStale(folder)) removeStale(folder);
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

/** Moves the lock away first: if two processes find it stale, the slower one must not remove the new lock. */
function removeStale(folder) {
  const away = `${folder}-${process.pid}`;
  try {
    renameSync(folder, away);
  } catch (error) {
    if (error.code === "ENOENT") return;
    throw error;
  }
  if (isStale(away)) rmSync(away, { recursive: true, force: true });
  else renameSync(away, folder);
}

function isStale(folder) {
  const { mtimeMs } = statSync(folder, { throwIfNoEntry: false }) ?? {};
  return mtimeMs !== undefined && Date.now() - mtimeMs > STALE_MS;
}
