// A graph as a form: its nodes in dependency order, each input with a control. The control depends on the service's catalogue if known,
// otherwise on the value's type.

import { copySpellings } from "@/lib/contract/json/exact-json";
import { getOwn, isObject } from "@/lib/contract/json/json";
import { isDynamic, listInputs } from "@/lib/contract/nodes/dynamic-inputs";
import { createRandom } from "@/lib/contract/nodes/fill-texts";
import { type ChoiceValue, guessKind, type InputSpec, type Limit, type Media, readInputSpec, WHITE } from "@/lib/contract/nodes/input-spec";
import { decodePercent } from "@/lib/contract/plain-line";
import { type Graph, type GraphNode, type Link } from "@/lib/contract/schemas/graph";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { getNodeName, isLink, isSeedName } from "@/lib/contract/workflow/graph";

export type Control =
  | { kind: "link"; fromId: string; fromTitle: string; output: number; outputName?: string }
  /** The node requires a link here, which a form can't set. */
  | { kind: "unconnected"; type: string }
  | { kind: "text" }
  | { kind: "long-text" }
  | { kind: "number"; integer: boolean; min?: Limit; max?: Limit; step?: number; isSlider?: boolean; preset?: number }
  /** An integer, or `random` for a new number with every run. */
  | { kind: "seed"; random: string; label: string }
  | { kind: "switch" }
  /** `addsInputs`: each choice adds its own inputs. `labels`: the options' names, if they differ from the values. */
  | { kind: "choice"; options: readonly ChoiceValue[]; labels?: readonly string[]; addsInputs?: true }
  | { kind: "color"; min?: Limit; max?: Limit }
  | { kind: "hex-color" }
  /** `options`: the server's pictures. `hasMask`: false if no mask may be drawn. */
  | { kind: "image"; options?: readonly ChoiceValue[]; hasMask?: boolean }
  | { kind: "media"; media: Media; options?: readonly ChoiceValue[] }
  /** { x, y, width, height } in pixels. */
  | { kind: "box" }
  /** A literal list or object: shown, not edited. */
  | { kind: "fixed" };

export type FormField = { name: string; value: unknown; control: Control };

export type FormNode = {
  id: string;
  title: string;
  classType: string;
  /** False if the service's catalogue lacks this class. */
  isKnown: boolean;
  fields: FormField[];
};

const MAX_LINE_LENGTH = 200;

/**
 * Builds the form of one opened workflow. Controls are chosen once, from the original graph, so that a number field stays one while it is
 * empty. Unchanged nodes return the same object, so that typing renders only one card.
 */
export function createFormBuilder(originalGraph: Graph, order: readonly string[], catalogue?: ObjectInfo): (graph: Graph) => FormNode[] {
  const templates = order.flatMap((id) => {
    const node = getOwn(originalGraph, id);
    return node ? [createFormNode(id, node, { graph: originalGraph, catalogue })] : [];
  });
  const formsByNode = new WeakMap<GraphNode, FormNode>();
  return (graph) =>
    templates.map((template) => {
      const node = getOwn(graph, template.id);
      if (!node) return template;
      // The value of a dynamic choice decides which inputs the node has.
      const isDynamicNode = isDynamic(getOwn(catalogue, node.class_type));
      const form =
        formsByNode.get(node) ?? (isDynamicNode ? createFormNode(template.id, node, { graph, catalogue }) : fillTemplate(template, node));
      formsByNode.set(node, form);
      return form;
    });
}

function fillTemplate(template: FormNode, node: GraphNode): FormNode {
  return { ...template, fields: template.fields.map((field) => ({ ...field, value: getOwn(node.inputs, field.name) })) };
}

/** Changes one input. Every other node stays the same object, so that only one card renders again. */
export function withInput(graph: Graph, nodeId: string, name: string, value: unknown): Graph {
  const node = getOwn(graph, nodeId);
  if (!node || getOwn(node.inputs, name) === value) return graph;
  return { ...graph, [nodeId]: { ...node, inputs: copySpellings(node.inputs, { ...node.inputs, [name]: value }) } };
}

export function withInputs(graph: Graph, edits: readonly { nodeId: string; name: string; value: unknown }[]): Graph {
  return edits.reduce((currentGraph, { nodeId, name, value }) => withInput(currentGraph, nodeId, name, value), graph);
}

type Context = { graph: Graph; catalogue: ObjectInfo | undefined };

function createFormNode(id: string, node: GraphNode, context: Context): FormNode {
  const info = getOwn(context.catalogue, node.class_type);
  const inputs = listInputs(info, node.inputs);
  const specs = new Map(inputs.map(({ name, raw }) => [name, readInputSpec(name, raw)]));
  const isNested = (name: string) => name.includes(".");
  const missingInputs = inputs.filter(({ name, isRequired }) => (isRequired || isNested(name)) && !Object.hasOwn(node.inputs, name));
  return {
    id,
    title: getNodeName(node, info?.display_name),
    classType: node.class_type,
    isKnown: !context.catalogue || info !== undefined,
    fields: [
      ...Object.entries(node.inputs).map(([name, value]) => ({
        name,
        value,
        control: createControl({ node, name, value, spec: specs.get(name) }, context),
      })),
      ...missingInputs.map(({ name }) => ({ name, value: undefined, control: createAbsentControl(specs.get(name)) })),
    ],
  };
}

