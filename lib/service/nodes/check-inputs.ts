// Parses a prompt into nodes, and validates their inputs as they are read at run time.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { getOwn, type JsonObject } from "@/lib/contract/json/json";
import { type NodeError } from "@/lib/contract/schemas/execution";
import { graphNodeSchema } from "@/lib/contract/schemas/graph";
import { isLink } from "@/lib/contract/workflow/graph";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Choices, type InputField, type NodeLibrary, type NodeValue, type ParsedGraph, type ParsedNode } from "./definition";
import { toInputConfig } from "./library";
import { checkRange, type InputValue, quote, readInputValue, readLiteral } from "./literal";
import { findFileTexts, isPrivateName } from "./needs";

/** The error that rejects a whole prompt, in the format of POST /api/prompt. */
export type PromptError = { type: string; message: string; details: string; extra_info: Record<string, unknown> };

export function parsePrompt(prompt: Record<string, unknown>, library: NodeLibrary): Result<ParsedGraph, PromptError> {
  const entries = Object.entries(prompt);
  if (Array.isArray(prompt.nodes)) {
    return failed(
      createInvalidPromptError("This is a workflow in the editor's format. Export it in the API format and send that.", "nodes"),
    );
  }
  const parsedNodes = new Map<string, ParsedNode>();
  const unknownNodes: { node_id: string; class_type: string }[] = [];
  for (const [id, value] of entries) {
    if (hasNoClass(value)) return failed(createMissingTypeError(id, value));
    const result = graphNodeSchema.safeParse(value);
    if (!result.success)
      return failed(createInvalidPromptError(`Node '${id}' ${describeShapeProblem(value)}.`, `Node ID '#${id}'`, { node_id: id }));
    const definition = library.get(result.data.class_type);
    if (definition) parsedNodes.set(id, { id, node: result.data, definition });
    else unknownNodes.push({ node_id: id, class_type: result.data.class_type });
  }
  const unknownNode = unknownNodes[0];
  return unknownNode ? failed(createUnknownClassError(unknownNode, unknownNodes, prompt[unknownNode.node_id])) : ok(parsedNodes);
}

function describeShapeProblem(value: unknown): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "is not an object";
  return "has invalid inputs or an invalid title";
}

function createInvalidPromptError(message: string, details: string, extraInfo: Record<string, unknown> = {}): PromptError {
  return { type: "invalid_prompt", message, details, extra_info: extraInfo };
}

type UnparsedNode = { class_type?: unknown; _meta?: unknown };

function hasNoClass(value: unknown): value is UnparsedNode {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return !("class_type" in value) || typeof value.class_type !== "string";
}

function createMissingTypeError(id: string, value: UnparsedNode): PromptError {
  const title = graphNodeSchema.safeParse({ ...value, class_type: "" }).data?._meta?.title ?? null;
  return {
    type: "missing_node_type",
    message: `Node '${title ?? `ID #${id}`}' has no class_type. The graph is damaged, or was not exported in the API format.`,
    details: `Node ID '#${id}'`,
    extra_info: { node_id: id, class_type: null, node_title: title },
  };
}

type UnknownNode = { node_id: string; class_type: string };

function createUnknownClassError(firstNode: UnknownNode, unknownNodes: readonly UnknownNode[], value: unknown): PromptError {
  const title = graphNodeSchema.safeParse(value).data?._meta?.title;
  return {
    type: "missing_node_type",
    message: `Node '${title ?? firstNode.class_type}' not found. The service has no node class '${firstNode.class_type}'.`,
    details: `Node ID '#${firstNode.node_id}'`,
    extra_info: { ...firstNode, node_title: title ?? firstNode.class_type, missing_nodes: unknownNodes.slice(0, 100) },
  };
}

const MAX_CHOICES = 20;
const MAX_RECEIVED_LENGTH = 1000;

/** The user's files, keyed by the names that inputs use. */
export type Files = ReadonlyMap<string, { mediaType: string; isImage: boolean }>;

function isFileInput(field: InputField, definition: ParsedNode["definition"]): boolean {
  return field.name === definition.imageInput || field.isFileName === true;
}

