// Masks secrets in texts. Signatures of signed URLs, and names that merely begin like a key, stay.

import { withSpellingsOf, writeExactJson } from "../json/exact-json";
import { isObject, type JsonObject } from "../json/json";

export const MASK = "[REDACTED]";

/** A cheap test before the patterns, since most texts hold none of these. Single words, so that no text makes the test itself slow. */
const suspicious =
  /comfyui-|sk-|ld-|ld_|bearer|eyJ|hf_|gh[opsu]_|github_pat_|r8_|AIza|xox|:\/\/|token=|key=|secret=|password=|authorization=/i;

const shapes: readonly RegExp[] = [
  // A prefix and, soon after it, an unbroken run of 16: "comfyui-impact-pack" is a package, not a key.
  /(?<![A-Za-z0-9])comfyui-[A-Za-z0-9_-]{0,40}?[A-Za-z0-9]{16}[A-Za-z0-9_-]*/gi,
  /(?<![A-Za-z0-9])ld-[A-Za-z0-9]{40}(?![A-Za-z0-9])/g,
  /(?<![A-Za-z0-9])ld_[0-9a-f]{64}(?![A-Za-z0-9])/g,
  /(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}/g,
  /(?<![A-Za-z0-9])(?:hf_|gh[opsu]_|github_pat_|r8_)[A-Za-z0-9_]{20,}/g,
  /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{30,}/g,
  /(?<![A-Za-z0-9])xox[abps]-[A-Za-z0-9-]{10,}/g,
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
];
/** A word after "bearer" is a token if it is long or holds a digit: "a flag-bearer standing" describes a picture. */
const bearer = /(\bbearer\s+)(?=[^\s"']*\d|[^\s"']{24})[A-Za-z0-9._~+/=-]{8,}/gi;
const inQuery =
  /([?&](?:api[-_]?key|x-api-key|(?:access|auth|api|hf|refresh)?[-_]?token|secret|client_secret|password|authorization)=)[^&#\s"'<>]+/gi;
const inUserInfo = /(:\/\/[^/\s:@]{0,200}:)[^/\s@]{1,200}(?=@)/g;

export function maskText(text: string, literals: readonly string[] = []): string {
  let masked = text;
  for (const literal of literals) if (masked.includes(literal)) masked = masked.replaceAll(literal, MASK);
  if (masked.length <= WINDOW) return maskShapes(masked);
  const parts: string[] = [];
  for (let from = 0; from < masked.length;) {
    const to = endOfWindow(masked, from);
    parts.push(maskShapes(masked.slice(from, to)));
    from = to;
  }
  return parts.join("");
}

/** A pattern that is given more text at once may run out of stack. */
export const WINDOW = 256 * 1024;
const MAX_KEY = 8 * 1024;

/** Ends after a blank or a quote, so that no secret is cut in two; else after a character that no key has. */
export function endOfWindow(text: string, from: number): number {
  const end = from + WINDOW;
  if (end >= text.length) return text.length;
  const tail = text.slice(end - MAX_KEY, end);
  for (const outside of [/[\s"'<>]/g, /[^A-Za-z0-9_-]/g]) {
    const last = [...tail.matchAll(outside)].at(-1);
    if (last === undefined) continue;
    const to = end - MAX_KEY + last.index + 1;
    const lead = /bearer\s{1,100}$/i.exec(text.slice(Math.max(from, to - 200), to))?.[0].length ?? 0;
    return to - lead > from ? to - lead : to;
  }
  return end;
}

function maskShapes(text: string): string {
  if (!suspicious.test(text)) return text;
  let masked = text;
  for (const shape of shapes) masked = masked.replace(shape, MASK);
  return masked
    .replace(bearer, (_, lead: string) => lead + MASK)
    .replace(inQuery, (_, lead: string) => lead + MASK)
    .replace(inUserInfo, (_, lead: string) => lead + MASK);
}

/** Each literal in every spelling that JSON, a URL or JSON inside a text may give it; texts too short to be a key are left out. */
export function spellingsOf(literals: readonly string[]): string[] {
  const usable = literals.filter((literal) => literal.length >= MIN_LITERAL && !MASK.includes(literal));
  const spellings = usable.flatMap((literal) => [
    literal,
    encodeURIComponent(literal.replace(/\p{Surrogate}/gu, "")),
    writeExactJson(literal).slice(1, -1),
  ]);
  return [...new Set(spellings)].sort((a, b) => b.length - a.length);
}

const MIN_LITERAL = 6;

const MAX_DEPTH = 100;

export function isMasked(value: unknown, depth = 0): boolean {
  if (typeof value === "string") return value.includes(MASK);
  if (typeof value !== "object" || value === null) return false;
  return depth > MAX_DEPTH || Object.values(value).some((item) => isMasked(item, depth + 1));
}

export function withoutMasks(value: JsonObject): JsonObject;
export function withoutMasks(value: unknown): unknown;
export function withoutMasks(value: unknown): unknown {
  return isMasked(value) ? emptied(value) : value;
}

function emptied(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return value.replaceAll(MASK, "");
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return null;
  if (!isObject(value)) {
    const items = Object.values(value).map((item: unknown) => emptied(item, depth + 1));
    return withSpellingsOf(value, items);
  }
  const remainingEntries = Object.entries(value).flatMap(([name, item]) =>
    typeof item === "string" && item.includes(MASK) ? [] : [[name, emptied(item, depth + 1)] as const],
  );
  return withSpellingsOf(value, Object.fromEntries(remainingEntries));
}
