// How deep a JSON text is nested, told before anything is built from it.
// Guarantees: linear, no recursion; brackets inside texts do not count.

import "server-only";

const QUOTE = 34;
const BACKSLASH = 92;
const opening = new Set([91, 123]);
const closing = new Set([93, 125]);

export function isDeeperThan(text: string, most: number): boolean {
  let depth = 0;
  let inText = false;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text.charCodeAt(at);
    if (inText && letter === BACKSLASH) at += 1;
    else if (letter === QUOTE) inText = !inText;
    else if (inText) continue;
    else if (opening.has(letter)) {
      depth += 1;
      if (depth > most) return true;
    } else if (closing.has(letter)) depth -= 1;
  }
  return false;
}
