// Tables as CSV (RFC 4180) for people who open them in a spreadsheet.
// Guarantees: pure; every line has as many cells as the header; no cell is read as a formula, whoever wrote its text.
// The apostrophe before such a cell is the spreadsheets' own sign for "this is text".

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
