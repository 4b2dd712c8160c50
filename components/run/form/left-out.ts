// A workflow without the keys and tokens in it.

import { withSpellingsOf } from "@/lib/contract/json/exact-json";
import { isObject, type JsonObject } from "@/lib/contract/json/json";
import { own } from "@/lib/contract/json/own";
import { type Graph } from "@/lib/contract/schemas/graph";
import { maskSecrets } from "@/lib/contract/secrets/mask-secrets";
import { type SecretPlace } from "@/lib/contract/secrets/secret-places";
import { isMasked, withoutMasks } from "@/lib/contract/secrets/secret-texts";

type Parts = { graph: Graph; extraData?: JsonObject };

/**
 * Removes keys and tokens: such an input is emptied; of a longer text only the part that looks like a key is removed; a field of
 * extra_data is dropped. If the console knows a key by other means than its looks, the whole text is removed.
 */
export function leftOut({ graph, extraData }: Parts, places: readonly SecretPlace[]): Parts {
  let [left, extra] = [graph, extraData];
  for (const place of places) {
    if (place.kind === "input") {
      const node = own(left, place.node_id);
      const value = node && own(node.inputs, place.input);
      if (!node || value === undefined) continue;
      left = {
        ...left,
        [place.node_id]: {
          ...node,
          inputs: withSpellingsOf(node.inputs, { ...node.inputs, [place.input]: withoutSecret(place.input, value) }),
        },
      };
    } else if (place.kind === "extra" && extra) extra = withoutPath(extra, place.path);
  }
  return { graph: left, ...(extra && { extraData: extra }) };
}

function withoutSecret(name: string, value: unknown): unknown {
  const { [name]: masked } = maskSecrets({ [name]: value });
  return isMasked(masked) ? withoutMasks(masked) : "";
}

/** The editor's drawing is kept, with masked texts emptied; a list item is kept as well, since its position matters. */
function withoutPath(value: JsonObject, [name = "", ...rest]: readonly string[]): JsonObject {
  const inner = own(value, name);
  if (inner === undefined) return value;
  if (rest.length > 0 && isObject(inner)) return withSpellingsOf(value, { ...value, [name]: withoutPath(inner, rest) });
  const masked = typeof inner === "string" ? undefined : maskSecrets(inner);
  if (isMasked(masked)) return withSpellingsOf(value, { ...value, [name]: withoutMasks(masked) });
  const { [name]: _, ...others } = value;
  return withSpellingsOf(value, others);
}
