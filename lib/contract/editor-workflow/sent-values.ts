import { asObject, getOwn } from "../json/json";
import { number } from "../json/readers";
import { getFallback } from "../nodes/dynamic-inputs";
import { isFileName, type WidgetFinder } from "../nodes/fill-texts";
import { findNearestOption, getInputType, getSettings, readInputSpec } from "../nodes/input-spec";
import { type ObjectInfo } from "../schemas/object-info";
import { asArray, createSlotFinder, type EditorFile, type EditorNode, type Net } from "./file";
import { readWidgets, type Widget } from "./values";

/** The editor's name for the values of a missing class, which the file stores only by index. */
export const UNNAMED = "UNKNOWN";

export type EditorProblem =
  | { code: "not_an_editor_file" }
  | { code: "too_many_nodes"; max: number }
  | { code: "missing_class"; nodeId: string; classType: string; title?: string; pack?: string; version?: string }
  | { code: "missing_subgraph"; nodeId: string; id: string }
  | { code: "duplicate_id"; nodeId: string; count: number }
  | { code: "value_not_listed"; nodeId: string; input: string; value: unknown; nearest?: string | number | boolean }
  | { code: "default_used"; nodeId: string; input: string }
  | { code: "value_missing"; nodeId: string; input: string }
  /** The link or its node is not in the file, or it forms a loop. */
  | { code: "broken_link"; nodeId: string; input: string }
  | { code: "bypass_passes_nothing"; nodeId: string; input: string }
  | { code: "not_set"; nodeId: string; input: string; name: string }
  /** The editor itself would round this number. */
  | { code: "digits_kept"; nodeId: string; input: string }
  /** A subgraph node is muted or bypassed inside another one, but the editor sends its inner nodes anyway. */
  | { code: "inside_of_off_sent"; nodeId: string }
  /** A node pack links nodes by its own rules, which are not in the file. */
  | { code: "links_by_rule" };

export type EditorNotice =
  { code: "left_out"; nodeId: string; classType: string; title?: string } | { code: "resolved"; nodeId: string; name: string };

export type EditorReport = { problems: readonly EditorProblem[]; notices: readonly EditorNotice[] };

/** Wraps lists, which would otherwise be read as links. Undefined if neither the file nor the class has a value. */
export function toSentValue(value: unknown, raw: unknown): unknown {
  const spec = value === null ? readInputSpec("", raw) : undefined;
  const firstValue = (spec?.kind === "choice" ? spec.options[0] : value) ?? getDefault(raw);
  // The editor's JSON has no negative zero.
  if (!Array.isArray(firstValue)) return firstValue === 0 ? 0 : firstValue;
  return getInputType(raw) === "CURVE" ? { __type__: "CURVE", __value__: firstValue } : { __value__: firstValue };
}

/** The editor's own limits, for classes without limits. */
const [DEFAULT_MIN, DEFAULT_MAX] = [0, 2048];
const MAX_DIGITS = 100;

/** Limits and rounds a number for a widget, as a PrimitiveNode does. Other values are returned unchanged. */
export function roundToStep(value: unknown, raw: unknown): unknown {
  const type = getInputType(raw);
  if (typeof value !== "number" || (type !== "INT" && type !== "FLOAT")) return value;
  const { min, max, step, round } = getSettings(raw);
  const clamp = (value: number, lowerBound = -Infinity, upperBound = Infinity) =>
    Math.min(Math.max(value, Number(min ?? lowerBound)), Number(max ?? upperBound));
  const clampedValue = clamp(value);
  if (type === "INT") {
    const stepSize = step || 1;
    const offset = Number(min ?? DEFAULT_MIN) % stepSize;
    return Math.round((clampedValue - offset) / stepSize) * stepSize + offset;
  }
  const digits = Math.min(MAX_DIGITS, Math.max(0, -Math.floor(Math.log10(step ?? 0.5))));
  const unit = number(round) || (digits > 0 ? 10 ** -digits : 0);
  return unit === 0 ? clampedValue : clamp(Number((Math.round(clampedValue / unit) * unit).toFixed(digits)), DEFAULT_MIN, DEFAULT_MAX);
}

