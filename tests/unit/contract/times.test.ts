import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { expiresSoon, toMilliseconds } from "@/lib/contract/times";

describe("times at the edge", () => {
  it.each([
    ["whole seconds", 1767225600, 1767225600000],
    ["seconds with a fraction", 1767225600.25, 1767225600250],
    ["milliseconds", 1767225600000, 1767225600000],
    ["RFC 3339 in UTC", "2026-01-01T00:00:00Z", 1767225600000],
    ["RFC 3339 with microseconds", "2026-01-01T00:00:00.123456Z", 1767225600123],
    ["RFC 3339 with an offset", "2026-01-01T02:00:00+02:00", 1767225600000],
    ["the last second that is read as one", 99_999_999_999, 99_999_999_999_000],
    ["the first millisecond that is read as one", 100_000_000_000, 100_000_000_000],
    ["the beginning of time", 0, 0],
  ])("reads %s", (_, value, expected) => {
    expect(toMilliseconds(value)).toBe(expected);
  });

  it.each(["Asia/Shanghai", "America/New_York"])("reads what names no zone as UTC, wherever it is read, as in %s", (zone) => {
    vi.stubEnv("TZ", zone);
    for (const text of [
      "2026-01-01T00:00:00",
      "2026-01-01T00:00:00.000000",
      "2026-01-01T00:00",
      "2026-01-01 00:00:00.000000",
      "2026-01-01",
    ])
      expect(toMilliseconds(text), text).toBe(1767225600000);
    vi.unstubAllEnvs();
  });

  it.each([
    [null],
    [undefined],
    [""],
    ["soon"],
    ["17"],
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    [1e300],
    [{}],
    [[1]],
    [true],
    ["2026-99-99"],
  ])("reads %s as no time", (value) => {
    expect(toMilliseconds(value)).toBeUndefined();
  });

  it("never throws and never answers anything but a date that JavaScript can hold", () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        const read = toMilliseconds(value);
        expect(read === undefined || !Number.isNaN(new Date(read).getTime())).toBe(true);
      }),
    );
  });

  it("keeps the order of moments in one unit", () => {
    const seconds = fc.integer({ min: 0, max: 4_000_000_000 });
    fc.assert(
      fc.property(seconds, seconds, (a, b) => {
        const order = Math.sign(a - b);
        expect(Math.sign((toMilliseconds(a) ?? 0) - (toMilliseconds(b) ?? 0))).toBe(order);
        expect(Math.sign((toMilliseconds(2e11 + a) ?? 0) - (toMilliseconds(2e11 + b) ?? 0))).toBe(order);
      }),
    );
  });

  it("reads one moment alike from seconds, milliseconds and text", () => {
    fc.assert(
      fc.property(fc.integer({ min: 100_000_001, max: 4_000_000_000 }), (seconds) => {
        const readings = [seconds, seconds * 1000, new Date(seconds * 1000).toISOString()].map(toMilliseconds);
        expect(new Set(readings).size).toBe(1);
      }),
    );
  });

  it("leaves milliseconds as they are when they are read again", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1e11, max: 8e15 }), (ms) => {
        expect(toMilliseconds(toMilliseconds(ms))).toBe(ms);
      }),
    );
  });
});

describe("what expires soon", () => {
  const HOUR = 60 * 60_000;
  const DAY = 24 * HOUR;
  it.each([
    ["a day's link in its last tenth", DAY, 2 * HOUR, true],
    ["a day's link before that", DAY, 3 * HOUR, false],
    ["a week's link in its last tenth", 7 * DAY, 16 * HOUR, true],
    ["a week's link a day before its end", 7 * DAY, DAY, false],
    ["a year's token three days before its end", 365 * DAY, 3 * DAY, true],
    ["a year's token four days before its end", 365 * DAY, 4 * DAY, false],
    ["what has ended", DAY, 0, false],
  ])("judges %s", (_, lifetime, left, expected) => {
    expect(expiresSoon({ createdAt: 1000, expiresAt: 1000 + lifetime }, 1000 + lifetime - left)).toBe(expected);
  });

  it("judges what has no beginning by three days, and what has no end never", () => {
    expect(expiresSoon({ expiresAt: 3 * DAY }, 1)).toBe(true);
    expect(expiresSoon({ expiresAt: 4 * DAY }, 1)).toBe(false);
    expect(expiresSoon({ createdAt: 1 }, 10 * DAY)).toBe(false);
  });
});
