// Parses JSON without loss: 5.0 and 5 differ for a Python service, and seeds can have 20 digits (docs/decisions/0014).

import { storeSpellings } from "./exact-json";

const QUOTE = 34;
const BACKSLASH = 92;
const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const COLON = 58;
const number = /^-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
/** JavaScript writes these unchanged: up to 15 digits, and no trailing zero. Anything else is compared. */
const plainDecimal = /^-?(?:0\.0{0,5}[1-9]\d{0,8}|[1-9]\d{0,7}\.\d{0,6})(?<!0)$/;
/** Larger whole numbers are doubles with a spelling: exact arithmetic on them is not worth the time. */
const MAX_BIGINT_DIGITS = 1000;
/** A graph of five thousand nodes and its editor file have fewer than 30,000. */
export const maxExactNumbers = { text: 50_000, answer: 100_000 } as const;
const MAX_EXACT_LENGTH = 20;

/** `means`: the value of an empty text, if that is allowed. `maxNumbers`: the maximum number of exact numbers. */
type Options = { means?: undefined; maxNumbers?: number };

export class TooManyExactNumbers extends RangeError {
  constructor(
    readonly maxNumbers: number,
    readonly excess = `more than ${maxNumbers} long or unusually written numbers, or ${maxNumbers * MAX_EXACT_LENGTH} digits in them`,
  ) {
    super(`The JSON has ${excess}.`);
  }
}

/** Throws SyntaxError, and TooManyExactNumbers before parsing. The caller names the type, as with JSON.parse. */
export function parseExactJson<T = unknown>(text: string, options: Options = {}): T {
  const exact = findExactNumbers(text, options.maxNumbers ?? maxExactNumbers.answer);
  // Parsed once: each exact number becomes a string with a prefix that no sender can know.
  const mark = Math.random().toString(36).slice(2, 10).padEnd(8, "_");
  const marked = exact.length === 0 ? text : markNumbers(text, exact, mark);
  const parsed = { value: "means" in options && text === "" ? options.means : JSON.parse(marked) };
  if (exact.length > 0) restoreNumbers(parsed, mark);
  return parsed.value;
}

export function parseJson(text: string): unknown {
  try {
    return parseExactJson(text, { maxNumbers: maxExactNumbers.text });
  } catch {
    return undefined;
  }
}

/** Also parses NaN and Infinity, as null. Throws SyntaxError, and TooManyExactNumbers beyond `maxNumbers`. */
export function readLenientJson<T = unknown>(text: string, maxNumbers: number = maxExactNumbers.text): T {
  try {
    return parseExactJson<T>(text, { maxNumbers });
  } catch (error) {
    if (error instanceof TooManyExactNumbers) throw error;
    return parseExactJson<T>(withoutNaN(text), { maxNumbers });
  }
}

export function parseServiceJson<T = unknown>(text: string): T {
  return readLenientJson<T>(text, maxExactNumbers.answer);
}

export function parseLenientJson(text: string): unknown {
  try {
    return readLenientJson(text);
  } catch {
    return undefined;
  }
}

const textOrNaN = /"[^"\\]*(?:\\[^][^"\\]*)*"|-?\b(?:NaN|Infinity)\b/g;

export function withoutNaN(text: string, as: "null" | "0" = "null"): string {
  return text.replace(textOrNaN, (match) => (match.startsWith('"') ? match : as.padEnd(match.length)));
}

function findExactNumbers(text: string, maxNumbers: number): number[] {
  const positions: number[] = [];
  let characters = 0;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = afterString(text, at);
      continue;
    }
    if (code !== MINUS && !isDigit(code)) {
      at += 1;
      continue;
    }
    const end = afterNumber(text, at);
    // In place of a key, leave it for JSON.parse to reject.
    if (isExact(text, at, end) && text.charCodeAt(afterBlank(text, end)) !== COLON) {
      characters += end - at;
      if (positions.length >= 2 * maxNumbers || characters > maxNumbers * MAX_EXACT_LENGTH) throw new TooManyExactNumbers(maxNumbers);
      positions.push(at, end);
    }
    at = end;
  }
  return positions;
}

function markNumbers(text: string, exact: readonly number[], mark: string): string {
  let marked = "";
  let done = 0;
  for (let index = 0; index < exact.length; index += 2) {
    const [start = 0, end = 0] = [exact[index], exact[index + 1]];
    marked += `${text.slice(done, start)}"${mark}${text.slice(start, end)}"`;
    done = end;
  }
  return marked + text.slice(done);
}

function isExact(text: string, start: number, end: number): boolean {
  const first = text.charCodeAt(start) === MINUS ? start + 1 : start;
  if (isDigits(text, first, end)) {
    // Up to 15 digits is by far the most common case. -0 is the exception, and 01 is rejected later.
    if (end - first < 16) return first > start && end - first === 1 && text.charCodeAt(first) === ZERO;
    return text.charCodeAt(first) !== ZERO && (end - first > 16 || !Number.isSafeInteger(Number(text.slice(start, end))));
  }
  const digits = text.slice(start, end);
  return !isPlain(digits) && number.test(digits);
}

const isDigit = (code: number) => code >= 48 && code <= 57;

function afterNumber(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (!isDigit(code) && code !== POINT && code !== 101 && code !== 69 && code !== 43 && code !== MINUS) break;
  }
  return at;
}

function isDigits(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (!isDigit(text.charCodeAt(at))) return false;
  return true;
}

function isPlain(digits: string): boolean {
  return plainDecimal.test(digits) || (digits.length <= 25 && String(Number(digits)) === digits);
}

function isUnsafe(digits: string): boolean {
  if (digits.length < 16 || !isDigits(digits, digits.startsWith("-") ? 1 : 0, digits.length)) return false;
  return !Number.isSafeInteger(Number(digits));
}

function afterBlank(text: string, start: number): number {
  let at = start;
  while (text.charCodeAt(at) <= 32) at += 1;
  return at;
}

function afterString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) return at + 1;
  }
  return text.length;
}

/** No recursion: the sender controls the depth. */
function restoreNumbers(root: object, mark: string): void {
  const open: object[] = [root];
  let own: Map<string | number, string> | undefined;
  for (let container = open.pop(); container; container = open.pop()) {
    own = undefined;
    // Index lists directly: a key string per entry would dominate the run time.
    if (Array.isArray(container)) for (let at = 0; at < container.length; at += 1) restore(container, at, container[at]);
    else for (const key of Object.keys(container)) restore(container, key, Reflect.get(container, key));
    if (own) storeSpellings(container, own);
  }

  function restore(holder: object, key: string | number, value: unknown): void {
    if (typeof value === "object" && value !== null) open.push(value);
    else if (typeof value === "string" && value.startsWith(mark)) {
      const digits = value.slice(mark.length);
      const isExact = digits.length <= MAX_BIGINT_DIGITS && isUnsafe(digits);
      // Defined, not assigned: the key may be __proto__.
      if (key === "__proto__") Object.defineProperty(holder, key, { value: isExact ? BigInt(digits) : Number(digits) });
      else Reflect.set(holder, key, isExact ? BigInt(digits) : Number(digits));
      if (!isExact) (own ??= new Map()).set(key, digits);
    }
  }
}
