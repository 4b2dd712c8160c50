/** By index: the nodes that each node takes from, and those that take from it. */
export type Ends = { sources: number[][]; targets: number[][] };

/** Paths of long links through the layers between: each lane is placed in its layer like a narrow node, so that no link crosses a node. */
export type Lanes = {
  ends: Ends;
  /** The layer of every node, followed by those of every lane. */
  layer: number[];
  /** The lanes that a link from one node to another passes, in order. */
  between: (source: number, target: number) => readonly number[];
};

/** The most lanes drawn; further links are plain curves that may cross nodes. */
const MOST_LANES = 4_000;

/** Links from one source share their lanes as far as their ways are the same. */
export function withLanes({ sources, targets }: Ends, layer: readonly number[]): Lanes {
  const count = layer.length;
  const levelOf = (node: number) => layer[node] ?? 0;
  const spans = targets.map((list, node) => list.reduce((most, target) => Math.max(most, levelOf(target) - levelOf(node) - 1), 0));
  const isTooMany = spans.reduce((sum, span) => sum + span, 0) > MOST_LANES;
  if (isTooMany) return { ends: { sources, targets }, layer: [...layer], between: () => [] };
  const ends: Ends = { sources: layer.map(() => []), targets: layer.map(() => []) };
  const layers = [...layer];
  const link = (from: number, to: number) => {
    ends.sources[to]?.push(from);
    ends.targets[from]?.push(to);
  };
  const chains = spans.map((span, node) =>
    Array.from({ length: span }, (_, at) => {
      const lane = layers.push(levelOf(node) + at + 1) - 1;
      ends.sources.push([]);
      ends.targets.push([]);
      link(at === 0 ? node : lane - 1, lane);
      return lane;
    }),
  );
  const between = (source: number, target: number) => chains[source]?.slice(0, Math.max(0, levelOf(target) - levelOf(source) - 1)) ?? [];
  for (let source = 0; source < count; source++) {
    for (const target of targets[source] ?? []) link(between(source, target).at(-1) ?? source, target);
  }
  return { ends, layer: layers, between };
}
