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
  // Small first, for a capital that has no other ("ẞ"); then each capital by itself, because one letter may have become two.
  const capitals = letter.toLowerCase().toUpperCase();
  return Array.from(capitals, (capital) => capital.toLowerCase()).join("");
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

/** Spreadsheets read a file as UTF-8 only if it begins with this. */
export const BYTE_ORDER_MARK = "\uFEFF";

export type Cell = string | number | undefined;

export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(toCell).join(",")}\r\n`;
}

/** Numbers are our own and stay numbers; a text may come from outside. East Asian settings also read the wide signs as formulas. */
function toCell(value: Cell): string {
  if (value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r\n＝＋－＠]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function toUuid(hex: string, version: 4 | 5 | 8): string {
  const variant = ((Number.parseInt(hex[16] ?? "0", 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${version}${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** PostgreSQL rejects NUL, and SQLite texts are read only up to it before Node 24. */
export function storable(value: unknown): unknown {
  if (typeof value === "string") return value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
  return Array.isArray(value) ? value.map(storable) : value;
}

export function readTags(text: string): string[] {
  return [...new Set(text.split(/[,\n，]/).map((tag) => tag.trim()))].filter((tag) => tag !== "");
}

/** 128 random bits. `randomUUID` exists only on secure pages, and a console in a local network may not be one. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function newUuid(): string {
  return toUuid(newIdempotencyKey(), 4);
}
