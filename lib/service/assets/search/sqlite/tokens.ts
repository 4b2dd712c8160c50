// What the search index stores of an asset: tags, metadata values, the letters of its folded name and every three letters in a row.
// Guarantees: a token has only letters and digits, whatever a user wrote, so no text can be mistaken for the index's own syntax; every
// token names its owner, so no search passes other users' assets.
// Must never: change without a migration that fills the index anew.

import { createHash } from "node:crypto";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type Scalar, toScalar } from "@/lib/service/assets/metadata-filter";

const GRAM = 3;
/** Added after the last letter, so that every letter begins a group of three; then two letters are the beginning of some group. */
const END = "0000";

/** With more values an asset's metadata is marked as not known in full, and is read when a filter asks for it. */
const MOST_VALUES = 500;

export function tagToken(owner: number, tag: string): string {
  return `t${owner}x${Buffer.from(tag).toString("hex")}`;
}

/** The groups of three letters of a name, in order, one for each letter. */
export function gramTokens(owner: number, folded: string): string[] {
  return gramsOf(owner, [...unitsOf(folded), END, END]);
}

/** Each letter of a name, once. */
export function letterTokens(owner: number, folded: string): string[] {
  return [...new Set(unitsOf(folded))].map((unit) => letterToken(owner, unit));
}

/** The search term for a piece of a name; undefined for an empty piece. */
export function nameTerm(owner: number, folded: string): string | undefined {
  const units = unitsOf(folded);
  if (units.length >= GRAM) return `"${gramsOf(owner, units).join(" ")}"`;
  if (units.length === 2) return `${grams(owner)}${units.join("")}*`;
  return units[0] === undefined ? undefined : letterToken(owner, units[0]);
}

function gramsOf(owner: number, units: readonly string[]): string[] {
  return units.slice(GRAM - 1).map((last, at) => `${grams(owner)}${units[at]}${units[at + 1]}${last}`);
}

const grams = (owner: number) => `n${owner}x`;
const letterToken = (owner: number, unit: string) => `l${owner}x${unit}`;

function unitsOf(folded: string): string[] {
  return Array.from({ length: folded.length }, (_, at) => folded.charCodeAt(at).toString(16).padStart(4, "0"));
}

export function valueToken(owner: number, path: readonly string[], value: Scalar): string {
  const digest = createHash("sha256")
    .update(writeExactJson([path, value]))
    .digest("hex");
  return `m${owner}x${digest.slice(0, 32)}`;
}

/** Carried by an asset whose metadata has more values than the index keeps. */
export function unlistedToken(owner: number): string {
  return `m${owner}xunlisted`;
}

export function metadataTokens(owner: number, metadata: Record<string, unknown>): string[] {
  const tokens = new Set<string>();
  for (const { path, value } of leaves(metadata)) {
    if (tokens.size >= MOST_VALUES) return [...tokens, unlistedToken(owner)];
    tokens.add(valueToken(owner, path, value));
  }
  return [...tokens];
}

/** Every value with the path of keys that leads to it; the values of a list have the list's path. */
function* leaves(value: unknown, path: readonly string[] = []): Generator<{ path: readonly string[]; value: Scalar }> {
  const scalar = toScalar(value);
  if (scalar !== undefined) yield { path, value: scalar };
  else if (Array.isArray(value)) {
    for (const item of value) if (typeof item !== "object" || item === null) yield* leaves(item, path);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, inner] of Object.entries(value)) yield* leaves(inner, [...path, key]);
  }
}
