// The texts in the inputs of a graph, by which its job can be found.
// Guarantees: never throws; bounded; the positive prompt comes first, then other sentences, then single words.

import "server-only";
import { isObject, type JsonObject, objectOf } from "@/lib/contract/json/json";
import { own } from "@/lib/contract/json/own";
import { MASK } from "@/lib/contract/secrets/secret-texts";
import { isLink } from "@/lib/contract/workflow/graph";

const LONGEST = 4096;
const LONGEST_TEXT = 2048;
const MOST_TEXTS = 5000;
const DEEPEST = 5;
const MAX_POSITIVE_NODES = 50;
const PROMPT_NAME = /text|prompt|string|value|wildcard/i;

export function textsOf(graph: unknown): string {
  if (!isObject(graph)) return "";
  const texts = new Set<string>(positiveTexts(graph));
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

/** The texts behind an input named "positive", as samplers have one. */
function positiveTexts(graph: JsonObject): Set<string> {
  const texts = new Set<string>();
  const seen = new Set<string>();
  const waiting = Object.values(graph).flatMap((node) => sourceOf(objectOf(objectOf(node)?.inputs)?.positive));
  for (let id = waiting.shift(); id !== undefined && seen.size < MAX_POSITIVE_NODES; id = waiting.shift()) {
    const inputs = seen.has(id) ? undefined : objectOf(objectOf(own(graph, id))?.inputs);
    seen.add(id);
    for (const [name, value] of Object.entries(inputs ?? {})) {
      if (isLink(value)) waiting.push(...sourceOf(value));
      else if (PROMPT_NAME.test(name)) collect(value, texts, DEEPEST);
    }
  }
  return texts;
}

const sourceOf = (value: unknown): string[] => (isLink(value) ? [String(value[0])] : []);

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
