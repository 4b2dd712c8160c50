// Lets one process at a time install and build in this folder. Plain Node only: nothing may be installed yet.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const POLL_MS = 300;
const RENEW_MS = 5_000;
/** A lock that was not renewed for this long is stale, even if another process now has the builder's process id. */
const STALE_MS = 60_000;

/**
 * Runs `work` while no other process builds below `root`. The lock contains the builder's process id. A dead process's lock is taken over.
 * @template T
 * @param {string} root
 * @param {() => Promise<T>} work
 * @param {(text: string) => void} say
 * @returns {Promise<T>}
 */
export async function withBuildLock(root, work, say = (text) => process.stderr.write(text)) {
  const folder = join(root, ".next-lock");
  const file = join(folder, "pid");
  let toldOf;
  while (!take(folder, file)) {
    const pid = holderOf(file);
    if (isStale(file, pid)) {
      removeStale(folder, pid);
      continue;
    }
    if (pid !== toldOf) say(`Waiting for process ${pid ?? "of another start"}, which builds in this folder.\n`);
    toldOf = pid;
    await wait(POLL_MS);
  }
  const release = () => rmSync(folder, { recursive: true, force: true });
  const renewing = setInterval(() => utimesSync(file, new Date(), new Date()), RENEW_MS);
  process.once("exit", release);
  try {
    return await work();
  } finally {
    clearInterval(renewing);
    process.off("exit", release);
    release();
  }
}

function take(folder, file) {
  try {
    mkdirSync(folder);
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
  writeFileSync(file, String(process.pid));
  return true;
}

/** Moves the lock away first: if two processes find it stale, the slower one must not remove the new lock. */
function removeStale(folder, pid) {
  const away = `${folder}-${process.pid}`;
  try {
    renameSync(folder, away);
  } catch (error) {
    if (error.code === "ENOENT") return;
    throw error;
  }
  if (holderOf(join(away, "pid")) === pid) rmSync(away, { recursive: true, force: true });
  else renameSync(away, folder);
}

/** Undefined while its owner is still writing it. */
function holderOf(file) {
  try {
    return Number(readFileSync(file, "utf8")) || undefined;
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

function isStale(file, pid) {
  if (pid !== undefined && !isAlive(pid)) return true;
  const { mtimeMs } = statSync(pid === undefined ? join(file, "..") : file, { throwIfNoEntry: false }) ?? {};
  return mtimeMs !== undefined && Date.now() - mtimeMs > STALE_MS;
}

function isAlive(pid) {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code !== "ESRCH";
  }
}
