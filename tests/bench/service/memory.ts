// The memory of a process, from Linux's /proc.
import { readFileSync } from "node:fs";

const EVERY_MS = 20;

export function residentMiB(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/** Samples the memory until `end`, which returns the highest value. */
export function watchMemory(pid: number): { idle: number; end(): number } {
  const idle = residentMiB(pid);
  let peak = idle;
  const look = () => (peak = Math.max(peak, residentMiB(pid)));
  const timer = setInterval(look, EVERY_MS);
  return {
    idle,
    end() {
      clearInterval(timer);
      return look();
    },
  };
}
