// The folder for files of tests: in memory if there is room, else the system's temporary folder.
import { spawnSync } from "node:child_process";
import { accessSync, chmodSync, constants, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Several times what the tests store at once. */
const ROOM_BYTES = 6 * 1024 ** 3;
const NAME = /^lightdesk-tests-(\d+)-/;

/** Removed when this process ends; if it was killed, when the next one begins. */
export function makeTestFolder(memory = "/dev/shm", roomBytes = ROOM_BYTES) {
  if (!isWritable(memory)) return tmpdir();
  removeLeft(memory);
  if (roomIn(memory) < roomBytes) return tmpdir();
  const folder = mkdtempSync(join(memory, `lightdesk-tests-${process.pid}-`));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  // Programs of other users run here too.
  chmodSync(folder, 0o755);
  return runsPrograms(folder) ? folder : tmpdir();
}

function isWritable(folder) {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false; // missing, or owned by others
  }
}

function removeLeft(memory) {
  for (const name of readdirSync(memory)) {
    const [, pid] = NAME.exec(name) ?? [];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(memory, name), { recursive: true, force: true });
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

function roomIn(folder) {
  const { bavail, bsize } = statfsSync(folder);
  return Math.min(bavail * bsize, process.availableMemory());
}

/** In containers, this folder often cannot run programs. */
function runsPrograms(folder) {
  const program = join(folder, "program");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
  return spawnSync(program).status === 0;
}
