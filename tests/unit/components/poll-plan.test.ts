import { describe, expect, it } from "vitest";
import { BUSY_MS, freshnessOf, IDLE_MS, MAX_WAIT_MS, nextPollMs, retryPollMs } from "@/lib/browser/poll/poll-plan";

describe("when a page asks again", () => {
  it("asks faster while something moves than while nothing does, and never again once nothing can change", () => {
    expect(nextPollMs("moving")).toBe(BUSY_MS);
    expect(nextPollMs("still")).toBe(IDLE_MS);
    expect(nextPollMs("background")).toBeGreaterThan(IDLE_MS);
    expect(nextPollMs("counting")).toBeLessThan(IDLE_MS);
    expect(nextPollMs("final")).toBe(0);
  });

  it("doubles its wait with each failure in a row, up to ten seconds", () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 20].map((failures) => retryPollMs(failures));
    expect(waits.slice(0, 3)).toEqual([BUSY_MS, BUSY_MS * 2, BUSY_MS * 4]);
    expect(waits.at(-1)).toBe(MAX_WAIT_MS);
    expect(waits).toEqual([...waits].sort((one, other) => one - other));
  });

  it("waits no longer from one asking to the next, however long the failure itself took", () => {
    expect(retryPollMs(8, { tookMs: 5_000 })).toBe(MAX_WAIT_MS - 5_000);
    expect(retryPollMs(8, { tookMs: 30_000 })).toBe(BUSY_MS);
  });

  it("keeps to the wait that a service named, even beyond that", () => {
    expect(retryPollMs(1, { retryAfterMs: 90_000 })).toBe(90_000);
  });
});

describe("how old what is shown is", () => {
  const at = { nowMs: 100_000, answeredMs: 99_000, everyMs: BUSY_MS, isFailing: false };

  it("is live while answers come in time", () => {
    expect(freshnessOf(at)).toEqual({ kind: "live" });
  });

  it("says its age once the next answer is clearly late", () => {
    expect(freshnessOf({ ...at, answeredMs: 88_000 })).toEqual({ kind: "aged", seconds: 12 });
  });

  it("is no longer live a moment after the next answer should have come, where nothing moves either", () => {
    expect(freshnessOf({ ...at, everyMs: IDLE_MS, answeredMs: 91_000 })).toEqual({ kind: "live" });
    expect(freshnessOf({ ...at, everyMs: IDLE_MS, answeredMs: 88_000 })).toEqual({ kind: "aged", seconds: 12 });
  });

  it("is offline as soon as one has failed, however young that answer is", () => {
    expect(freshnessOf({ ...at, isFailing: true })).toEqual({ kind: "offline" });
  });

  it("stays live where nothing can change any more", () => {
    expect(freshnessOf({ ...at, answeredMs: 0, everyMs: 0 })).toEqual({ kind: "live" });
  });

  it("is not fooled by a clock that runs behind the server's", () => {
    expect(freshnessOf({ ...at, answeredMs: 200_000 })).toEqual({ kind: "live" });
  });
});
