// Parses JSON without loss: 5.0 and 5 differ for a Python service, and seeds can have 20 digits (docs/decisions/0014).

import { storeSpellings } from "./exact-json";

const QUOTE = 34;
const BACKSLASH = 92;
const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const COLON = 58;
const numberPattern = /^-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
/** Numbers that JavaScript writes unchanged: up to 15 digits, and no trailing zero. Other numbers are compared with JavaScript's output. */
const plainDecimalPattern = /^-?(?:0\.0{0,5}[1-9]\d{0,8}|[1-9]\d{0,7}\.\d{0,6})(?<!0)$/;
/** Larger integers become doubles with their source text, because exact arithmetic on them is slow. */
const MAX_BIGINT_DIGITS = 1000;
/** A graph of five thousand nodes and its editor file have fewer than 30,000 exact numbers. */
export const maxExactNumbers = { text: 50_000, response: 100_000 } as const;
const MAX_EXACT_LENGTH = 20;

/** `emptyValue`: the value of an empty text, if empty texts are allowed. `maxNumbers`: the maximum number of exact numbers. */
type Options = { emptyValue?: undefined; maxNumbers?: number };

export class TooManyExactNumbersError extends RangeError {
  constructor(
    readonly maxNumbers: number,
    readonly excess = `more than ${maxNumbers} long or unusually written numbers, or ${maxNumbers * MAX_EXACT_LENGTH} digits in them`,
  ) {
    super(`The JSON has ${excess}.`);
  }
}

/** Throws SyntaxError, and TooManyExactNumbersError before parsing. The caller chooses the type, as for JSON.parse. */
export function parseExactJson<T = unknown>(text: string, options: Options = {}): T {
  const exactPositions = findExactNumbers(text, options.maxNumbers ?? maxExactNumbers.response);
  // Parsed in one pass: each exact number becomes a string with a prefix that senders cannot guess.
  const prefix = Math.random().toString(36).slice(2, 10).padEnd(8, "_");
  const prefixedText = exactPositions.length === 0 ? text : prefixNumbers(text, exactPositions, prefix);
  const root = { value: "emptyValue" in options && text === "" ? options.emptyValue : JSON.parse(prefixedText) };
  if (exactPositions.length > 0) restoreNumbers(root, prefix);
  return root.value;
}

export function parseJson(text: string): unknown {
  try {
    return parseExactJson(text, { maxNumbers: maxExactNumbers.text });
  } catch {
    return undefined;
  }
}

/** Also parses NaN and Infinity, as null. Throws SyntaxError, and TooManyExactNumbersError beyond `maxNumbers`. */
export function parseLenient<T = unknown>(text: string, maxNumbers: number = maxExactNumbers.text): T {
  try {
    return parseExactJson<T>(text, { maxNumbers });
  } catch (error) {
    if (error instanceof TooManyExactNumbersError) throw error;
    return parseExactJson<T>(replaceNaN(text), { maxNumbers });
  }
}

export function parseServiceJson<T = unknown>(text: string): T {
  return parseLenient<T>(text, maxExactNumbers.response);
}

export function parseLenientJson(text: string): unknown {
  try {
    return parseLenient(text);
  } catch {
    return undefined;
  }
}

