import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createReadiness, lookAtDisk } from "@/lib/shared/readiness";

test("a part that throws or hangs is not ready, and its own message is not shown", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const readiness = createReadiness({
    fine: () => undefined,
    broken: () => {
      throw new Error("/data/secret.sqlite is malformed");
    },
    silent: () => new Promise(() => undefined),
  });
  const states = readiness();
  await vi.advanceTimersByTimeAsync(3000);
  expect(await states).toEqual([
    { part: "fine", ready: true },
    { part: "broken", ready: false, reason: "It failed. See the log." },
    { part: "silent", ready: false, reason: "No answer within 2 s." },
  ]);
});

test("parts are looked at once a second, however many ask", async () => {
  let at = 0;
  let looks = 0;
  const readiness = createReadiness({ part: () => void (looks += 1) }, () => at);
  await Promise.all([readiness(), readiness()]);
  at = 999;
  await readiness();
  expect(looks).toBe(1);
  at = 1000;
  await readiness();
  expect(looks).toBe(2);
});

test("a data folder that is gone is not ready", () => {
  const folder = mkdtempSync(join(tmpdir(), "lightdesk-ready-"));
  expect(lookAtDisk(folder)).toBeUndefined();
  rmSync(folder, { recursive: true });
  expect(lookAtDisk(folder)).toMatchObject({ ready: false, reason: "The data folder is gone or cannot be written." });
});
