// Finds loops in a graph, by a depth-first walk without recursion: a node met again while it is still on the path closes a loop.
// Loops that share nodes may be reported as one; of every graph with a loop, at least one is reported.

/** At most this many nodes of a loop are reported: a graph of thousands has thousands of loops of thousands. */
const MOST_NODES = 100;

/** Each loop as its node ids in the order of the links, starting at the first id of `order` that is on it. */
export function findCycles(order: readonly string[], sourcesOf: (id: string) => readonly string[]): string[][] {
  const finished = new Set<string>();
  const cycles: string[][] = [];
  for (const start of order) {
    if (finished.has(start)) continue;
    const path: { id: string; next: number }[] = [{ id: start, next: 0 }];
    const places = new Map([[start, 0]]);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const source = sourcesOf(top.id)[top.next++];
      if (source === undefined) {
        path.pop();
        places.delete(top.id);
        finished.add(top.id);
        continue;
      }
      const place = places.get(source);
      if (place !== undefined) {
        cycles.push(path.slice(place, place + MOST_NODES).map(({ id }) => id));
      } else if (!finished.has(source)) {
        places.set(source, path.length);
        path.push({ id: source, next: 0 });
      }
    }
  }
  return cycles;
}
