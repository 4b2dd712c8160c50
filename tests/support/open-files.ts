// The files that this process has open.
import { readdir, readlink } from "node:fs/promises";

/** Open descriptors as reported by Linux; empty elsewhere. */
export async function openFiles(): Promise<{ number: string; path: string }[]> {
  const numbers = await readdir("/proc/self/fd").catch(() => []);
  return Promise.all(numbers.map(async (number) => ({ number, path: await readlink(`/proc/self/fd/${number}`).catch(() => "") })));
}
