// Small disks for the service's data, which tests can fill and free while the service runs.
// On machines that allow mounts, one disk is real (tmpfs). A simulated one injects the kernel's errors into the process
// (fail-disk-writes.mjs), so that the tests run on every machine. A disk is removed after the test that created it.
import { execFileSync } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closeAfterwards } from "@/tests/support/close-afterwards";

export type SmallDisk = {
  path: string;
  /** The environment that the service's process needs to use this disk. */
  env: Record<string, string>;
  /** Uses all free space. */
  fill(): void;
  /** Frees space again. */
  free(): void;
};

/** A real disk can't become read-only while it is being written to, but the simulated one can. */
export type LockableDisk = SmallDisk & { makeReadOnly(): void; makeWritable(): void };

/** Whether this machine allows mounts. */
export const canMount = tryMount();

/** `isReal`: false for the simulated disk, which is full only while a reserve exists, so that a start has space. */
export const disks: readonly { name: string; isReal: boolean; createDisk: () => SmallDisk }[] = [
  { name: "simulated disk", isReal: false, createDisk: createSimulatedDisk },
  ...(canMount ? [{ name: "tmpfs of 24 MB", isReal: true, createDisk: () => createMountedDisk(24) }] : []),
];

export function createSimulatedDisk(): LockableDisk {
  const path = mkdtempSync(join(tmpdir(), "lightdesk-disk-"));
  const [full, readOnly] = [`${path}.full`, `${path}.read-only`];
  closeAfterwards(async () => [path, full, readOnly].forEach((value) => rmSync(value, { recursive: true, force: true })));
  return {
    path,
    env: { NODE_OPTIONS: `--import=${join(process.cwd(), "tests/faults/disk/fail-disk-writes.mjs")}`, LIGHTDESK_TEST_DISK: path },
    fill: () => writeFileSync(full, ""),
    free: () => rmSync(full, { force: true }),
    makeReadOnly: () => writeFileSync(readOnly, ""),
    makeWritable: () => rmSync(readOnly, { force: true }),
  };
}

/** Only where `canMount`. */
export function createMountedDisk(megabytes: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), "lightdesk-disk-"));
  const ballast = join(path, "ballast");
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "lightdesk-test", path]);
  closeAfterwards(async () => {
    execFileSync("umount", ["-l", path]);
    rmSync(path, { recursive: true, force: true });
  });
  return {
    path,
    env: {},
    fill() {
      const file = openSync(ballast, "w");
      for (let chunk = Buffer.alloc(65_536); chunk.byteLength > 0;) {
        try {
          writeSync(file, chunk);
        } catch {
          chunk = chunk.subarray(0, chunk.byteLength >> 1); // less than this chunk is free
        }
      }
      closeSync(file);
    },
    free: () => rmSync(ballast, { force: true }),
  };
}

function tryMount(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0 || !existsSync("/bin/mount")) return false;
  const path = mkdtempSync(join(tmpdir(), "lightdesk-mount-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "lightdesk-test", path], { stdio: "ignore" });
    execFileSync("umount", [path], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
}
