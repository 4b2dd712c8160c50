// Masks secrets in texts. Does not mask signatures of signed URLs, or names that only begin like a key.

import { copySpellings, writeExactJson } from "../json/exact-json";
import { isObject, type JsonObject } from "../json/json";

export const MASK = "[REDACTED]";

/** A fast test before the patterns, because most texts contain no secrets. */
const suspiciousPattern =
  /comfyui-|sk-|ld-|ld_|bearer|eyJ|hf_|gh[opsu]_|github_pat_|r8_|AIza|xox|:\/\/|token=|key=|secret=|password=|authorization=/i;

const secretPatterns: readonly RegExp[] = [
  // Requires 16 unbroken characters after the prefix, because "comfyui-impact-pack" is a package name.
  /(?<![A-Za-z0-9])comfyui-[A-Za-z0-9_-]{0,40}?[A-Za-z0-9]{16}[A-Za-z0-9_-]*/gi,
  /(?<![A-Za-z0-9])ld-[A-Za-z0-9]{40}(?![A-Za-z0-9])/g,
  /(?<![A-Za-z0-9])ld_[0-9a-f]{64}(?![A-Za-z0-9])/g,
  /(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}/g,
  /(?<![A-Za-z0-9])(?:hf_|gh[opsu]_|github_pat_|r8_)[A-Za-z0-9_]{20,}/g,
  /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{30,}/g,
  /(?<![A-Za-z0-9])xox[abps]-[A-Za-z0-9-]{10,}/g,
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
];
/** A word after "bearer" is a token if it is long or contains a digit. "A flag-bearer standing" is not a token. */
const bearerPattern = /(\bbearer\s+)(?=[^\s"']*\d|[^\s"']{24})[A-Za-z0-9._~+/=-]{8,}/gi;
const queryPattern =
  /([?&](?:api[-_]?key|x-api-key|(?:access|auth|api|hf|refresh)?[-_]?token|secret|client_secret|password|authorization)=)[^&#\s"'<>]+/gi;
const userInfoPattern = /(:\/\/[^/\s:@]{0,200}:)[^/\s@]{1,200}(?=@)/g;

export function maskText(text: string, literals: readonly string[] = []): string {
  let maskedText = text;
  for (const literal of literals) if (maskedText.includes(literal)) maskedText = maskedText.replaceAll(literal, MASK);
  if (maskedText.length <= MAX_WINDOW_LENGTH) return maskPatterns(maskedText);
  const parts: string[] = [];
  for (let start = 0; start < maskedText.length;) {
    const end = findWindowEnd(maskedText, start);
    parts.push(maskPatterns(maskedText.slice(start, end)));
    start = end;
  }
  return parts.join("");
}

/** Longer texts may overflow the stack of a pattern. */
export const MAX_WINDOW_LENGTH = 256 * 1024;
const MAX_KEY_LENGTH = 8 * 1024;

/** Ends after a space or a quote, or else after a character that no key contains, so that no secret is split. */
export function findWindowEnd(text: string, start: number): number {
  const end = start + MAX_WINDOW_LENGTH;
  if (end >= text.length) return text.length;
  const tail = text.slice(end - MAX_KEY_LENGTH, end);
  for (const separator of [/[\s"'<>]/g, /[^A-Za-z0-9_-]/g]) {
    const lastSeparator = [...tail.matchAll(separator)].at(-1);
    if (lastSeparator === undefined) continue;
    const windowEnd = end - MAX_KEY_LENGTH + lastSeparator.index + 1;
    const bearerLength = /bearer\s{1,100}$/i.exec(text.slice(Math.max(start, windowEnd - 200), windowEnd))?.[0].length ?? 0;
    return windowEnd - bearerLength > start ? windowEnd - bearerLength : windowEnd;
  }
  return end;
}

function maskPatterns(text: string): string {
  if (!suspiciousPattern.test(text)) return text;
  let maskedText = text;
  for (const pattern of secretPatterns) maskedText = maskedText.replace(pattern, MASK);
  return maskedText
    .replace(bearerPattern, (_, prefix: string) => prefix + MASK)
    .replace(queryPattern, (_, prefix: string) => prefix + MASK)
    .replace(userInfoPattern, (_, prefix: string) => prefix + MASK);
}

/** All spellings of each literal in JSON, in a URL, or in JSON inside a text. Omits texts that are too short to be a key. */
export function listSpellings(literals: readonly string[]): string[] {
  const usableLiterals = literals.filter((literal) => literal.length >= MIN_LITERAL_LENGTH && !MASK.includes(literal));
  const spellings = usableLiterals.flatMap((literal) => [
    literal,
    encodeURIComponent(literal.replace(/\p{Surrogate}/gu, "")),
    writeExactJson(literal).slice(1, -1),
  ]);
  return [...new Set(spellings)].sort((a, b) => b.length - a.length);
}

const MIN_LITERAL_LENGTH = 6;

const MAX_DEPTH = 100;

export function isMasked(value: unknown, depth = 0): boolean {
  if (typeof value === "string") return value.includes(MASK);
  if (typeof value !== "object" || value === null) return false;
  return depth > MAX_DEPTH || Object.values(value).some((item) => isMasked(item, depth + 1));
}

export function removeMasks(value: JsonObject): JsonObject;
export function removeMasks(value: unknown): unknown;
export function removeMasks(value: unknown): unknown {
  return isMasked(value) ? removeMasksIn(value) : value;
}

function removeMasksIn(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return value.replaceAll(MASK, "");
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return null;
  if (!isObject(value)) {
    const items = Object.values(value).map((item: unknown) => removeMasksIn(item, depth + 1));
    return copySpellings(value, items);
  }
  const remainingEntries = Object.entries(value).flatMap(([name, item]) =>
    typeof item === "string" && item.includes(MASK) ? [] : [[name, removeMasksIn(item, depth + 1)] as const],
  );
  return copySpellings(value, Object.fromEntries(remainingEntries));
}
