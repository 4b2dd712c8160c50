// Makes a text one line that reads in stored order, for names that people choose. Joiners stay, since names and emoji need them.

const misleading = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

export function toPlainLine(text: string): string {
  return text.replace(misleading, "");
}

export function toFileName(text: string): string {
  return toPlainLine(text) || "file";
}

/** Undefined if the text is not percent-encoded as it should be. */
export function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** At most `max` characters; an ellipsis replaces the rest. */
export function cutText(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}
