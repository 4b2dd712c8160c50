// What the widgets of a node hold: the file keeps values by their place, and some belong to no input.
// Guarantees: never throws; pure. What the file does not hold has no value here; defaults are the caller's.

import { isObject, type JsonObject, textOf } from "../json/json";
import { own } from "../json/own";
import { broughtBy, type ClassInput, isDynamicCombo, isGrowing, orderedInputs } from "../nodes/dynamic-inputs";
import { settingsOf, typeOf } from "../nodes/input-spec";
import { type NodeInfo } from "../schemas/object-info";
import { type EditorNode } from "./file";

/** `value` is undefined where the file holds none. */
export type Widget = { name: string; raw: unknown; value: unknown };

const widgetTypes = new Set([
  ...["INT", "FLOAT", "BOOLEAN", "STRING", "COMBO", "COLOR", "BOUNDING_BOX", "CURVE", "RANGE", "MARKDOWN", "TEXTAREA", "CHART"],
  ...["GALLERIA", "PAINTER", "IMAGECOMPARE", "COMFY_DYNAMICCOMBO_V3", "WEBCAM", "LOAD_3D", "AUDIO_UI", "AUDIO_RECORD"],
]);
/** A list of the server that had not come yet when the file was saved. */
const UNREAD_LIST = "Loading...";
const BOX_NUMBERS = 4;
const REFRESH_VALUES = 2;
const DEEPEST = 4;

/** Without forceInput: a socket that would be a widget by its type. */
function isWidgetType(raw: unknown): boolean {
  return widgetTypes.has(settingsOf(raw).widgetType ?? typeOf(raw));
}

function hasWidget(raw: unknown): boolean {
  return isWidgetType(raw) && settingsOf(raw).forceInput === undefined;
}

export function widgetsOf(node: EditorNode, info: NodeInfo): Widget[] {
  const inputs = orderedInputs(info);
  const { values } = node;
  if (isObject(values)) return byName(inputs, values, 0);
  const list = withoutForced(inputs, values);
  let at = 0;
  return byPlace(inputs, () => list[at++], 0).map((widget) => corrected(node, widget));
}

/** The sockets that are declared, in order: those that a choice brings along behind it. A list that grows is named without its places. */
export function socketsOf(info: NodeInfo, widgets: readonly Widget[]): ClassInput[] {
  const choices = new Map(widgets.map(({ name, value }) => [name, value]));
  const within = (inputs: readonly ClassInput[], depth: number): ClassInput[] =>
    inputs.flatMap((input) => {
      if (isDynamicCombo(input.raw)) return depth < DEEPEST ? within(broughtBy(input, choices.get(input.name)), depth + 1) : [];
      return hasWidget(input.raw) ? [] : [input];
    });
  return within(orderedInputs(info), 0);
}

function byPlace(inputs: readonly ClassInput[], take: () => unknown, depth: number): Widget[] {
  return inputs.flatMap((input) => {
    const { name, raw } = input;
    if (isGrowing(raw) || !hasWidget(raw)) return [];
    const value = take();
    for (let more = valuesBehind(name, raw); more > 0; more--) take();
    const brought = isDynamicCombo(raw) && depth < DEEPEST ? byPlace(broughtBy(input, value), take, depth + 1) : [];
    return [{ name, raw, value }, ...brought];
  });
}

function byName(inputs: readonly ClassInput[], values: JsonObject, depth: number): Widget[] {
  return inputs.flatMap((input) => {
    const { name, raw } = input;
    if (isGrowing(raw) || !hasWidget(raw)) return [];
    const value = own(values, name);
    const brought = isDynamicCombo(raw) && depth < DEEPEST ? byName(broughtBy(input, value), values, depth + 1) : [];
    return [{ name, raw, value }, ...brought];
  });
}

/** How many values behind this one belong to no input: what becomes of a seed after a run, a list's refresh, the edges of a box. */
function valuesBehind(name: string, raw: unknown): number {
  const type = typeOf(raw);
  const { remote } = settingsOf(raw);
  return (isControlled(name, raw) ? 1 : 0) + (remote === undefined ? 0 : REFRESH_VALUES) + (type === "BOUNDING_BOX" ? BOX_NUMBERS : 0);
}

/** The editor gives seeds a control even where the class does not ask for one. */
function isControlled(name: string, raw: unknown): boolean {
  const type = typeOf(raw);
  if (type !== "INT" && type !== "COMBO") return false;
  return Boolean(settingsOf(raw).control_after_generate ?? (type === "INT" && /^(noise_)?seed$/.test(name)));
}

/** Older files hold values of inputs that are sockets today; they are told by the number of values alone. */
function withoutForced(inputs: readonly ClassInput[], values: readonly unknown[]): readonly unknown[] {
  const kinds = inputs.flatMap(({ raw }) => {
    const { forceInput, control_after_generate: control } = settingsOf(raw);
    if (!isWidgetType(raw) && forceInput === undefined) return [];
    const isForced = forceInput === true;
    return control ? [isForced, false] : [isForced];
  });
  return kinds.length === values.length ? values.filter((_, at) => kinds[at] !== true) : values;
}

function corrected({ type }: EditorNode, widget: Widget): Widget {
  const { name, raw, value } = widget;
  if (value === UNREAD_LIST && settingsOf(raw).remote !== undefined) return { ...widget, value: undefined };
  const isSampler = name === "sampler_name" && (type === "KSampler" || type === "KSamplerAdvanced");
  return isSampler ? { ...widget, value: textOf(value)?.replace(/^sample_/, "") ?? value } : widget;
}
