import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatBytes, formatDuration, formatRelative, relativeParts, shortId } from "@/lib/shared/format";

describe("numbers for people", () => {
  it("shortens ids", () => {
    expect(shortId("6f0d4f7e-13b2-4a1f")).toBe("6f0d4f7e");
    expect(shortId("ab")).toBe("ab");
  });

  it.each([
    [0, "0 byte"],
    [999, "999 byte"],
    [1000, "1 kB"],
    [51_234, "51.2 kB"],
    [812_345, "812 kB"],
    [999_949, "1 MB"],
    [4_200_000, "4.2 MB"],
    [2_132_650_982, "2.1 GB"],
    [-1, "–"],
    [Number.NaN, "–"],
  ])("writes %d bytes as %s", (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it.each([
    [0, "0.0 s"],
    [412, "0.4 s"],
    [41_240, "41.2 s"],
    [59_949, "59.9 s"],
    [59_950, "1m 00s"],
    [67_000, "1m 07s"],
    [3_599_999, "1h 00m"],
    [7_500_000, "2h 05m"],
    [273_600_000, "3d 04h"],
    [-5, "–"],
    [Number.POSITIVE_INFINITY, "–"],
  ])("writes a duration of %d ms as %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it("writes in the language that it is told", () => {
    expect(formatBytes(4_200_000, "de")).toBe("4,2 MB");
    expect(formatDuration(41_240, "de")).toBe("41,2 s");
    expect(formatRelative(0, 180_000, "de")).toBe("vor 3 Minuten".replace("Minuten", "Min."));
  });

  it.each([
    [0, 500, { value: 0, unit: "second" }],
    [0, 59_000, { value: -59, unit: "second" }],
    [0, 60_000, { value: -1, unit: "minute" }],
    [7_300_000, 0, { value: 2, unit: "hour" }],
    [0, 3 * 86_400_000, { value: -3, unit: "day" }],
    [0, 800 * 86_400_000, { value: -2, unit: "year" }],
  ])("measures the distance from %d to %d", (at, now, parts) => {
    expect(relativeParts(at, now)).toEqual(parts);
  });

  it("never throws and never writes NaN", () => {
    fc.assert(
      fc.property(fc.double(), (value) => {
        expect(`${formatBytes(value)}${formatDuration(value)}`).not.toContain("NaN");
      }),
    );
  });
});
