// Finds duplicate keys within an object of a JSON text: every parser keeps the last one and silently drops the others.
// Guarantees: linear; no recursion; expects a text that parsed as JSON, NaN and Infinity included.

const token = /"[^"\\]*(?:\\[^][^"\\]*)*"|[{}[\],:]/g;
const MOST = 100;

/** `path`: the keys that lead to the object, with "0" for a list's first entry. */
export function duplicateKeys(text: string, path: readonly string[]): string[] {
  const seen = new Set<string>();
  const twice = new Set<string>();
  /** The current key at each level. */
  const open: string[] = [];
  const isList: boolean[] = [];
  let isKey = false;
  for (const [sign] of text.matchAll(token)) {
    if (sign === "{" || sign === "[") {
      isList.push(sign === "[");
      open.push("0");
      isKey = sign === "{";
    } else if (sign === "}" || sign === "]") {
      isList.pop();
      open.pop();
      isKey = false;
    } else if (sign === ",") isKey = isList.at(-1) === false;
    else if (sign === ":") isKey = false;
    else if (isKey && open.length <= path.length + 1) {
      const key = String(JSON.parse(sign));
      open[open.length - 1] = key;
      if (open.length !== path.length + 1 || path.some((name, at) => open[at] !== name)) continue;
      if (seen.has(key) && twice.size < MOST) twice.add(key);
      seen.add(key);
    }
  }
  return [...twice];
}
