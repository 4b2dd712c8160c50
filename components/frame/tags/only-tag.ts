import { readTags } from "@/lib/shared/read-tags";

/** The tag that is meant by a typed part of it: the only one that is offered, unless one was typed to its end. */
export function onlyTag(typed: string, offered: readonly string[]): string | undefined {
  if (typed === "" || offered.includes(typed)) return typed || undefined;
  return offered.length === 1 ? offered[0] : undefined;
}

/** Of a field of tags with commas between, the last one, which is still typed, and what is before it. */
export function lastTag(text: string): { before: string; typed: string } {
  const [before = ""] = /^.*[,\n，]\s*/s.exec(text) ?? [];
  return { before, typed: text.slice(before.length).trim() };
}

/** Tags that the unfinished last one may become. */
export function tagsFor(text: string, known: readonly string[]): string[] {
  const { before, typed } = lastTag(text);
  const taken = readTags(before);
  return known.filter((tag) => tag.toLowerCase().includes(typed.toLowerCase()) && !taken.includes(tag));
}
