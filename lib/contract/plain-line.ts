// Reduces user-chosen names to one line without directional characters. Keeps joiners, which names and emoji need.

const misleadingCharacters = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

export function toPlainLine(text: string): string {
  return text.replace(misleadingCharacters, "");
}

export function toFileName(text: string): string {
  return toPlainLine(text) || "file";
}

/** Undefined if the text is not correctly percent-encoded. */
export function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Limits a text to `maxLength` characters, including the ellipsis. */
export function truncateText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const characters = Array.from(text);
  return characters.length > maxLength ? `${characters.slice(0, maxLength - 1).join("")}…` : text;
}
