// A disk of a few megabytes for the service's data, which can be filled and freed while the service runs.
// Where this machine allows mounts, one is real (tmpfs). Everywhere, another one injects the kernel's errors into the process from
// outside (refusals.mjs), so that the same tests run on every machine.
import { execFileSync } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type SmallDisk = {
  path: string;
  /** The environment that the service's process needs to use this disk. */
  env: Record<string, string>;
  /** After this, nothing more fits. */
  fill(): void;
  /** Frees space again. */
  free(): void;
  dispose(): void;
};

/** A kernel does not let a disk become read-only while it is written to; this one can. */
export type LockableDisk = SmallDisk & { makeReadOnly(): void; makeWritable(): void };

/** Whether this machine allows mounts. */
export const canMount = tryMount();

/** `isReal`: full by itself. The injected disk counts as full only once the reserve exists, so that a start finds room. */
export const disks: readonly { name: string; isReal: boolean; make: () => SmallDisk }[] = [
  { name: "a disk that refuses by injection", isReal: false, make: makeInjected },
  ...(canMount ? [{ name: "a tmpfs of 24 MB", isReal: true, make: () => makeMounted(24) }] : []),
];

export function makeInjected(): LockableDisk {
  const path = mkdtempSync(join(tmpdir(), "lightdesk-disk-"));
  const [full, readOnly] = [`${path}.full`, `${path}.read-only`];
  return {
    path,
    env: { NODE_OPTIONS: `--import=${join(process.cwd(), "tests/faults/disk/refusals.mjs")}`, LIGHTDESK_TEST_DISK: path },
    fill: () => writeFileSync(full, ""),
    free: () => rmSync(full, { force: true }),
    makeReadOnly: () => writeFileSync(readOnly, ""),
    makeWritable: () => rmSync(readOnly, { force: true }),
    dispose: () => [path, full, readOnly].forEach((value) => rmSync(value, { recursive: true, force: true })),
  };
}

/** Only where `canMount`. */
export function makeMounted(megabytes: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), "lightdesk-disk-"));
  const ballast = join(path, "ballast");
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "lightdesk-test", path]);
  return {
    path,
    env: {},
    fill() {
      const file = openSync(ballast, "w");
      for (let piece = Buffer.alloc(65_536); piece.byteLength > 0;) {
        try {
          writeSync(file, piece);
        } catch {
          piece = piece.subarray(0, piece.byteLength >> 1); // full but for less than this piece
        }
      }
      closeSync(file);
    },
    free: () => rmSync(ballast, { force: true }),
    dispose() {
      execFileSync("umount", ["-l", path]);
      rmSync(path, { recursive: true, force: true });
    },
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
