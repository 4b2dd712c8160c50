// Ids of job inputs as list and export columns: `input:<node>:<input>`. `*Class` is the first node of a class that has the input.
// Separate from job-inputs.ts, because browsers load this module with the first page.

export type InputId = `input:${string}:${string}`;
export const MAX_INPUTS = 8;
export const CLASS_MARK = "*";
const idPattern = /^input:(?:[\w.!~*'()-]|%[0-9A-F]{2}){1,300}:(?:[\w.!~*'()-]|%[0-9A-F]{2}){1,300}$/;

export function inputIdOf(node: string, input: string): InputId {
  return `input:${encodeURIComponent(node)}:${encodeURIComponent(input)}`;
}

export function readInputId(text: unknown): InputId | undefined {
  return typeof text === "string" && isInputId(text) && decodes(text) ? text : undefined;
}

/** Parses a comma-separated URL parameter. */
export function readInputIds(text: string): InputId[] {
  return [...new Set(text.split(",").flatMap((id) => readInputId(id) ?? []))].slice(0, MAX_INPUTS);
}

export function inputOf(id: InputId): { node: string; input: string; name: string } {
  const [, node = "", input = ""] = id.split(":").map(decodeURIComponent);
  return { node, input, name: `${node.startsWith(CLASS_MARK) ? node.slice(CLASS_MARK.length) : node}.${input}` };
}

function isInputId(text: string): text is InputId {
  return idPattern.test(text);
}

function decodes(text: string): boolean {
  try {
    return decodeURIComponent(text) !== "";
  } catch {
    return false;
  }
}
