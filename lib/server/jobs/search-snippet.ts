// Finds the search terms in a job's text, for its row: a short snippet with the positions of the terms.
// Guarantees: pure and bounded; matches terms as the index does, ignoring case. The text is plain: callers must escape it.

import "server-only";
import { type SearchMatch } from "@/lib/contract/schemas/job";
import { foldName } from "@/lib/shared/text";

const MAX_TEXT = 8192;
const BEFORE = 30;
const MAX_SNIPPET = 140;

/** The text with the most terms wins; if several have as many, the first one. */
export function snippetOf(texts: readonly string[], words: readonly string[]): SearchMatch | undefined {
  let best: { text: string; hits: Hit[]; words: number } | undefined;
  for (const text of texts) {
    const { line, hits, found } = hitsIn(text, words);
    if (found > (best?.words ?? 0)) best = { text: line, hits, words: found };
  }
  const first = best?.hits[0];
  if (!best || !first) return undefined;
  const from = first[0] <= BEFORE ? 0 : first[0] - BEFORE;
  const to = Math.min(best.text.length, from + MAX_SNIPPET);
  const [start, end] = [from > 0 ? "…" : "", to < best.text.length ? "…" : ""];
  const by = start.length - from;
  const marks = best.hits.filter(([at, until]) => at >= from && until <= to).map(([at, until]): Hit => [at + by, until + by]);
  return { text: start + best.text.slice(from, to) + end, marks };
}

type Hit = [from: number, to: number];

/** `line`: the text on one line. Matches are in order and don't overlap. */
function hitsIn(text: string, words: readonly string[]): { line: string; hits: Hit[]; found: number } {
  const line = text.slice(0, MAX_TEXT).replaceAll(/\s+/gu, " ").trim();
  let folded = "";
  /** For each character of `folded`, the start and end of its letter in `line`. */
  const places: Hit[] = [];
  let at = 0;
  for (const letter of line) {
    const small = foldName(letter);
    for (let index = 0; index < small.length; index += 1) places.push([at, at + letter.length]);
    folded += small;
    at += letter.length;
  }
  const hits: Hit[] = [];
  let found = 0;
  for (const word of words) {
    const before = hits.length;
    for (let index = folded.indexOf(word); index >= 0; index = folded.indexOf(word, index + word.length)) {
      const [from, to] = [places[index]?.[0] ?? 0, places[index + word.length - 1]?.[1] ?? 0];
      hits.push([from, to]);
    }
    if (hits.length > before) found += 1;
  }
  hits.sort(([one], [other]) => one - other);
  return { line, hits: merged(hits), found };
}

function merged(hits: readonly Hit[]): Hit[] {
  const all: Hit[] = [];
  for (const [from, to] of hits) {
    const last = all.at(-1);
    if (last && from < last[1]) last[1] = Math.max(last[1], to);
    else all.push([from, to]);
  }
  return all;
}
