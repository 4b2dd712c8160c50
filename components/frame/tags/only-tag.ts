import { readTags } from "@/lib/shared/text";

/** The tag meant by a typed part: the only one offered, unless the text is a complete tag. */
export function onlyTag(typed: string, offered: readonly string[]): string | undefined {
  if (typed === "" || offered.includes(typed)) return typed || undefined;
  return offered.length === 1 ? offered[0] : undefined;
}

/** Splits comma-separated tags: the last one, which is still being typed, and the text before it. */
export function lastTag(text: string): { before: string; typed: string } {
  const [before = ""] = /^.*[,\n，]\s*/s.exec(text) ?? [];
  return { before, typed: text.slice(before.length).trim() };
}

/** Tags that complete the last, unfinished one. */
export function tagsFor(text: string, known: readonly string[]): string[] {
  const { before, typed } = lastTag(text);
  const taken = readTags(before);
  return known.filter((tag) => tag.toLowerCase().includes(typed.toLowerCase()) && !taken.includes(tag));
}