export type CheckedNode = {
  errors: NodeError[];
  /** Ids of the existing nodes that its inputs read, including undeclared inputs of a class that accepts them. */
  sources: string[];
  literals: Map<string, unknown>;
  fileNames: string[];
};

export function checkInputs({ node, definition }: ParsedNode, graph: ParsedGraph, files: Files): CheckedNode {
  const checkedNode: CheckedNode = { errors: [], sources: [], literals: new Map(), fileNames: [] };
  for (const field of definition.inputs) {
    const value = getOwn(node.inputs, field.name);
    if (value === undefined || (value === null && field.optional)) {
      if (!field.optional) checkedNode.errors.push(createMissingInputError(field));
    } else if (Array.isArray(value)) {
      checkLink(field, value, graph, checkedNode);
    } else if (definition.isForeign) {
      checkForeign(field, node.inputs, files, checkedNode);
    } else if (isFileInput(field, definition)) {
      checkFile(field, value, files, checkedNode);
    } else if (!field.isOpen) {
      checkLiteral(field, readInputValue(node.inputs, field.name), checkedNode);
    }
  }
  if (definition.isForeign) checkedNode.fileNames.push(...findFileTexts(node, definition).filter((text) => files.has(text)));
  if (definition.acceptsUndeclared) checkedNode.sources.push(...getUndeclaredSources(node.inputs, definition.inputs, graph));
  return checkedNode;
}

/** The sources of inputs that a class adds as it needs them ("images.image0", "any_01"). */
function getUndeclaredSources(inputs: Record<string, unknown>, declaredInputs: readonly InputField[], graph: ParsedGraph): string[] {
  const names = new Set(declaredInputs.map(({ name }) => name));
  return Object.entries(inputs).flatMap(([name, value]) => (!names.has(name) && isLink(value) && graph.has(value[0]) ? [value[0]] : []));
}

function createMissingInputError(field: InputField): NodeError {
  return {
    type: "required_input_missing",
    message: "Required input is missing",
    details: field.name,
    extra_info: { input_name: field.name },
  };
}

function createInputError(
  field: InputField,
  error: { type: string; message: string; details: string },
  extraInfo: Record<string, unknown>,
): NodeError {
  const [type, options = {}] = toInputConfig(field);
  const receivedValue = "received_value" in extraInfo ? { received_value: shorten(extraInfo.received_value) } : {};
  return { ...error, extra_info: { input_name: field.name, input_config: [type, options], ...extraInfo, ...receivedValue } };
}

/** Shortens a long value, so that the error isn't as large as the request. */
function shorten(value: unknown): unknown {
  const text = typeof value === "string" ? value : writeExactJson(value);
  return text.length > MAX_RECEIVED_LENGTH ? `${text.slice(0, MAX_RECEIVED_LENGTH)}…` : value;
}

function checkLink(field: InputField, value: unknown[], graph: ParsedGraph, checkedNode: CheckedNode): void {
  const addLinkError = (message: string, details: string) =>
    checkedNode.errors.push(createInputError(field, { type: "bad_linked_input", message, details }, { received_value: value }));
  if (!isLink(value)) {
    addLinkError("Bad linked input, must be a length-2 list of [node_id, slot_index]", field.name);
    return;
  }
  const [sourceId, index] = value;
  const source = graph.get(sourceId);
  if (!source) {
    addLinkError("Bad linked input", `${field.name}, the node '${sourceId}' that it is linked to does not exist`);
    return;
  }
  checkedNode.sources.push(sourceId);
  const receivedType = source.definition.outputs[index]?.type;
  if (receivedType === undefined) {
    addLinkError("Bad linked input", `${field.name}, node '${sourceId}' (${source.definition.name}) has no output ${index}`);
  } else if (!isTypeCompatible(receivedType, field.type)) {
    const details = `${field.name}, received_type(${receivedType}) mismatch input_type(${field.type})`;
    const error = { type: "return_type_mismatch", message: "Return type mismatch between linked nodes", details };
    checkedNode.errors.push(createInputError(field, error, { received_type: receivedType, linked_node: value }));
  }
}

