// Limits on the depth and size of a JSON text, checked before parsing.

const COMMA = 44;
const COLON = 58;
const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** A graph of five thousand nodes with its editor layout needs two thirds of this. Larger bodies would block the process. */
export const bodyBounds = { names: 250_000, values: 1_000_000 } as const;
export const LARGE_BODY_LENGTH = 256 * 1024;

type Bounds = { depth?: number; names?: number; values?: number };

export function findExceededBound(
  text: string,
  { depth: maxDepth = Infinity, names: maxNames = Infinity, values: maxValues = Infinity }: Bounds,
) {
  let depth = 0;
  let names = 0;
  let values = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (isInString) {
      if (code === BACKSLASH) index += 1;
      else if (code === QUOTE) isInString = false;
    } else if (code === QUOTE) isInString = true;
    else if (code === COMMA) values += 1;
    else if (code === COLON) names += 1;
    else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      depth += 1;
      values += 1;
      if (depth > maxDepth) return "depth";
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) depth -= 1;
    if (values > maxValues) return "values";
    if (names > maxNames) return "names";
  }
  return undefined;
}

export function isDeeperThan(text: string, depth: number): boolean {
  return findExceededBound(text, { depth }) === "depth";
}
