// The id that groups the runs of one workflow: made from the graph's shape (node ids, classes, links), not from its texts and seeds.
// Guarantees: the same file gives the same id in every browser, on http as on https (Web Crypto exists only on https), whatever was typed.
// Must never: be used as a secret or a proof; it is four 32-bit mixes, no cryptographic digest.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { linksOf } from "@/lib/contract/workflow/graph";
import { toUuid } from "@/lib/shared/text";

/** An RFC 9562 version 8 UUID: its bits are ours to define. */
export function workflowIdOf(graph: Graph): string {
  return toUuid(fingerprint(shapeOf(graph)), 8);
}

function shapeOf(graph: Graph): string {
  const ids = Object.keys(graph).sort();
  return writeExactJson(
    ids.map((id) => {
      const node = graph[id];
      const links = node ? linksOf(node).map(({ input, source, output }) => writeExactJson([input, source, output])) : [];
      return [id, node?.class_type, links.sort()];
    }),
  );
}

const primes = [0x01000193, 0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f] as const;

/** Four lanes of xor and multiply (FNV-1a, each with its own prime), each mixed at the end so that every bit depends on every character. */
export function fingerprint(text: string): string {
  return primes
    .map((prime, lane) => {
      let hash = 0x811c9dc5 ^ lane;
      for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), prime);
      hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
      hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
      return ((hash ^ (hash >>> 16)) >>> 0).toString(16).padStart(8, "0");
    })
    .join("");
}
