// Walks along links without recursion.

/** Everything that can be reached from `starts`, including these, each once. `budget` bounds the steps. */
export function reach(
  starts: readonly string[],
  nextOf: (id: string) => readonly string[],
  budget = Number.POSITIVE_INFINITY,
): Set<string> {
  const found = new Set(starts);
  const open = [...found];
  let steps = 0;
  for (let id = open.pop(); id !== undefined && steps < budget; id = open.pop()) {
    for (const next of nextOf(id)) {
      steps++;
      if (found.has(next)) continue;
      found.add(next);
      open.push(next);
    }
  }
  return found;
}
