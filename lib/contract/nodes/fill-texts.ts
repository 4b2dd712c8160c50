// Texts that the editor replaces on submission: `%date:yyyy-MM-dd%` and `%Node.widget%` in file names, `{a|b}` in prompts.

import { copySpellings } from "../json/exact-json";
import { getOwn } from "../json/json";
import { type Graph, type GraphNode } from "../schemas/graph";
import { type ObjectInfo } from "../schemas/object-info";
import { listInputs } from "./dynamic-inputs";
import { getSettings } from "./input-spec";

export type FillOptions = { at: Date; draw: number };
export type WidgetFinder = (node: string, widget: string) => unknown;
export type FilledText = { nodeId: string; name: string; text: string };

export const FILENAME_INPUT = "filename_prefix";
const writerClasses = new Set([
  ...["SaveImage", "SaveVideo", "SaveAnimatedWEBP", "SaveWEBM", "SaveAudio", "SaveGLB", "SaveAnimatedPNG"],
  ...["CLIPSave", "VAESave", "ModelSave", "LoraSave", "SaveLatent"],
]);

export function isFileName({ class_type }: GraphNode, name: string): boolean {
  return name === FILENAME_INPUT && writerClasses.has(class_type);
}

/** Returns only texts that change. `createFinder` is called if a text names a node, because the editor's file has more names. */
export function fillTexts(
  graph: Graph,
  catalogue: ObjectInfo | undefined,
  { at, draw }: FillOptions,
  createFinder: (graph: Graph) => WidgetFinder = createGraphFinder,
): FilledText[] {
  let cachedFinder: WidgetFinder | undefined;
  const findWidgetValue: WidgetFinder = (name, widget) => (cachedFinder ??= createFinder(graph))(name, widget);
  return Object.entries(graph).flatMap(([nodeId, node]) =>
    Object.entries(node.inputs).flatMap(([name, value]) => {
      if (typeof value !== "string") return [];
      const text = isFileName(node, name)
        ? replacePlaceholders(value, at, findWidgetValue)
        : isDynamicPrompt(node, name, catalogue)
          ? drawChoices(value, `${draw} ${nodeId} ${name}`)
          : value;
      return text === value ? [] : [{ nodeId, name, text }];
    }),
  );
}

export function replaceTexts(graph: Graph, texts: readonly FilledText[]): Graph {
  const filledNodes = new Map(Object.entries(graph));
  for (const { nodeId, name, text } of texts) {
    const node = filledNodes.get(nodeId);
    if (node) filledNodes.set(nodeId, { ...node, inputs: copySpellings(node.inputs, { ...node.inputs, [name]: text }) });
  }
  return texts.length === 0 ? graph : Object.fromEntries(filledNodes);
}

export function containsTime(graph: Graph): boolean {
  return Object.values(graph).some((node) => isFileName(node, FILENAME_INPUT) && String(node.inputs[FILENAME_INPUT]).includes("%date:"));
}

function isDynamicPrompt(node: GraphNode, name: string, catalogue: ObjectInfo | undefined): boolean {
  const value = getOwn(node.inputs, name);
  if (typeof value !== "string" || !/[{}\\/]/.test(value)) return false;
  const raw = listInputs(getOwn(catalogue, node.class_type), node.inputs).find((input) => input.name === name)?.raw;
  return getSettings(raw).dynamicPrompts ?? false;
}

function createGraphFinder(graph: Graph): WidgetFinder {
  const nodes = Object.values(graph).reverse();
  const [titles, classes] = [
    nodes.map((node) => [node._meta?.title, node] as const),
    nodes.map((node) => [node.class_type, node] as const),
  ];
  const nodesByName = new Map<string | undefined, GraphNode>([...titles, ...classes]);
  return (name, widget) => getOwn(nodesByName.get(name)?.inputs, widget);
}

export function replacePlaceholders(value: string, date: Date, findWidgetValue: WidgetFinder): string {
  return value.replace(/%([^%]+)%/g, (match, text: string) => {
    const [name = "", widgetName, ...otherParts] = text.split(".");
    if (widgetName === undefined || otherParts.length > 0)
      return name.startsWith("date:") ? formatDate(name.slice("date:".length), date) : match;
    const widgetValue = findWidgetValue(name, widgetName);
    if (widgetValue === undefined || typeof widgetValue === "object") return match;
    return String(widgetValue).replace(/[/?<>\\:*|"\x00-\x1f\x7f]/g, "_");
  });
}

function formatDate(format: string, date: Date): string {
  const parts: Readonly<Record<string, number>> = {
    d: date.getDate(),
    M: date.getMonth() + 1,
    h: date.getHours(),
    m: date.getMinutes(),
    s: date.getSeconds(),
  };
  return format.replace(/dd?|MM?|hh?|mm?|ss?|yyyy|yy/g, (text) => {
    if (text.startsWith("y")) return String(date.getFullYear()).slice(text === "yy" ? 2 : 0);
    return String(parts[text.charAt(0)] ?? "").padStart(text.length, "0");
  });
}

/** Removes comments, replaces each group in braces with a random option for `seed`, and resolves backslash escapes. */
export function drawChoices(text: string, seed: string): string {
  const random = createRandom(seed);
  const textWithoutComments = removeComments(text);
  const outerOptions: string[][] = [];
  let options = [""];
  const append = (suffix: string) => void (options[options.length - 1] += suffix);
  const endGroup = () => {
    const choice = options[Math.floor(random() * options.length)] ?? "";
    options = outerOptions.pop() ?? [""];
    append(choice);
  };
  for (let position = 0; position < textWithoutComments.length; position++) {
    const character = textWithoutComments.charAt(position);
    const nextCharacter = textWithoutComments.charAt(position + 1);
    if (character === "\\") {
      append(/[{}|]/.test(nextCharacter) ? nextCharacter : character + nextCharacter);
      position += 1;
    } else if (character === "{") {
      outerOptions.push(options);
      options = [""];
    } else if (outerOptions.length > 0 && character === "|") options.push("");
    else if (outerOptions.length > 0 && character === "}") endGroup();
    else append(character);
  }
  while (outerOptions.length > 0) endGroup();
  return options.join("");
}

function removeComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?(?:\*\/|$)|\/\/.*/g, (comment) =>
    comment.startsWith("//") || (comment.length > 3 && comment.endsWith("*/")) ? "" : comment.replace(/\/\/.*/g, ""),
  );
}

/** Returns a generator of numbers from 0 to 1 with 53 bits, seeded by a text (FNV-1a, then xorshift). */
export function createRandom(seed: string): () => number {
  let state = 2166136261;
  for (const character of seed) state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 16777619) >>> 0;
  const nextBits = (bits: number) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> (32 - bits);
  };
  return () => (nextBits(27) * 2 ** 26 + nextBits(26)) / 2 ** 53;
}
