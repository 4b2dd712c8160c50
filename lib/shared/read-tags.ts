// Tags as people type them.
// Guarantees: no tag is empty or listed twice, and none contains a comma: the interface asks for tags joined by commas, so a tag with a
// comma could be given but never found again.

/** Splits at commas, the Chinese one too, and at line breaks. */
export function readTags(text: string): string[] {
  return [...new Set(text.split(/[,\n，]/).map((tag) => tag.trim()))].filter((tag) => tag !== "");
}