const stringOrNanPattern = /"[^"\\]*(?:\\[^][^"\\]*)*"?|-?\b(?:NaN|Infinity)\b/g;

export function replaceNaN(text: string, replacement: "null" | "0" = "null"): string {
  return text.replace(stringOrNanPattern, (match) => (match.startsWith('"') ? match : replacement.padEnd(match.length)));
}

function findExactNumbers(text: string, maxNumbers: number): number[] {
  const positions: number[] = [];
  let characterCount = 0;
  for (let position = 0; position < text.length;) {
    const code = text.charCodeAt(position);
    if (code === QUOTE) {
      position = findStringEnd(text, position);
      continue;
    }
    if (code !== MINUS && !isDigit(code)) {
      position += 1;
      continue;
    }
    const end = findNumberEnd(text, position);
    // A number in place of a key is left for JSON.parse to reject.
    if (isExact(text, position, end) && text.charCodeAt(skipWhitespace(text, end)) !== COLON) {
      characterCount += end - position;
      if (positions.length >= 2 * maxNumbers || characterCount > maxNumbers * MAX_EXACT_LENGTH)
        throw new TooManyExactNumbersError(maxNumbers);
      positions.push(position, end);
    }
    position = end;
  }
  return positions;
}

function prefixNumbers(text: string, exactPositions: readonly number[], prefix: string): string {
  let output = "";
  let copiedEnd = 0;
  for (let index = 0; index < exactPositions.length; index += 2) {
    const [start = 0, end = 0] = [exactPositions[index], exactPositions[index + 1]];
    output += `${text.slice(copiedEnd, start)}"${prefix}${text.slice(start, end)}"`;
    copiedEnd = end;
  }
  return output + text.slice(copiedEnd);
}

function isExact(text: string, start: number, end: number): boolean {
  const firstDigit = text.charCodeAt(start) === MINUS ? start + 1 : start;
  if (isDigits(text, firstDigit, end)) {
    // Up to 15 digits is by far the most common case. -0 is the exception, and 01 is rejected later.
    if (end - firstDigit < 16) return firstDigit > start && end - firstDigit === 1 && text.charCodeAt(firstDigit) === ZERO;
    return text.charCodeAt(firstDigit) !== ZERO && (end - firstDigit > 16 || !Number.isSafeInteger(Number(text.slice(start, end))));
  }
  const digits = text.slice(start, end);
  return !canRoundTrip(digits) && numberPattern.test(digits);
}

const isDigit = (code: number) => code >= 48 && code <= 57;

function findNumberEnd(text: string, start: number): number {
  let position = start + 1;
  for (; position < text.length; position += 1) {
    const code = text.charCodeAt(position);
    if (!isDigit(code) && code !== POINT && code !== 101 && code !== 69 && code !== 43 && code !== MINUS) break;
  }
  return position;
}

function isDigits(text: string, start: number, end: number): boolean {
  for (let index = start; index < end; index += 1) if (!isDigit(text.charCodeAt(index))) return false;
  return true;
}

function canRoundTrip(digits: string): boolean {
  return plainDecimalPattern.test(digits) || (digits.length <= 25 && String(Number(digits)) === digits);
}

function isUnsafeInteger(digits: string): boolean {
  if (digits.length < 16 || !isDigits(digits, digits.startsWith("-") ? 1 : 0, digits.length)) return false;
  return !Number.isSafeInteger(Number(digits));
}

function skipWhitespace(text: string, start: number): number {
  let position = start;
  while (text.charCodeAt(position) <= 32) position += 1;
  return position;
}

function findStringEnd(text: string, start: number): number {
  for (let position = start + 1; position < text.length; position += 1) {
    const code = text.charCodeAt(position);
    if (code === BACKSLASH) position += 1;
    else if (code === QUOTE) return position + 1;
  }
  return text.length;
}

/** Not recursive, because the sender controls the depth. */
function restoreNumbers(root: object, prefix: string): void {
  const stack: object[] = [root];
  let spellings: Map<string | number, string> | undefined;
  for (let container = stack.pop(); container; container = stack.pop()) {
    spellings = undefined;
    // Lists are indexed directly, because a key string per entry would be slow.
    if (Array.isArray(container)) for (let index = 0; index < container.length; index += 1) restore(container, index, container[index]);
    else for (const key of Object.keys(container)) restore(container, key, Reflect.get(container, key));
    if (spellings) storeSpellings(container, spellings);
  }

  function restore(target: object, key: string | number, value: unknown): void {
    if (typeof value === "object" && value !== null) stack.push(value);
    else if (typeof value === "string" && value.startsWith(prefix)) {
      const digits = value.slice(prefix.length);
      const isBigInt = digits.length <= MAX_BIGINT_DIGITS && isUnsafeInteger(digits);
      // Defined instead of assigned, because the key may be __proto__.
      if (key === "__proto__") Object.defineProperty(target, key, { value: isBigInt ? BigInt(digits) : Number(digits) });
      else Reflect.set(target, key, isBigInt ? BigInt(digits) : Number(digits));
      if (!isBigInt) (spellings ??= new Map()).set(key, digits);
    }
  }
}
