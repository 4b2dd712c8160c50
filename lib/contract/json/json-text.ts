const blankPattern = /[ \t\r\n]*/y;
const stringPattern = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y;
const stringStartPattern = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*/y;
const scalarPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** The offset of the first invalid character, or the text's length if the text is incomplete. -1 for valid JSON. */
export function findJsonError(text: string): number {
  const openBrackets: ("{" | "[")[] = [];
  let position = skip(blankPattern, text, 0);
  for (;;) {
    const character = text[position];
    if (character === "{" || character === "[") {
      const innerStart = skip(blankPattern, text, position + 1);
      if (text[innerStart] !== (character === "{" ? "}" : "]")) {
        openBrackets.push(character);
        position = character === "{" ? readKey(text, innerStart) : innerStart;
        if (position < 0) return -position - 1;
        continue;
      }
      position = innerStart + 1;
    } else {
      const end = skip(character === '"' ? stringPattern : scalarPattern, text, position);
      if (end === position) return character === '"' ? findStringError(text, position) : position;
      position = end;
    }
    position = skip(blankPattern, text, position);
    while (openBrackets.length > 0 && text[position] === (openBrackets.at(-1) === "{" ? "}" : "]")) {
      openBrackets.pop();
      position = skip(blankPattern, text, position + 1);
    }
    if (openBrackets.length === 0) return position === text.length ? -1 : position;
    if (text[position] !== ",") return position;
    position = skip(blankPattern, text, position + 1);
    if (openBrackets.at(-1) === "{") position = readKey(text, position);
    if (position < 0) return -position - 1;
  }
}

export function getLineAndColumn(text: string, offset: number): { line: number; column: number } {
  const precedingText = text.slice(0, offset);
  const lines = precedingText.split(/\r\n|\r|\n/);
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

function readKey(text: string, start: number): number {
  if (text[start] !== '"') return -start - 1;
  const end = skip(stringPattern, text, start);
  if (end === start) return -findStringError(text, start) - 1;
  const colon = skip(blankPattern, text, end);
  return text[colon] === ":" ? skip(blankPattern, text, colon + 1) : -colon - 1;
}

/** The position of the error in a string that is not closed, or has a line break or an invalid escape. */
function findStringError(text: string, start: number): number {
  return skip(stringStartPattern, text, start);
}

function skip(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : start;
}

const tokenPattern = /"[^"\\]*(?:\\[^][^"\\]*)*"|[{}[\],:]/g;
const MAX_DUPLICATES = 100;

export function findDuplicateKeys(text: string, path: readonly string[]): string[] {
  const keys = new Set<string>();
  const duplicates = new Set<string>();
  const openPath: string[] = [];
  const listFlags: boolean[] = [];
  let isKey = false;
  for (const [token] of text.matchAll(tokenPattern)) {
    if (token === "{" || token === "[") {
      listFlags.push(token === "[");
      openPath.push("0");
      isKey = token === "{";
    } else if (token === "}" || token === "]") {
      listFlags.pop();
      openPath.pop();
      isKey = false;
    } else if (token === ",") isKey = listFlags.at(-1) === false;
    else if (token === ":") isKey = false;
    else if (isKey && openPath.length <= path.length + 1) {
      const key = String(JSON.parse(token));
      openPath[openPath.length - 1] = key;
      if (openPath.length !== path.length + 1 || path.some((name, index) => openPath[index] !== name)) continue;
      if (keys.has(key) && duplicates.size < MAX_DUPLICATES) duplicates.add(key);
      keys.add(key);
    }
  }
  return [...duplicates];
}
