// The memory of a process, from Linux's /proc.
import { readFileSync } from "node:fs";

const SAMPLE_INTERVAL_MS = 20;

export function getResidentMiB(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/** Samples the memory until `end`, which returns the highest value. */
export function watchMemory(pid: number): { idle: number; end(): number } {
  const idle = getResidentMiB(pid);
  let peak = idle;
  const sample = () => (peak = Math.max(peak, getResidentMiB(pid)));
  const timer = setInterval(sample, SAMPLE_INTERVAL_MS);
  return {
    idle,
    end() {
      clearInterval(timer);
      return sample();
    },
  };
}
