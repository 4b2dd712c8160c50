// How deep a JSON text is nested, told before anything is built from it.
// Guarantees: linear, no recursion; brackets inside texts do not count.

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

export function isDeeperThan(text: string, most: number): boolean {
  let depth = 0;
  let inText = false;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text.charCodeAt(at);
    if (inText) {
      if (letter === BACKSLASH) at += 1;
      else if (letter === QUOTE) inText = false;
    } else if (letter === QUOTE) inText = true;
    else if (letter === OPEN_OBJECT || letter === OPEN_LIST) {
      depth += 1;
      if (depth > most) return true;
    } else if (letter === CLOSE_OBJECT || letter === CLOSE_LIST) depth -= 1;
  }
  return false;
}