function checkFile(field: InputField, value: unknown, files: Files, checkedNode: CheckedNode): void {
  const file = typeof value === "string" ? files.get(value) : undefined;
  if (typeof value === "string" && file && (file.isImage || field.isFileName)) {
    checkedNode.fileNames.push(value);
    checkedNode.literals.set(field.name, value);
    return;
  }
  checkedNode.errors.push({
    type: "custom_validation_failed",
    message: "Custom validation failed for node",
    details: `${field.name} - Invalid image file: ${typeof value === "string" ? value.slice(0, MAX_RECEIVED_LENGTH) : quote(value)}${describeFile(file)}`,
    extra_info: {
      input_name: field.name,
      received_value: shorten(value),
      ...(file && { found_type: file.mediaType }),
    },
  });
}

/** ComfyUI writes "IMAGE,MASK" for either type. COMBO matches any type. COMFY_… types depend on other links, so the runner checks them. */
function isTypeCompatible(receivedType: string, expectedType: string): boolean {
  const [receivedTypes = [], expectedTypes = []] = [receivedType, expectedType].map((types) => types.split(",").map((type) => type.trim()));
  const isAny = (type: string) => type === "*" || type.startsWith("COMFY_");
  return (
    receivedType === "COMBO" ||
    [...receivedTypes, ...expectedTypes].some(isAny) ||
    receivedTypes.some((type) => expectedTypes.includes(type))
  );
}

/** Explains an error that occurs because a newer file with the same name hides an older image. */
function describeFile(file: { mediaType: string } | undefined): string {
  return file ? ` (this name refers to a ${file.mediaType} file, not an image that can be loaded)` : "";
}

/** ComfyUI doesn't apply lists and ranges to classes with their own checks, so the runner decides. */
function checkForeign(field: InputField, inputs: JsonObject, files: Files, checkedNode: CheckedNode): void {
  const value = getOwn(inputs, field.name);
  const isChoice = field.isFileName || field.type === "COMBO";
  if (isChoice && typeof value === "string" && isPrivateName(value) && !files.has(value) && !field.choices?.includes(value))
    checkFile(field, value, files, checkedNode);
  else if (!field.isOpen && !isChoice) convertLiteral(field, readInputValue(inputs, field.name), checkedNode);
}

function checkLiteral(field: InputField, input: InputValue, checkedNode: CheckedNode): void {
  const value = convertLiteral(field, input, checkedNode);
  if (value === undefined) return;
  const rangeError = checkRange(field, value);
  if (rangeError) checkedNode.errors.push(createInputError(field, { ...rangeError, details: field.name }, { received_value: value }));
  if (field.choices && !field.choices.some((choice) => choice === input.value))
    checkedNode.errors.push(createNotInListError(field, input.value, field.choices));
}

function convertLiteral(field: InputField, input: InputValue, checkedNode: CheckedNode): NodeValue {
  const { value } = input;
  const literal = readLiteral(field.type, input);
  if (!literal.ok) {
    const message = `Failed to convert an input value to a ${field.type} value`;
    const details = `${field.name}, ${typeof value === "string" ? value.slice(0, 200) : quote(value)}, ${literal.failure}`;
    const extraInfo = { received_value: value, exception_message: literal.failure };
    checkedNode.errors.push(createInputError(field, { type: "invalid_input_type", message, details }, extraInfo));
    return undefined;
  }
  // Inputs of any type (`*`) are not converted, because a number would lose its notation.
  if (field.type !== "*") checkedNode.literals.set(field.name, literal.value);
  return literal.value;
}

function createNotInListError(field: InputField, value: unknown, choices: Choices): NodeError {
  const isLongList = choices.length > MAX_CHOICES;
  const list = isLongList ? `(list of length ${choices.length})` : `[${choices.map((choice) => `'${choice}'`).join(", ")}]`;
  const details = `${field.name}: ${quote(value)} not in ${list}`;
  const extraInfo = { received_value: value, ...(isLongList ? { input_config: null } : {}) };
  return createInputError(field, { type: "value_not_in_list", message: "Value not in list", details }, extraInfo);
}
