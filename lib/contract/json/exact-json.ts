// JSON without loss: a whole number that a double cannot hold becomes a BigInt, and is written with exactly the digits it came with.
// Seeds go to 18446744073709551615; JSON.parse makes 18446744073709552000 of that. Free of zod: browsers load it with the first page.
// Guarantees: accepts and refuses what JSON.parse does; reads and writes all else as JSON does; linear, and no slower without long numbers.
// Must never: be replaced by JSON.stringify for a value that may hold a graph or metadata: that throws on a BigInt.

const QUOTE = 34;
const BACKSLASH = 92;
/** The shortest whole number beyond Number.MAX_SAFE_INTEGER has 16 digits. */
const longRun = /\d{16}/;
const number = /-?\d+(\.\d+)?([eE][+-]?\d+)?/y;
/** Longer numbers are read as JSON.parse reads them: the digits of a hostile one are not worth the time. */
const MOST_DIGITS = 1000;

/**
 * Throws SyntaxError as JSON.parse does. `T`: for a text whose shape was checked before; as with JSON.parse, the caller names it.
 * `empty`: what an empty text means, if it is allowed.
 */
export function parseExactJson<T = unknown>(text: string, empty?: { means: undefined }): T {
  const read = { value: empty && text === "" ? empty.means : JSON.parse(text) };
  const quoted = longRun.test(text) ? quoteLongIntegers(text) : undefined;
  // Two readings of one text: where one has a number and the other a string, the string has the exact digits.
  if (quoted !== undefined) restore(read, { value: JSON.parse(quoted) });
  return read.value;
}

/** Like JSON.stringify; a value that JSON cannot express (undefined, a function) becomes null. */
export function writeExactJson(value: unknown, indent = 0): string {
  try {
    // eslint-disable-next-line no-restricted-syntax -- this is the writer
    return JSON.stringify(value, null, indent) ?? "null";
  } catch (error) {
    // A cycle is the caller's mistake, and write() would not end on it either.
    if (!(error instanceof TypeError) || !/bigint/i.test(error.message)) throw error;
    return write(value, indent, "\n") ?? "null";
  }
}

/** The text with long whole numbers in quotes; undefined if it has none. */
function quoteLongIntegers(text: string): string | undefined {
  const parts: string[] = [];
  let done = 0;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = afterString(text, at);
    } else if (code === 45 || (code >= 48 && code <= 57)) {
      number.lastIndex = at;
      const [digits = "", fraction, exponent] = number.exec(text) ?? [];
      if (fraction === undefined && exponent === undefined && isLong(digits)) {
        parts.push(text.slice(done, at), `"${digits}"`);
        done = at + digits.length;
      }
      at += digits.length;
    } else at += 1;
  }
  return done === 0 ? undefined : parts.join("") + text.slice(done);
}

function isLong(digits: string): boolean {
  return digits.length >= 16 && digits.length <= MOST_DIGITS && !Number.isSafeInteger(Number(digits));
}

function afterString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) return at + 1;
  }
  return text.length;
}

/** Both trees were made here and have one shape: the first is changed in place. No recursion: the sender chooses the depth. */
function restore(rounded: object, quoted: object): void {
  const open: [unknown, unknown][] = [[rounded, quoted]];
  for (let pair = open.pop(); pair; pair = open.pop()) {
    const [values, texts] = pair;
    if (!isRecord(values) || !isRecord(texts)) continue;
    for (const key of Object.keys(values)) {
      const value = values[key];
      const text = texts[key];
      if (typeof value === "object") open.push([value, text]);
      else if (typeof value === "number" && typeof text === "string") values[key] = BigInt(text);
    }
  }
}

/** True for lists too: their indexes are keys. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** `line` is the line break with the indent of the value; undefined for values that JSON leaves out. */
function write(value: unknown, indent: number, line: string): string | undefined {
  if (typeof value === "bigint") return String(value);
  // eslint-disable-next-line no-restricted-syntax -- this is the writer
  if (!isRecord(value) || typeof value.toJSON === "function") return JSON.stringify(value);
  const inner = line + " ".repeat(indent);
  const colon = indent > 0 ? ": " : ":";
  const isList = Array.isArray(value);
  const items = isList
    ? value.map((item: unknown) => write(item, indent, inner) ?? "null")
    : Object.entries(value).flatMap(([key, item]) => {
        const text = write(item, indent, inner);
        // eslint-disable-next-line no-restricted-syntax -- this is the writer
        return text === undefined ? [] : [JSON.stringify(key) + colon + text];
      });
  const [first, last] = isList ? "[]" : "{}";
  if (items.length === 0) return `${first}${last}`;
  return indent > 0 ? `${first}${inner}${items.join(`,${inner}`)}${line}${last}` : `${first}${items.join(",")}${last}`;
}
