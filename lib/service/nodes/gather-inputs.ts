// The values a node is about to get: from the nodes it is linked to, and its own literals, read as its class declares them.
// A literal that cannot be read is left out: the node then says which input it misses.

import { type GivenInput } from "./inputs";
import { type KeptValues } from "./kept-values";
import { inputOf, unwrapLiteral } from "./link";
import { readLiteral } from "./literal";
import { type PlannedNode } from "./plan";

export function gatherInputs({ node, definition, links, sourceTypes }: PlannedNode, kept: KeptValues): Map<string, GivenInput> {
  const given = new Map<string, GivenInput>();
  for (const { name, type } of definition.inputs) {
    const link = links.get(name);
    const written = inputOf(node.inputs, name);
    if (link) {
      given.set(name, { value: kept.get(link.source)?.[link.index], type: sourceTypes.get(name) ?? "*" });
    } else if (written !== undefined) {
      const literal = readLiteral(type, unwrapLiteral(written));
      if (literal.ok) given.set(name, { value: literal.value, type });
    }
  }
  return given;
}
