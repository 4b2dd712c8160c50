// Creates the folder for test files, in memory if possible. Otherwise, tests use the system's temporary folder.
import { spawnSync } from "node:child_process";
import { accessSync, chmodSync, constants, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MIN_FREE_BYTES = 6 * 1024 ** 3;
const FOLDER_PATTERN = /^lightdesk-tests-(\d+)-/;

/** Creates the folder. It is removed when this process exits; the next run removes folders of killed runs. */
export function createTestFolder(memoryFolder = "/dev/shm", minFreeBytes = MIN_FREE_BYTES) {
  if (!isWritable(memoryFolder)) return tmpdir();
  removeStaleFolders(memoryFolder);
  if (getFreeBytes(memoryFolder) < minFreeBytes) return tmpdir();
  const folder = mkdtempSync(join(memoryFolder, `lightdesk-tests-${process.pid}-`));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  // Programs of other users also run here.
  chmodSync(folder, 0o755);
  return canRunPrograms(folder) ? folder : tmpdir();
}

function isWritable(folder) {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false; // missing, or owned by another user
  }
}

function removeStaleFolders(memoryFolder) {
  for (const name of readdirSync(memoryFolder)) {
    const [, pid] = FOLDER_PATTERN.exec(name) ?? [];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(memoryFolder, name), { recursive: true, force: true });
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code !== "ESRCH";
  }
}

function getFreeBytes(folder) {
  const { bavail, bsize } = statfsSync(folder);
  return Math.min(bavail * bsize, process.availableMemory());
}

function canRunPrograms(folder) {
  const program = join(folder, "program");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
  return spawnSync(program).status === 0;
}
