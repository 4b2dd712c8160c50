// Measures throughput and memory of a one-gibibyte upload to a new service. For comparison, also measures a plain loop that writes and
// syncs the same bytes, and each of the two hashes alone on one core.
import { createHash } from "node:crypto";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { Blake3Hasher } from "@napi-rs/blake-hash";
import { type LargeFile, prepareLargeFile, sendLargeFile } from "../large-file";
import { withService } from "./client";
import { watchMemory } from "./memory";
import { type BenchRow, formatRuns, median } from "./row";

const RUNS = 3;
const UPLOAD_MIB = 1024;
const MAX_MEMORY_MIB = 150;
const TARGET_MB_PER_SECOND = 400;

export async function measureUpload(): Promise<BenchRow[]> {
  const speeds: number[] = [];
  const diskSpeeds: number[] = [];
  const memoryMiB: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const file = prepareLargeFile(UPLOAD_MIB);
    await withService({}, async (service, folder) => {
      diskSpeeds.push(await measureSpeed(file, () => writeAndSync(file, join(folder, "comparison"))));
      const memory = watchMemory(service.process.pid);
      speeds.push(await measureSpeed(file, () => sendLargeFile(`${service.url}/api/assets`, service.headers, file)));
      memoryMiB.push(memory.end() - memory.idle);
    });
  }
  const minSpeed = Math.min(TARGET_MB_PER_SECOND, median(diskSpeeds));
  const hashedFile = prepareLargeFile(64);
  const comparisons = [
    { name: "for comparison: disk alone, written and synced", runs: diskSpeeds },
    {
      name: "for comparison: BLAKE3 alone, one core",
      runs: await measureSpeeds(hashedFile, () => hashFile(hashedFile, new Blake3Hasher())),
    },
    {
      name: "for comparison: SHA-256 alone, one core",
      runs: await measureSpeeds(hashedFile, () => hashFile(hashedFile, createHash("sha256"))),
    },
  ];
  return [
    { name: "1 GiB upload", target: "400 MB/s or the disk's speed", ...formatRuns(speeds, "MB/s", 0), meets: median(speeds) >= minSpeed },
    {
      name: "memory over idle during the upload",
      target: "at most 150 MiB",
      ...formatRuns(memoryMiB, "MiB", 0),
      meets: Math.max(...memoryMiB) <= MAX_MEMORY_MIB,
    },
    ...comparisons.map(({ name, runs }) => ({ name, target: "", ...formatRuns(runs, "MB/s", 0), meets: true })),
  ];
}

/** Returns megabytes per second. */
async function measureSpeed(file: LargeFile, work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return file.bytes / 1000 / (performance.now() - started);
}

async function measureSpeeds(file: LargeFile, work: () => Promise<unknown>): Promise<number[]> {
  const runs: number[] = [];
  for (let run = 0; run < RUNS; run += 1) runs.push(await measureSpeed(file, work));
  return runs;
}

async function writeAndSync(file: LargeFile, path: string): Promise<void> {
  const handle = await open(path, "wx");
  for (const block of file.blocks()) await handle.write(block);
  await handle.sync();
  await handle.close();
  await rm(path);
}

async function hashFile(file: LargeFile, hasher: { update(data: Buffer): unknown; digest(encoding: "hex"): unknown }): Promise<void> {
  for (const block of file.blocks()) hasher.update(block);
  hasher.digest("hex");
}
