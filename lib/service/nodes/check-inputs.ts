// Parses a prompt into nodes, and validates their inputs as they are read at run time.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { own } from "@/lib/contract/json/own";
import { type NodeError } from "@/lib/contract/schemas/execution";
import { graphNodeSchema } from "@/lib/contract/schemas/graph";
import { isLink } from "@/lib/contract/workflow/graph";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Choices, type InputField, type NodeLibrary, type NodeValue, type ParsedGraph, type ParsedNode } from "./definition";
import { inputConfig } from "./library";
import { checkRange, quoted, readLiteral, unwrapLiteral } from "./literal";
import { fileTexts, isPrivateName } from "./needs";

/** The error that refuses a whole prompt, in the shape that POST /api/prompt answers. */
export type PromptError = { type: string; message: string; details: string; extra_info: Record<string, unknown> };

export function parsePrompt(prompt: Record<string, unknown>, library: NodeLibrary): Result<ParsedGraph, PromptError> {
  const entries = Object.entries(prompt);
  if (Array.isArray(prompt.nodes)) {
    return failed(invalid("This is a workflow in the editor's format. Export it in the API format and send that.", "nodes"));
  }
  const parsed = new Map<string, ParsedNode>();
  const missing: { node_id: string; class_type: string }[] = [];
  for (const [id, value] of entries) {
    if (isWithoutClass(value)) return failed(withoutClass(id, value));
    const shape = graphNodeSchema.safeParse(value);
    if (!shape.success) return failed(invalid(`Node '${id}' ${shapeProblem(value)}.`, `Node ID '#${id}'`, { node_id: id }));
    const definition = library.get(shape.data.class_type);
    if (definition) parsed.set(id, { id, node: shape.data, definition });
    else missing.push({ node_id: id, class_type: shape.data.class_type });
  }
  const first = missing[0];
  return first ? failed(missingClass(first, missing, prompt[first.node_id])) : ok(parsed);
}

function shapeProblem(value: unknown): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "is not an object";
  return "has inputs or a title in a shape that cannot be read";
}

function invalid(message: string, details: string, extra: Record<string, unknown> = {}): PromptError {
  return { type: "invalid_prompt", message, details, extra_info: extra };
}

type UnparsedNode = { class_type?: unknown; _meta?: unknown };

function isWithoutClass(value: unknown): value is UnparsedNode {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return !("class_type" in value) || typeof value.class_type !== "string";
}

function withoutClass(id: string, value: UnparsedNode): PromptError {
  const title = graphNodeSchema.safeParse({ ...value, class_type: "" }).data?._meta?.title ?? null;
  return {
    type: "missing_node_type",
    message: `Node '${title ?? `ID #${id}`}' has no class_type. The graph is damaged, or was not exported in the API format.`,
    details: `Node ID '#${id}'`,
    extra_info: { node_id: id, class_type: null, node_title: title },
  };
}

type UnknownNode = { node_id: string; class_type: string };

function missingClass(first: UnknownNode, all: readonly UnknownNode[], value: unknown): PromptError {
  const title = graphNodeSchema.safeParse(value).data?._meta?.title;
  return {
    type: "missing_node_type",
    message: `Node '${title ?? first.class_type}' not found. The service has no node class '${first.class_type}'.`,
    details: `Node ID '#${first.node_id}'`,
    extra_info: { ...first, node_title: title ?? first.class_type, missing_nodes: all.slice(0, 100) },
  };
}

const MAX_CHOICES = 20;
const MAX_RECEIVED_LENGTH = 1000;

/** What the file names in the inputs mean. */
export type Files = ReadonlyMap<string, { mediaType: string; isImage: boolean }>;

function namesFile(field: InputField, definition: ParsedNode["definition"]): boolean {
  return field.name === definition.imageInput || field.namesFile === true;
}

export type CheckedNode = {
  errors: NodeError[];
  /** Ids of the existing nodes that its inputs read: the declared inputs, and the others of a class that takes more. */
  sources: string[];
  literals: Map<string, unknown>;
  fileNames: string[];
};

export function checkInputs({ node, definition }: ParsedNode, graph: ParsedGraph, files: Files): CheckedNode {
  const checked: CheckedNode = { errors: [], sources: [], literals: new Map(), fileNames: [] };
  for (const field of definition.inputs) {
    const value = own(node.inputs, field.name);
    if (value === undefined || (value === null && field.optional)) {
      if (!field.optional) checked.errors.push(missing(field));
    } else if (Array.isArray(value)) {
      checkLink(field, value, graph, checked);
    } else if (definition.isForeign) {
      checkForeign(field, value, files, checked);
    } else if (namesFile(field, definition)) {
      checkFile(field, value, files, checked);
    } else if (!field.isOpen) {
      checkLiteral(field, unwrapLiteral(value), checked);
    }
  }
  if (definition.isForeign) checked.fileNames.push(...fileTexts(node, definition).filter((text) => files.has(text)));
  if (definition.takesMore) checked.sources.push(...undeclaredSources(node.inputs, definition.inputs, graph));
  return checked;
}

/** The sources of inputs that a class adds as it needs them ("images.image0", "any_01"). */
function undeclaredSources(inputs: Record<string, unknown>, declared: readonly InputField[], graph: ParsedGraph): string[] {
  const names = new Set(declared.map(({ name }) => name));
  return Object.entries(inputs).flatMap(([name, value]) => (!names.has(name) && isLink(value) && graph.has(value[0]) ? [value[0]] : []));
}

