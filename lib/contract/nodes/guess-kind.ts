// What kind of value an input takes where no catalogue describes it: guessed from its node's class, its name and the value that it has.
// Guarantees: pure; undefined for what cannot be typed, such as a list. Free of zod: the Run page loads it.

const LONGEST_LINE = 60;
const pictureClasses = new Set(["LoadImage", "LoadImageMask"]);

/** `whole`: a number with too many digits for a usual one. Any other number may get decimals: 1 may have been 1.0. */
export type GuessedKind = "picture" | "switch" | "whole" | "number" | "long-text" | "text";

export function guessKind(classType: string, name: string, value: unknown): GuessedKind | undefined {
  if (name === "image" && pictureClasses.has(classType)) return "picture";
  if (typeof value === "boolean") return "switch";
  if (typeof value === "bigint") return "whole";
  if (typeof value === "number") return "number";
  if (typeof value !== "string") return undefined;
  const isLong = value.includes("\n") || value.length > LONGEST_LINE || /(^|_)(text|prompt)$/i.test(name);
  return isLong ? "long-text" : "text";
}
