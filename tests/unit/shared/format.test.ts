import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatBytes } from "@/lib/shared/format";

describe("sizes for people", () => {
  it.each([
    [0, "0 bytes"],
    [1, "1 byte"],
    [999, "999 bytes"],
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

  it("writes in the given language", () => {
    expect(formatBytes(4_200_000, "de")).toBe("4,2 MB");
  });

  it("never throws and never writes NaN", () => {
    fc.assert(fc.property(fc.double(), (value) => void expect(formatBytes(value)).not.toContain("NaN")));
  });
});
