// Statements are built for SQLite, with a `?` for each value; PostgreSQL needs numbers.

const MOST_KNOWN = 400;
const known = new Map<string, string>();

/** A `?` in a text or in a quoted name stays as it is. */
export function numbered(text: string): string {
  const found = known.get(text);
  if (found !== undefined) return found;
  let count = 0;
  const result = text.replaceAll(/'[^']*'|"[^"]*"|\?/g, (part) => (part === "?" ? `$${(count += 1)}` : part));
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(text, result);
  return result;
}
