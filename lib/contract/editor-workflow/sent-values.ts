// The values of widgets as they are sent: defaults for what the file lacks, lists in a wrapper, and what is odd about them.
// Guarantees: pure, never throws.

import { own } from "../json/own";
import { objectOf } from "../json/json";
import { fallbackOf, orderedInputs } from "../nodes/dynamic-inputs";
import { isFileName } from "../nodes/fill-texts";
import { readInputSpec, settingsOf, typeOf } from "../nodes/input-spec";
import { nearestOf } from "../nodes/nearest";
import { type NodeInfo, type ObjectInfo } from "../schemas/object-info";
import { type EditorNode, listOf, type Net, slotNamed } from "./file";
import { type EditorProblem } from "./problems";
import { type Widget, widgetsOf } from "./values";

/** A list would read as a link. Undefined where the file has no value and the class no default. */
export function sentValue(value: unknown, info: NodeInfo | undefined, name: string, given?: unknown): unknown {
  const raw = given ?? orderedInputs(info).find((input) => input.name === name)?.raw;
  const spec = value === null ? readInputSpec(name, raw) : undefined;
  const sent = (spec?.kind === "choice" ? spec.options[0] : value) ?? defaultOf(raw);
  if (!Array.isArray(sent)) return sent;
  return typeOf(raw) === "CURVE" ? { __type__: "CURVE", __value__: sent } : { __value__: sent };
}

export function defaultOf(raw: unknown): unknown {
  return settingsOf(raw).default ?? fallbackOf(raw);
}

export function problemOf({ name: input, raw, value }: Widget, nodeId: string): EditorProblem[] {
  if (value === undefined) return [{ code: defaultOf(raw) === undefined ? "value_missing" : "default_used", nodeId, input }];
  if (typeof value === "bigint") return [{ code: "digits_kept", nodeId, input }];
  const spec = readInputSpec(input, raw);
  if (spec.kind !== "choice" || value === null || spec.options.some((option) => option === value)) return [];
  const nearest = nearestOf(value, spec.options);
  return [{ code: "value_not_listed", nodeId, input, value, ...(nearest !== undefined && { nearest }) }];
}

/** What the first node of this name holds: by the name for texts, which a class other than a writer of files has by itself, else by title. */
export function findWidget(nets: readonly Net[], info: ObjectInfo, name: string, widget: string): unknown {
  const all = nets.flatMap((net) => net.nodes.map((node) => ({ net, node })));
  const found = all.find(({ node }) => nameForTexts(node) === name) ?? all.find(({ node }) => titleOf(node, info) === name);
  if (!found) return undefined;
  const { net, node } = found;
  const known = own(info, node.type);
  if (!known) return widget === "value" ? firstValue(node) : undefined;
  const held = widgetsOf(node, known).find((one) => one.name === widget);
  const link = net.links.get(slotNamed(node.inputs, widget)?.link ?? "");
  // A primitive writes its value over that of the widget before anything is sent.
  const primitive = link && net.nodes.find(({ id, type }) => id === link.origin && type === "PrimitiveNode");
  return held && ((primitive && firstValue(primitive)) ?? held.value ?? defaultOf(held.raw));
}

function firstValue({ values }: EditorNode): unknown {
  return objectOf(values)?.value ?? listOf(values)[0];
}

function nameForTexts({ type, properties }: EditorNode): unknown {
  const isWriter = isFileName({ class_type: type, inputs: {} }, "filename_prefix");
  return properties["Node name for S&R"] ?? (isWriter ? undefined : type);
}

function titleOf({ title, type }: EditorNode, info: ObjectInfo): string | undefined {
  return title ?? own(info, type)?.display_name;
}
