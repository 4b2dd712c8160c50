// Secrets inside texts: known literals (the connection's own key), and what has the looks of a key, a bearer token or a password in a URL.
// Guarantees: linear, idempotent (a masked text stays as it is), the same text back where nothing was found.
// Must never: touch the signature of a signed URL, or a model's or package's name that merely begins like a key.

import { writeExactJson } from "./exact-json";

export const MASK = "[REDACTED]";

/** Cheap look before the patterns: most texts hold none of these. */
const suspicious =
  /comfyui-|sk-|ld-|bearer|eyJ|hf_|gh[opsu]_|github_pat_|r8_|AIza|xox|:\/\/[^/\s]*@|[?&][^=&\s]{0,40}(token|key|secret|password|auth)/i;

const shapes: readonly RegExp[] = [
  // A prefix and an unbroken run of 16: "comfyui-impact-pack" is a package, no key.
  /(?<![A-Za-z0-9])comfyui-(?=[A-Za-z0-9_-]{0,40}?[A-Za-z0-9]{16})[A-Za-z0-9_-]{16,}/gi,
  // The embedded service's own keys.
  /(?<![A-Za-z0-9])ld-[A-Za-z0-9]{40}(?![A-Za-z0-9])/g,
  /(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}/g,
  /(?<![A-Za-z0-9])(?:hf_|gh[opsu]_|github_pat_|r8_)[A-Za-z0-9_]{20,}/g,
  /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{30,}/g,
  /(?<![A-Za-z0-9])xox[abps]-[A-Za-z0-9-]{10,}/g,
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
];
/** A word after "bearer" is a token when it is long, or holds a digit: "a flag-bearer standing" is a picture. */
const bearer = /(\bbearer\s+)(?=[^\s"']*\d|[^\s"']{24})[A-Za-z0-9._~+/=-]{8,}/gi;
const inQuery =
  /([?&](?:api[-_]?key|x-api-key|(?:access|auth|api|hf|refresh)?[-_]?token|secret|client_secret|password|authorization)=)[^&#\s"'<>]+/gi;
const inUserInfo = /(:\/\/[^/\s:@]{0,200}:)[^/\s@]{1,200}(?=@)/g;

export function maskText(text: string, literals: readonly string[] = []): string {
  let masked = text;
  for (const literal of literals) if (masked.includes(literal)) masked = masked.replaceAll(literal, MASK);
  if (!suspicious.test(masked)) return masked;
  for (const shape of shapes) masked = masked.replace(shape, MASK);
  return masked
    .replace(bearer, (_, lead: string) => lead + MASK)
    .replace(inQuery, (_, lead: string) => lead + MASK)
    .replace(inUserInfo, (_, lead: string) => lead + MASK);
}

/** A literal in every spelling in which it can stand in JSON, in a URL or in JSON inside a text; texts too short to be a key are left out. */
export function spellingsOf(literals: readonly string[]): string[] {
  const usable = literals.filter((literal) => literal.length >= SHORTEST_LITERAL && !MASK.includes(literal));
  const spellings = usable.flatMap((literal) => [
    literal,
    encodeURIComponent(literal.replace(/\p{Surrogate}/gu, "")),
    writeExactJson(literal).slice(1, -1),
  ]);
  return [...new Set(spellings)].sort((a, b) => b.length - a.length);
}

const SHORTEST_LITERAL = 6;
