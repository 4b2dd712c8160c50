// Compares names without case, beyond ASCII too: Unicode's full case folding, as far as JavaScript's own tables give it.
// Guarantees: "ß", "SS" and "ẞ" are one, as are the three sigmas; accents are kept; composed and decomposed letters are equal.
// Must not change without a migration: folded names are stored and indexed.

/** Its upper case is the letter I, but it folds to itself. */
const DOTLESS_I = "ı";

export function foldName(name: string): string {
  const text = name.normalize("NFC");
  // Letter by letter: the lower case of a letter can depend on its neighbours (a final sigma), and in a substring these differ.
  const folded = isAscii(text) ? text.toLowerCase() : Array.from(text, foldLetter).join("");
  return folded.normalize("NFC");
}

function foldLetter(letter: string): string {
  if (letter === DOTLESS_I) return letter;
  // First to small letters, for a capital that has no other ("ẞ"); then to capitals, for small letters that share one; then each capital by
  // itself, because one letter may have become two.
  const capitals = letter.toLowerCase().toUpperCase();
  return Array.from(capitals, (capital) => capital.toLowerCase()).join("");
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}
