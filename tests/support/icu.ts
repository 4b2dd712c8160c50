// Parses the arguments of an ICU message, to compare languages.
export type IcuArgument = { name: string; kind: "value" | "number" | "plural" | "select" | "tag"; cases: string[] };

/** Returns all arguments in order, including nested ones. Throws if braces don't match. */
export function parseIcuArguments(message: string): IcuArgument[] {
  const args: IcuArgument[] = [...message.matchAll(/<([a-z]+)>/g)].map(([, name = ""]) => ({ name, kind: "tag", cases: [] }));
  readText(removeQuotes(message), 0, 0, args);
  return args;
}

/** `'{'` quotes a literal brace. Any other apostrophe is literal. */
function removeQuotes(message: string): string {
  return message.replace(/'[{}][^']*'/g, "");
}

function readText(text: string, from: number, depth: number, args: IcuArgument[]): number {
  let index = from;
  while (index < text.length && text[index] !== "}") index = text[index] === "{" ? readArgument(text, index + 1, depth, args) : index + 1;
  if (depth === 0 && index < text.length) throw new Error(`unmatched closing brace in: ${text}`);
  if (depth > 0 && index >= text.length) throw new Error(`missing closing brace in: ${text}`);
  return index;
}

function readArgument(text: string, from: number, depth: number, args: IcuArgument[]): number {
  const [head = "", name = "", kind] = /^\s*(\w+)\s*(?:,\s*(\w+)\s*,?)?/.exec(text.slice(from)) ?? [];
  if (name === "") throw new Error(`argument without a name in: ${text}`);
  if (kind !== "plural" && kind !== "select") {
    args.push({ name, kind: kind === "number" ? "number" : "value", cases: [] });
    const end = text.indexOf("}", from);
    if (end < 0) throw new Error(`missing closing brace in: ${text}`);
    return end + 1;
  }
  const argument: IcuArgument = { name, kind, cases: [] };
  args.push(argument);
  let index = from + head.length;
  for (;;) {
    const match = /^\s*([\w=]+)\s*\{/.exec(text.slice(index));
    if (!match) break;
    argument.cases.push(match[1] ?? "");
    index = readText(text, index + match[0].length, depth + 1, args) + 1;
  }
  return text.indexOf("}", index) + 1;
}
