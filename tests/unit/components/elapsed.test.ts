import { describe, expect, it } from "vitest";
import { agoOf, durationOf } from "@/components/ui/time/relative-time";

describe("how long something took", () => {
  it.each([
    [0, { unit: "seconds", seconds: "0.0" }],
    [412, { unit: "seconds", seconds: "0.4" }],
    [59_949, { unit: "seconds", seconds: "59.9" }],
    [59_950, { unit: "minutes", minutes: "1", seconds: "00" }],
    [67_000, { unit: "minutes", minutes: "1", seconds: "07" }],
    [3_599_999, { unit: "hours", hours: "1", minutes: "00" }],
    [7_500_000, { unit: "hours", hours: "2", minutes: "05" }],
    [47 * 3_600_000, { unit: "hours", hours: "47", minutes: "00" }],
    [52 * 3_600_000, { unit: "days", days: "2", hours: "04" }],
    [324.6 * 86_400_000, { unit: "manyDays", days: "324" }],
    [-5, { unit: "seconds", seconds: "0.0" }],
  ])("%d ms are %j", (ms, parts) => {
    expect(durationOf(ms)).toEqual(parts);
  });

  it.each([
    [46_900, { unit: "seconds", seconds: "46" }],
    [59_999, { unit: "seconds", seconds: "59" }],
    [60_000, { unit: "minutes", minutes: "1", seconds: "00" }],
  ])("%d ms of what still runs, in whole seconds, are %j", (ms, parts) => {
    expect(durationOf(ms, true)).toEqual(parts);
  });
});

describe("how long ago something was", () => {
  it.each([
    [9_999, { unit: "now" }],
    [-60_000, { unit: "now" }],
    [48_000, { unit: "seconds", count: 40 }],
    [60_000, { unit: "minutes", count: 1 }],
    [7_300_000, { unit: "hours", count: 2 }],
    [3 * 86_400_000, { unit: "days", count: 3 }],
  ])("%d ms are %j", (ms, ago) => {
    expect(agoOf(1_700_000_000_000 - ms, 1_700_000_000_000)).toEqual(ago);
  });
});
