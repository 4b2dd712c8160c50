// Tables as CSV (RFC 4180) for people who open them in a spreadsheet.
// Guarantees: pure; every line has as many cells as the header; no cell is read as a formula, whoever wrote its text.
// The apostrophe before such a cell is what spreadsheets themselves use for "this is text".

/** Spreadsheets read UTF-8 as such only where a file begins with it. */
export const BYTE_ORDER_MARK = "\uFEFF";

export type Cell = string | number | undefined;

export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(toCell).join(",")}\r\n`;
}

/** Numbers are ours and stay numbers; a text may come from outside. The wide forms are read as formulas in East Asian settings. */
function toCell(value: Cell): string {
  if (value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r\n＝＋－＠]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
