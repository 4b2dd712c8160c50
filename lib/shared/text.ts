/** Case folding preserves this letter, although its uppercase form is I. */
const DOTLESS_I = "ı";

export function foldName(name: string): string {
  const text = name.normalize("NFC");
  // Fold each letter alone, because its lower case can depend on neighbours (a final sigma), which differ in substrings.
  const foldedName = isAscii(text) ? text.toLowerCase() : Array.from(text, foldLetter).join("");
  return foldedName.normalize("NFC");
}

function foldLetter(letter: string): string {
  if (letter === DOTLESS_I) return letter;
  // Lower case first, for capitals such as "ẞ". Then each capital separately, because one letter may have become two.
  const capitals = letter.toLowerCase().toUpperCase();
  return Array.from(capitals, (capital) => capital.toLowerCase()).join("");
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

/** For English API, command and log texts. UI texts are in lib/messages. */
export function formatCount(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`;
}

/** Spreadsheets read a file as UTF-8 only if it begins with this character. */
export const BYTE_ORDER_MARK = "\uFEFF";

export type Cell = string | number | undefined;

export function formatCsvLine(cells: readonly Cell[]): string {
  return `${cells.map(formatCell).join(",")}\r\n`;
}

/** Escapes formulas, because texts may be untrusted. In East Asian locales, full-width signs also start formulas. */
function formatCell(value: Cell): string {
  if (value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r\n＝＋－＠]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function toUuid(hex: string, version: 4 | 5 | 8): string {
  const variant = ((Number.parseInt(hex[16] ?? "0", 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${version}${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Replaces NUL, which PostgreSQL rejects and which ends SQLite texts before Node 24. */
export function toStorableText(value: unknown): unknown {
  if (typeof value === "string") return value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
  return Array.isArray(value) ? value.map(toStorableText) : value;
}

export function parseTags(text: string): string[] {
  return [...new Set(text.split(/[,\n，]/).map((tag) => tag.trim()))].filter((tag) => tag !== "");
}

/** Returns 128 random bits. `randomUUID` exists only in secure contexts, which consoles in a local network may not be. */
export function createIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function createUuid(): string {
  return toUuid(createIdempotencyKey(), 4);
}

// Formats sizes. The locale is a parameter, so that server and browser return the same text.

const byteUnits = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte", "petabyte"] as const;

export function formatBytes(bytes: number, locale = "en"): string {
  if (!Number.isFinite(bytes) || bytes < 0) return "–";
  let value = bytes;
  let unitIndex = 0;
  // 999.9 kB would be written "1,000 kB", so the next unit is used if rounding reaches it.
  while (unitIndex < byteUnits.length - 1 && Math.round(value) >= 1000) {
    value /= 1000;
    unitIndex++;
  }
  const maximumFractionDigits = unitIndex === 0 || value >= 100 ? 0 : 1;
  return getFormatter(locale, unitIndex, maximumFractionDigits).format(value);
}

/** Cached, because creating a formatter is slow. */
const formatters = new Map<string, Intl.NumberFormat>();

function getFormatter(locale: string, unit: number, maximumFractionDigits: number): Intl.NumberFormat {
  const key = `${locale} ${unit} ${maximumFractionDigits}`;
  const cachedFormatter = formatters.get(key);
  if (cachedFormatter) return cachedFormatter;
  // The short form of a byte has no plural: "17 byte".
  const unitDisplay = unit === 0 ? "long" : "short";
  const formatter = new Intl.NumberFormat(locale, { style: "unit", unit: byteUnits[unit], unitDisplay, maximumFractionDigits });
  formatters.set(key, formatter);
  return formatter;
}
