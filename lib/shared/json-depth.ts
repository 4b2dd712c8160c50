// Bounds on a JSON text's depth and size, checked before it is parsed.

const COMMA = 44;
const COLON = 58;
const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** Graph and drawing of five thousand nodes need two thirds of it. Longer bodies hold up the process. */
export const bodyBounds = { names: 250_000, values: 1_000_000 } as const;
export const LARGE_BODY = 256 * 1024;

type Bounds = { depth?: number; names?: number; values?: number };

export function exceededBound(
  text: string,
  { depth: deepest = Infinity, names: mostNames = Infinity, values: maxValues = Infinity }: Bounds,
) {
  let depth = 0;
  let names = 0;
  let values = 0;
  let inText = false;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text.charCodeAt(at);
    if (inText) {
      if (letter === BACKSLASH) at += 1;
      else if (letter === QUOTE) inText = false;
    } else if (letter === QUOTE) inText = true;
    else if (letter === COMMA) values += 1;
    else if (letter === COLON) names += 1;
    else if (letter === OPEN_OBJECT || letter === OPEN_LIST) {
      depth += 1;
      values += 1;
      if (depth > deepest) return "depth";
    } else if (letter === CLOSE_OBJECT || letter === CLOSE_LIST) depth -= 1;
    if (values > maxValues) return "values";
    if (names > mostNames) return "names";
  }
  return undefined;
}

export function isDeeperThan(text: string, depth: number): boolean {
  return exceededBound(text, { depth }) === "depth";
}
