// Tags as people type them.
// Guarantees: none is empty or there twice, and none has a comma: the interface asks for tags joined by commas, so one with a comma in it
// could be given and never be found again.

/** Between commas, also the Chinese one, and lines. */
export function readTags(text: string): string[] {
  return [...new Set(text.split(/[,\n，]/).map((tag) => tag.trim()))].filter((tag) => tag !== "");
}
