// Where the files of tests lie: in memory where there is room, since what a test wrote need not outlive the machine and a disk takes its
// time for each thing that has to. Elsewhere the system's own folder for what is temporary.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MEMORY = "/dev/shm";
/** Several times what lies there at once. */
const ROOM_BYTES = 6 * 1024 ** 3;

/** Gone when this process ends. */
export function makeTestFolder() {
  if (!existsSync(MEMORY) || roomIn(MEMORY) < ROOM_BYTES) return tmpdir();
  const folder = mkdtempSync(join(MEMORY, "lightdesk-tests-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  // Programs of other users run here too.
  chmodSync(folder, 0o755);
  return runsPrograms(folder) ? folder : tmpdir();
}

function roomIn(folder) {
  const { bavail, bsize } = statfsSync(folder);
  return Math.min(bavail * bsize, process.availableMemory());
}

/** Containers often have it without. */
function runsPrograms(folder) {
  const program = join(folder, "program");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
  return spawnSync(program).status === 0;
}
