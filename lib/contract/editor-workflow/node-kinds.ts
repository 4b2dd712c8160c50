import { asObject, getOwn } from "../json/json";
import { type ObjectInfo } from "../schemas/object-info";
import { asArray, type EditorNode, INSIDE_END, memoize, type Net } from "./file";

export const MUTED = 2;
export const BYPASSED = 4;
const PRIMITIVE = "PrimitiveNode";
const rerouteTypes = new Set(["Reroute", "Reroute (rgthree)"]);
const noteTypes = new Set(["Note", "MarkdownNote", "Note Plus (mtb)"]);
/** Virtual nodes of rgthree-comfy. Their effect on node modes is already saved in the file. */
const switchTypes = new Set(
  [
    ...["Label", "Bookmark", "Fast Groups Muter", "Fast Groups Bypasser", "Fast Muter", "Fast Bypasser", "Fast Node Muter"],
    ...["Fast Actions Button", "Mute / Bypass Relay", "Mute / Bypass Repeater", "Node Collector", "Node Combiner", "Random Unmuter"],
  ].map((name) => `${name} (rgthree)`),
);
/** A "GetNode" outputs the value of the "SetNode" with the same name. Packs add their own prefixes: "easy getNode", "easy setNode". */
const GETTER_PATTERN = /(?:^|[^a-z])get_?node$/i;
const SETTER_PATTERN = /(?:^|[^a-z])set_?node$/i;

export function isNeverSent({ type }: EditorNode): boolean {
  return rerouteTypes.has(type) || type === PRIMITIVE || noteTypes.has(type) || switchTypes.has(type);
}

export function isReroute({ type }: EditorNode): boolean {
  return rerouteTypes.has(type);
}

export function isNote({ type }: EditorNode): boolean {
  return noteTypes.has(type);
}

export function isPrimitive({ type }: EditorNode): boolean {
  return type === PRIMITIVE;
}

export function isSwitch({ type }: EditorNode): boolean {
  return switchTypes.has(type);
}

export function isRunning({ mode }: EditorNode): boolean {
  return mode !== MUTED && mode !== BYPASSED;
}

/** Parses a Get or Set node, which connects by name instead of a link. Classes that the server defines are normal nodes. */
export function parseTunnel(node: EditorNode, info: ObjectInfo): { side: "set" | "get"; setter: string; name: string } | undefined {
  const { type, values } = node;
  // Splits off a prefix: "PixaromaGetNode" matches, "TargetNode" and "OffsetNode" do not.
  const spacedType = type.replace(/(?<=[A-Za-z])(?=[GS]et_?Node$)/, " ");
  const isGetter = GETTER_PATTERN.test(spacedType);
  if ((!isGetter && !SETTER_PATTERN.test(spacedType)) || getOwn(info, type)) return undefined;
  const name = [...asArray(values), ...Object.values(asObject(values) ?? {})].find((value) => typeof value === "string") ?? "";
  return { side: isGetter ? "get" : "set", setter: type.toLowerCase().replace(/get(?=_?node$)/, "set"), name: String(name) };
}

export const getLinkedNodeIds = memoize((net: Net): ReadonlySet<string> => {
  const linkedIds = net.nodes.flatMap((node) =>
    node.inputs.flatMap(({ link }) => {
      const editorLink = net.links.get(link ?? "");
      return editorLink && !isSwitch(node) ? [node.id, editorLink.origin] : [];
    }),
  );
  const outputOrigins = [...net.links.values()].flatMap(({ origin, target }) => (target === INSIDE_END ? [origin] : []));
  return new Set([...linkedIds, ...outputOrigins]);
});
