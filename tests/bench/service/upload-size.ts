// One gibibyte to a freshly started service: throughput and memory.
// For comparison, what the machine can do: the same bytes written and synced by a plain loop, and each of the two hashes alone on one core.
import { createHash } from "node:crypto";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { Blake3Hasher } from "@napi-rs/blake-hash";
import { type LargeFile, prepareLarge, sendLarge } from "../large-file";
import { withService } from "./client";
import { watchMemory } from "./memory";
import { type BenchRow, formatRuns, median } from "./row";

const RUNS = 3;
const UPLOAD_MIB = 1024;
const MAX_MIB = 150;
const ENOUGH = 400;

export async function measureUpload(): Promise<BenchRow[]> {
  const speeds: number[] = [];
  const disk: number[] = [];
  const over: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const file = prepareLarge(UPLOAD_MIB);
    await withService({}, async (service, folder) => {
      disk.push(await timed(file, () => writeAndSync(file, join(folder, "beside"))));
      const memory = watchMemory(service.process.pid);
      speeds.push(await timed(file, () => sendLarge(`${service.url}/api/assets`, service.headers, file)));
      over.push(memory.end() - memory.idle);
    });
  }
  const enough = Math.min(ENOUGH, median(disk));
  const hashed = prepareLarge(64);
  const beside = [
    { name: "beside: the disk alone, written and synced", runs: disk },
    { name: "beside: BLAKE3 alone, one core", runs: await repeated(hashed, () => getHash(hashed, new Blake3Hasher())) },
    { name: "beside: SHA-256 alone, one core", runs: await repeated(hashed, () => getHash(hashed, createHash("sha256"))) },
  ];
  return [
    { name: "1 GiB upload", target: "400 MB/s or the disk's speed", ...formatRuns(speeds, "MB/s", 0), meets: median(speeds) >= enough },
    { name: "memory over idle meanwhile", target: "at most 150 MiB", ...formatRuns(over, "MiB", 0), meets: Math.max(...over) <= MAX_MIB },
    ...beside.map(({ name, runs }) => ({ name, target: "", ...formatRuns(runs, "MB/s", 0), meets: true })),
  ];
}

/** Millions of bytes a second. */
async function timed(file: LargeFile, work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return file.bytes / 1000 / (performance.now() - started);
}

async function repeated(file: LargeFile, work: () => Promise<unknown>): Promise<number[]> {
  const runs: number[] = [];
  for (let run = 0; run < RUNS; run += 1) runs.push(await timed(file, work));
  return runs;
}

async function writeAndSync(file: LargeFile, path: string): Promise<void> {
  const handle = await open(path, "wx");
  for (const block of file.blocks()) await handle.write(block);
  await handle.sync();
  await handle.close();
  await rm(path);
}

async function getHash(file: LargeFile, hasher: { update(data: Buffer): unknown; digest(encoding: "hex"): unknown }): Promise<void> {
  for (const block of file.blocks()) hasher.update(block);
  hasher.digest("hex");
}
