// Parses the arguments of an ICU message, to compare languages.
export type IcuArgument = { name: string; kind: "value" | "number" | "plural" | "select" | "tag"; cases: string[] };

/** All arguments in order, including nested ones. Throws if braces do not match. */
export function icuArguments(message: string): IcuArgument[] {
  const args: IcuArgument[] = [...message.matchAll(/<([a-z]+)>/g)].map(([, name = ""]) => ({ name, kind: "tag", cases: [] }));
  readText(withoutQuotes(message), 0, 0, args);
  return args;
}

/** `'{'` quotes a literal brace; an apostrophe elsewhere is an apostrophe. */
function withoutQuotes(message: string): string {
  return message.replace(/'[{}][^']*'/g, "");
}

function readText(text: string, from: number, depth: number, icuArguments: IcuArgument[]): number {
  let at = from;
  while (at < text.length && text[at] !== "}") at = text[at] === "{" ? readArgument(text, at + 1, depth, icuArguments) : at + 1;
  if (depth === 0 && at < text.length) throw new Error(`a brace too many in: ${text}`);
  if (depth > 0 && at >= text.length) throw new Error(`a brace too few in: ${text}`);
  return at;
}

function readArgument(text: string, from: number, depth: number, icuArguments: IcuArgument[]): number {
  const [head = "", name = "", kind] = /^\s*(\w+)\s*(?:,\s*(\w+)\s*,?)?/.exec(text.slice(from)) ?? [];
  if (name === "") throw new Error(`an argument without a name in: ${text}`);
  if (kind !== "plural" && kind !== "select") {
    icuArguments.push({ name, kind: kind === "number" ? "number" : "value", cases: [] });
    const end = text.indexOf("}", from);
    if (end < 0) throw new Error(`a brace too few in: ${text}`);
    return end + 1;
  }
  const argument: IcuArgument = { name, kind, cases: [] };
  icuArguments.push(argument);
  let at = from + head.length;
  for (;;) {
    const match = /^\s*([\w=]+)\s*\{/.exec(text.slice(at));
    if (!match) break;
    argument.cases.push(match[1] ?? "");
    at = readText(text, at + match[0].length, depth + 1, icuArguments) + 1;
  }
  return text.indexOf("}", at) + 1;
}
