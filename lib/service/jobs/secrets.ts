// Keys of partner services come in `extra_data`. They are removed before a submission is stored, so no view, file or log can hold them: the
// fields by their names, at any depth, and their values wherever these are repeated in a text.

import { withSpellingsOf, writeExactJson } from "@/lib/contract/json/exact-json";

const secretKeys = new Set(["api_key_comfy_org", "auth_token_comfy_org"]);
const REDACTED = "[REDACTED]";
/** Shorter values are no keys, and removing them would break ordinary words. */
const SHORTEST_VALUE = 8;

type Fields = Record<string, unknown>;
type Parts<T> = { prompt: T; graph: T; extra_data: T };

/** Each part as JSON text, ready to be stored. Usually there is no secret, and then nothing is walked through. */
export function toStoredTexts(parts: Parts<Fields>): Parts<string> {
  const texts = mapParts(parts, writeExactJson);
  const hasSecret = Object.values(texts).some((text) => [...secretKeys].some((key) => text.includes(key)));
  if (!hasSecret) return texts;
  // The longest first: if two begin alike, nothing of the longer one may be left.
  const secrets = [...new Set(Object.values(parts).flatMap((part) => [...secretsIn(part)]))].sort((a, b) => b.length - a.length);
  return mapParts(parts, (part) => writeExactJson(clean(part, secrets)));
}

function* secretsIn(value: unknown): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (secretKeys.has(key) && typeof inner === "string" && inner.length >= SHORTEST_VALUE) yield inner;
    else yield* secretsIn(inner);
  }
}

function clean(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === "string") return secrets.reduce((text, secret) => text.replaceAll(secret, () => REDACTED), value);
  if (Array.isArray(value))
    return withSpellingsOf(
      value,
      value.map((item) => clean(item, secrets)),
    );
  if (typeof value !== "object" || value === null) return value;
  const publicEntries = Object.entries(value).filter(([key]) => !secretKeys.has(key));
  return withSpellingsOf(value, Object.fromEntries(publicEntries.map(([key, inner]) => [key, clean(inner, secrets)])));
}

function mapParts<A, B>({ prompt, graph, extra_data }: Parts<A>, change: (part: A) => B): Parts<B> {
  return { prompt: change(prompt), graph: change(graph), extra_data: change(extra_data) };
}