export function getDefault(raw: unknown): unknown {
  return getSettings(raw).default ?? getFallback(raw);
}

export function findProblems({ name: input, raw, value }: Widget, nodeId: string): EditorProblem[] {
  if (value === undefined) return [{ code: getDefault(raw) === undefined ? "value_missing" : "default_used", nodeId, input }];
  if (typeof value === "bigint") return [{ code: "digits_kept", nodeId, input }];
  const spec = readInputSpec(input, raw);
  const { remote, remote_combo } = getSettings(raw);
  if (remote !== undefined || remote_combo !== undefined) return [];
  if (spec.kind !== "choice" || value === null || Array.isArray(value) || spec.options.some((option) => option === value)) return [];
  const nearest = findNearestOption(value, spec.options);
  return [{ code: "value_not_listed", nodeId, input, value, ...(nearest !== undefined && { nearest }) }];
}

type NodeEntry = { node: EditorNode; net: Net; primitives: ReadonlyMap<string, EditorNode>; values?: ReadonlyMap<string, unknown> };
const MAX_DEPTH = 50;

/** Resolves the node of a `%node.widget%` placeholder by its S&R name or class, then by its title. Inner nodes take precedence. */
export function createWidgetFinder(file: EditorFile, info: ObjectInfo): WidgetFinder {
  let index: { byName: Map<unknown, NodeEntry>; byTitle: Map<unknown, NodeEntry> } | undefined;

  function createIndex() {
    const byName = new Map<unknown, NodeEntry>();
    const byTitle = new Map<unknown, NodeEntry>();
    const visited = new Set<Net>();
    function addNodes(net: Net, depth: number): void {
      if (visited.has(net) || depth > MAX_DEPTH) return;
      visited.add(net);
      const primitives = new Map(net.nodes.flatMap((node) => (node.type === "PrimitiveNode" ? [[node.id, node] as const] : [])));
      for (const node of net.nodes) {
        const definition = file.definitions.get(node.type);
        if (definition) addNodes(definition, depth + 1);
        const entry = { net, primitives, node };
        const [name, title] = [getPlaceholderName(node), getTitle(node, info)];
        if (!byName.has(name)) byName.set(name, entry);
        if (!byTitle.has(title)) byTitle.set(title, entry);
      }
    }
    addNodes(file, 0);
    return { byName, byTitle };
  }

  return (name, widget) => {
    index ??= createIndex();
    const match = index.byName.get(name) ?? index.byTitle.get(name);
    if (match) match.values ??= getShownValues(match, info);
    return match?.values?.get(widget);
  };
}

function getShownValues({ node, net, primitives }: NodeEntry, info: ObjectInfo): ReadonlyMap<string, unknown> {
  const nodeInfo = getOwn(info, node.type);
  if (!nodeInfo) return new Map([["value", getFirstValue(node)]]);
  const findSlot = createSlotFinder(node.inputs);
  return new Map(
    readWidgets(node, nodeInfo).map(({ name, value, raw }) => {
      const primitive = primitives.get(net.links.get(findSlot(name)?.link ?? "")?.origin ?? "");
      return [name, roundToStep(primitive && getFirstValue(primitive), raw) ?? value ?? getDefault(raw)];
    }),
  );
}

function getFirstValue({ values }: EditorNode): unknown {
  return asObject(values)?.value ?? asArray(values)[0];
}

function getPlaceholderName({ type, properties }: EditorNode): unknown {
  const hasPrefix = isFileName({ class_type: type, inputs: {} }, "filename_prefix");
  return properties["Node name for S&R"] ?? (hasPrefix ? undefined : type);
}

function getTitle({ title, type }: EditorNode, info: ObjectInfo): string | undefined {
  return title ?? getOwn(info, type)?.display_name;
}
