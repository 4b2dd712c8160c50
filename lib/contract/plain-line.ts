// A text that is one line and reads in the order it is stored: of names that people choose, and of what is written down about them.
// Guarantees: no control character, no line or paragraph separator, nothing that turns the direction of writing, no half of a surrogate
// pair; joiners, which names and emoji need, stay.

const misleading = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

export function toPlainLine(text: string): string {
  return text.replace(misleading, "");
}
