// What a process holds in memory, from Linux's /proc.
import { readFileSync } from "node:fs";

const EVERY_MS = 20;

export function residentMiB(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/** Looks again and again until `end`, which answers the highest. */
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
