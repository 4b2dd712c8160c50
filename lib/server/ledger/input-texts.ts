// The texts in the inputs of a graph, by which its job can be found.
// Guarantees: never throws; bounded; sentences come before single words, so that the prompt is kept when the bound is reached.

import "server-only";
import { isLink } from "@/lib/contract/workflow/graph";
import { isObject } from "@/lib/contract/json/json";
import { MASK } from "@/lib/contract/secrets/secret-texts";

const LONGEST = 4096;
const LONGEST_TEXT = 2048;
const MOST_TEXTS = 5000;
const DEEPEST = 5;

export function textsOf(graph: unknown): string {
  if (!isObject(graph)) return "";
  const texts = new Set<string>();
  for (const node of Object.values(graph)) {
    if (texts.size >= MOST_TEXTS) break;
    if (isObject(node)) collect(node.inputs, texts, 0);
  }
  const isSentence = (text: string) => /\s|[^\p{ASCII}]/u.test(text);
  const sorted = [...[...texts].filter(isSentence), ...[...texts].filter((text) => !isSentence(text))];
  let all = "";
  for (const text of sorted) {
    if (all.length >= LONGEST) break;
    all += (all === "" ? "" : "\n") + text.slice(0, Math.min(LONGEST_TEXT, LONGEST - all.length));
  }
  return all;
}

function collect(value: unknown, texts: Set<string>, depth: number): void {
  if (typeof value === "string") {
    const text = value.trim();
    if (text !== "" && text !== MASK && !text.startsWith("data:")) texts.add(text);
  } else if (Array.isArray(value)) {
    if (!isLink(value) && depth < DEEPEST) for (const item of value) collect(item, texts, depth + 1);
  } else if (isObject(value) && depth < DEEPEST) {
    for (const item of Object.values(value)) collect(item, texts, depth + 1);
  }
}