type NodeInput = { node: GraphNode; name: string; value: unknown; spec: InputSpec | undefined };

function createControl({ node, name, value, spec }: NodeInput, { graph, catalogue }: Context): Control {
  if (isLink(value)) return createLinkControl(value, graph, catalogue);
  if (spec?.kind === "box" && isObject(value)) return { kind: "box" };
  if (typeof value === "object" && value !== null) return { kind: "fixed" };
  // A long text gets a large field, whatever its type in the catalogue.
  if (spec?.kind === "text" && typeof value === "string" && value.length > MAX_LINE_LENGTH) return { kind: "long-text" };
  // A checkbox can show only true and false.
  const canShowValue = spec?.kind !== "boolean" || typeof value === "boolean";
  if (spec && spec.kind !== "connection" && canShowValue) return createSpecControl(spec);
  return guessControl(node.class_type, name, value);
}

function createAbsentControl(spec: InputSpec | undefined): Control {
  return spec && spec.kind !== "connection" ? createSpecControl(spec) : { kind: "unconnected", type: spec?.type ?? "*" };
}

function createLinkControl([fromId, output]: Link, graph: Graph, catalogue: ObjectInfo | undefined): Control {
  const source = getOwn(graph, fromId);
  const info = source && getOwn(catalogue, source.class_type);
  const names = info?.output_name;
  const outputName = Array.isArray(names) ? names[output] : output === 0 ? names : undefined;
  return {
    kind: "link",
    fromId,
    fromTitle: source ? getNodeName(source, info?.display_name) : "",
    output,
    ...(outputName && { outputName }),
  };
}

function createSpecControl(spec: Exclude<InputSpec, { kind: "connection" }>): Control {
  switch (spec.kind) {
    case "text":
      return { kind: spec.multiline ? "long-text" : "text" };
    case "boolean":
      return { kind: "switch" };
    case "choice":
      if (spec.image) return { kind: "image", options: spec.options };
      return spec.media
        ? { kind: "media", media: spec.media, options: spec.options }
        : { kind: "choice", options: spec.options, ...(spec.addsInputs && { addsInputs: true }) };
    case "hex-color":
    case "box":
      return { kind: spec.kind };
    case "number": {
      const { integer, min, max, step } = spec;
      const limits = { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
      return spec.color ? { kind: "color", ...limits } : { kind: "number", integer, ...limits, ...(step !== undefined && { step }) };
    }
  }
}

function guessControl(classType: string, name: string, value: unknown): Control {
  if (typeof value === "number" && /^colou?r$/i.test(name) && Number.isInteger(value) && value >= 0 && value <= WHITE)
    return { kind: "color" };
  const kind = guessKind(classType, name, value);
  switch (kind) {
    case "picture":
      return { kind: "image" };
    case "whole":
    case "number":
      return { kind: "number", integer: kind === "whole" };
    default:
      return { kind: kind ?? "fixed" };
  }
}

/** The id of a node's card. Elements are looked up by id instead of a selector, since node ids may contain any character. */
export function getNodeDomId(nodeId: string): string {
  return `node-${nodeId}`;
}

export function getFieldDomId(nodeId: string, name: string): string {
  return `field-${nodeId}-${name}`;
}

export function toNodeHash(nodeId: string): string {
  return `#${encodeURIComponent(getNodeDomId(nodeId))}`;
}

export function parseNodeHash(hash: string): string | undefined {
  return /^node-(.+)$/s.exec(decodePercent(hash.slice(1)) ?? "")?.[1];
}

export function focusProblem({ nodeId, field }: { nodeId: string; field?: string }): void {
  const card = document.getElementById(getNodeDomId(nodeId));
  const control = field === undefined ? null : document.getElementById(getFieldDomId(nodeId, field));
  const target = control ?? card;
  target?.focus({ preventScroll: true });
  target?.scrollIntoView?.({ block: "center" });
}

// Seed inputs and their new values.

const MAX_SEED = 2 ** 32 - 1;

export function isSeed(name: string, control: Control): boolean {
  return control.kind === "number" && isSeedName(name);
}

/** Returns an integer within the service's range that is exact as a JSON number. */
export function drawRandomSeed(control: Control, random: () => number = Math.random): number {
  const { min, max } = control.kind === "number" ? control : {};
  const minSeed = Math.max(0, Math.ceil(Number(min ?? 0)));
  const maxSeed = Math.min(Math.floor(Number(max ?? MAX_SEED)), Number.MAX_SAFE_INTEGER);
  return maxSeed <= minSeed ? minSeed : minSeed + Math.floor(random() * (maxSeed - minSeed + 1));
}

export type SeedEdit = { nodeId: string; name: string; value: number };

/** Draws a value for each seed that changes with every run. The same draw index returns the same values. */
export function drawSeedEdits(
  form: readonly FormNode[],
  isRandomised: (nodeId: string, name: string) => boolean,
  drawIndex: number,
): SeedEdit[] {
  return form.flatMap(({ id, fields }) =>
    fields.flatMap(({ name, control }) =>
      isSeed(name, control) && isRandomised(id, name)
        ? [{ nodeId: id, name, value: drawRandomSeed(control, createRandom(`${drawIndex} ${id} ${name}`)) }]
        : [],
    ),
  );
}

/** False for links and literals, which the form only shows. */
export function isEditable({ control }: FormField): boolean {
  return !["link", "unconnected", "fixed"].includes(control.kind);
}
