// Makes a text one line without direction characters, for names that people choose. Keeps joiners, which names and emoji need.

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

/** At most `max` characters. An ellipsis replaces the rest. */
export function truncateText(text: string, max: number): string {
  if (text.length <= max) return text;
  const characters = Array.from(text);
  return characters.length > max ? `${characters.slice(0, max - 1).join("")}…` : text;
}
