// The id under which runs of one workflow stay together: from the graph's shape (node ids, classes, links), not from its texts and seeds.
// Guarantees: the same file gives the same id in every browser, on http as on https (Web Crypto exists only on https), and whatever was typed into it.
// Must never: be used as a secret or a proof; it is four 32-bit mixes, no cryptographic digest.

import { linksOf } from "@/lib/contract/graph";
import { type Graph } from "@/lib/contract/schemas/graph";

/** An RFC 9562 version 8 UUID: its bits are ours to define. */
export function workflowIdOf(graph: Graph): string {
  const [a, b, c, d] = mix(shapeOf(graph));
  const hex = [a, b, c, d].map((word) => word.toString(16).padStart(8, "0")).join("");
  const variant = ((Number.parseInt(hex[16] ?? "0", 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
}

function shapeOf(graph: Graph): string {
  const ids = Object.keys(graph).sort();
  return JSON.stringify(
    ids.map((id) => {
      const node = graph[id];
      const links = node ? linksOf(node).map(({ input, source, output }) => JSON.stringify([input, source, output])) : [];
      return [id, node?.class_type, links.sort()];
    }),
  );
}

/** Four lanes of multiply and xor over the text, then crossed, so that each bit depends on every character. */
function mix(text: string): [number, number, number, number] {
  const factors = [597399067, 2869860233, 951274213, 2716044179] as const;
  const lanes: [number, number, number, number] = [1779033703, 3144134277, 1013904242, 2773480762];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const [a, b, c, d] = lanes;
    lanes[0] = b ^ Math.imul(a ^ code, factors[0]);
    lanes[1] = c ^ Math.imul(b ^ code, factors[1]);
    lanes[2] = d ^ Math.imul(c ^ code, factors[2]);
    lanes[3] = a ^ Math.imul(d ^ code, factors[3]);
  }
  const [a, b, c, d] = lanes;
  const crossed = [
    Math.imul(c ^ (a >>> 18), factors[0]),
    Math.imul(d ^ (b >>> 22), factors[1]),
    Math.imul(a ^ (c >>> 17), factors[2]),
    Math.imul(b ^ (d >>> 19), factors[3]),
  ] as const;
  const all = crossed[0] ^ crossed[1] ^ crossed[2] ^ crossed[3];
  return [all >>> 0, (crossed[1] ^ all) >>> 0, (crossed[2] ^ all) >>> 0, (crossed[3] ^ all) >>> 0];
}
