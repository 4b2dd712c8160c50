// Statements are built for SQLite, with a `?` for each value; PostgreSQL needs numbers.

import { createLru } from "@/lib/shared/lru";

const known = createLru<string, string>({ max: 400 });

/** A `?` in a text or in a quoted name stays as it is. */
export function numbered(text: string): string {
  const found = known.get(text);
  if (found !== undefined) return found;
  let count = 0;
  const result = text.replaceAll(/'[^']*'|"[^"]*"|\?/g, (part) => (part === "?" ? `$${(count += 1)}` : part));
  known.set(text, result);
  return result;
}