function missing(field: InputField): NodeError {
  return {
    type: "required_input_missing",
    message: "Required input is missing",
    details: field.name,
    extra_info: { input_name: field.name },
  };
}

function problem(field: InputField, error: { type: string; message: string; details: string }, extra: Record<string, unknown>): NodeError {
  const [type, options = {}] = inputConfig(field);
  const received = "received_value" in extra ? { received_value: shortened(extra.received_value) } : {};
  return { ...error, extra_info: { input_name: field.name, input_config: [type, options], ...extra, ...received } };
}

/** The received value, cut if it is so long that the refusal would be as large as the request. */
function shortened(value: unknown): unknown {
  const text = typeof value === "string" ? value : writeExactJson(value);
  return text.length > MAX_RECEIVED_LENGTH ? `${text.slice(0, MAX_RECEIVED_LENGTH)}…` : value;
}

function checkLink(field: InputField, value: unknown[], graph: ParsedGraph, checked: CheckedNode): void {
  const linkError = (message: string, details: string) =>
    checked.errors.push(problem(field, { type: "bad_linked_input", message, details }, { received_value: value }));
  if (!isLink(value)) {
    linkError("Bad linked input, must be a length-2 list of [node_id, slot_index]", field.name);
    return;
  }
  const [sourceId, index] = value;
  const source = graph.get(sourceId);
  if (!source) {
    linkError("Bad linked input", `${field.name}, the node '${sourceId}' that it is linked to does not exist`);
    return;
  }
  checked.sources.push(sourceId);
  const received = source.definition.outputs[index]?.type;
  if (received === undefined) {
    linkError("Bad linked input", `${field.name}, node '${sourceId}' (${source.definition.name}) has no output ${index}`);
  } else if (!fits(received, field.type)) {
    const details = `${field.name}, received_type(${received}) mismatch input_type(${field.type})`;
    const error = { type: "return_type_mismatch", message: "Return type mismatch between linked nodes", details };
    checked.errors.push(problem(field, error, { received_type: received, linked_node: value }));
  }
}

function checkFile(field: InputField, value: unknown, files: Files, checked: CheckedNode): void {
  const file = typeof value === "string" ? files.get(value) : undefined;
  if (typeof value === "string" && file && (file.isImage || field.namesFile)) {
    checked.fileNames.push(value);
    checked.literals.set(field.name, value);
    return;
  }
  checked.errors.push({
    type: "custom_validation_failed",
    message: "Custom validation failed for node",
    details: `${field.name} - Invalid image file: ${typeof value === "string" ? value.slice(0, MAX_RECEIVED_LENGTH) : quoted(value)}${describeFile(file)}`,
    extra_info: {
      input_name: field.name,
      received_value: shortened(value),
      ...(file && { found_type: file.mediaType }),
    },
  });
}

/** ComfyUI writes "IMAGE,MASK" for either type. COMBO always fits. COMFY_… depends on what is linked, and is decided at the runner. */
function fits(received: string, expectedType: string): boolean {
  const [receivedTypes = [], taken = []] = [received, expectedType].map((types) => types.split(",").map((type) => type.trim()));
  const isAny = (type: string) => type === "*" || type.startsWith("COMFY_");
  return received === "COMBO" || [...receivedTypes, ...taken].some(isAny) || receivedTypes.some((type) => taken.includes(type));
}

/** A newer file of the same name may hide an older image; nothing else in the refusal would say so. */
function describeFile(file: { mediaType: string } | undefined): string {
  return file ? ` (the file that this name means is ${file.mediaType}, not an image that can be loaded)` : "";
}

/** ComfyUI doesn't apply lists and ranges to classes with their own checks, so the runner decides. */
function checkForeign(field: InputField, value: unknown, files: Files, checked: CheckedNode): void {
  const chooses = field.namesFile || field.type === "COMBO";
  if (chooses && typeof value === "string" && isPrivateName(value) && !files.has(value) && !field.choices?.includes(value))
    checkFile(field, value, files, checked);
  else if (!field.isOpen && !chooses) convert(field, unwrapLiteral(value), checked);
}

function checkLiteral(field: InputField, rawValue: unknown, checked: CheckedNode): void {
  const value = convert(field, rawValue, checked);
  if (value === undefined) return;
  const range = checkRange(field, value);
  if (range) checked.errors.push(problem(field, { ...range, details: field.name }, { received_value: value }));
  if (field.choices && !field.choices.some((choice) => choice === rawValue)) checked.errors.push(notInList(field, rawValue, field.choices));
}

function convert(field: InputField, value: unknown, checked: CheckedNode): NodeValue {
  const literal = readLiteral(field.type, value);
  if (!literal.ok) {
    const message = `Failed to convert an input value to a ${field.type} value`;
    const details = `${field.name}, ${typeof value === "string" ? value.slice(0, 200) : quoted(value)}, ${literal.failure}`;
    const extra = { received_value: value, exception_message: literal.failure };
    checked.errors.push(problem(field, { type: "invalid_input_type", message, details }, extra));
    return undefined;
  }
  checked.literals.set(field.name, literal.value);
  return literal.value;
}

function notInList(field: InputField, value: unknown, choices: Choices): NodeError {
  const many = choices.length > MAX_CHOICES;
  const list = many ? `(list of length ${choices.length})` : `[${choices.map((choice) => `'${choice}'`).join(", ")}]`;
  const details = `${field.name}: ${quoted(value)} not in ${list}`;
  const extra = { received_value: value, ...(many ? { input_config: null } : {}) };
  return problem(field, { type: "value_not_in_list", message: "Value not in list", details }, extra);
}
