const blank = /[ \t\r\n]*/y;
const string = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y;
const openString = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*/y;
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** Offset of the first invalid character; the text's length when it ends too early; -1 for valid JSON. */
export function findJsonError(text: string): number {
  const open: ("{" | "[")[] = [];
  let at = skip(blank, text, 0);
  for (;;) {
    const first = text[at];
    if (first === "{" || first === "[") {
      const inside = skip(blank, text, at + 1);
      if (text[inside] !== (first === "{" ? "}" : "]")) {
        open.push(first);
        at = first === "{" ? readKey(text, inside) : inside;
        if (at < 0) return -at - 1;
        continue;
      }
      at = inside + 1;
    } else {
      const end = skip(first === '"' ? string : scalar, text, at);
      if (end === at) return first === '"' ? brokenString(text, at) : at;
      at = end;
    }
    at = skip(blank, text, at);
    while (open.length > 0 && text[at] === (open.at(-1) === "{" ? "}" : "]")) {
      open.pop();
      at = skip(blank, text, at + 1);
    }
    if (open.length === 0) return at === text.length ? -1 : at;
    if (text[at] !== ",") return at;
    at = skip(blank, text, at + 1);
    if (open.at(-1) === "{") at = readKey(text, at);
    if (at < 0) return -at - 1;
  }
}

export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const lines = before.split(/\r\n|\r|\n/);
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

function readKey(text: string, at: number): number {
  if (text[at] !== '"') return -at - 1;
  const end = skip(string, text, at);
  if (end === at) return -brokenString(text, at) - 1;
  const colon = skip(blank, text, end);
  return text[colon] === ":" ? skip(blank, text, colon + 1) : -colon - 1;
}

/** For a text that is never closed, or holds a raw line break or a bad escape: the place of the fault, not of the opening quote. */
function brokenString(text: string, at: number): number {
  return skip(openString, text, at);
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

const token = /"[^"\\]*(?:\\[^][^"\\]*)*"|[{}[\],:]/g;
const MAX_COUNT = 100;

export function duplicateKeys(text: string, path: readonly string[]): string[] {
  const seen = new Set<string>();
  const twice = new Set<string>();
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
      if (seen.has(key) && twice.size < MAX_COUNT) twice.add(key);
      seen.add(key);
    }
  }
  return [...twice];
}
