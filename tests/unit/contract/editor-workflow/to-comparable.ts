// Reduces an API graph to what two converters must agree on: the declared inputs of each class, with defaults applied.
// Only the links of an unknown class are compared. Order, titles and undeclared inputs are ignored.
import { asObject, isObject } from "@/lib/contract/json/json";
import { getFallback, listInputs } from "@/lib/contract/nodes/dynamic-inputs";
import { getSettings } from "@/lib/contract/nodes/input-spec";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { isLink } from "@/lib/contract/workflow/graph";

export function toComparable(graph: unknown, info: ObjectInfo): Record<string, unknown> {
  const nodes = Object.entries(asObject(graph) ?? {});
  return Object.fromEntries(
    nodes.map(([id, node]) => {
      const { class_type: type, inputs } = asObject(node) ?? {};
      const values = asObject(inputs) ?? {};
      const nodeInfo = typeof type === "string" ? info[type] : undefined;
      if (!nodeInfo) return [id, Object.fromEntries(Object.entries(values).filter(([, value]) => isLink(value)))];
      const declaredInputs = listInputs(nodeInfo, values).map(({ name, raw }) => {
        const value = values[name] ?? getSettings(raw).default ?? getFallback(raw);
        return [name, isObject(value) && "__value__" in value ? value.__value__ : value] as const;
      });
      return [id, { class_type: type, ...Object.fromEntries(declaredInputs.filter(([, value]) => value !== undefined)) }];
    }),
  );
}
