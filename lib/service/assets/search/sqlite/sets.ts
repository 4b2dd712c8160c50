// Sets of assets that filters ask for again and again (a tag, a piece of a name, an owner), each kept with its position in the changes.
// Guarantees: a set that is handed out is as recent as the data it is tested against; callers must not change it. Bounded: the set unused
// for longest goes first.

import { type Bits, withBit } from "./bits";
import { type Changes } from "./changes";

const MOST_BYTES = 32 * 1024 * 1024;
/** With more changes the set is found anew. */
const MOST_CHANGED = 5000;

/** `kinds`: which changes of an asset can move it in or out of the set. Without `test`, any such change makes the set be found anew. */
type SetRecipe = { name: string; kinds: number; find: () => Bits | Promise<Bits>; test?: (seq: number) => boolean };

export type Sets = ReturnType<typeof createSets>;

export function createSets(changes: Changes, mostBytes = MOST_BYTES) {
  const kept = new Map<string, { bits: Bits; position: number }>();
  let bytes = 0;

  function drop(name: string): void {
    bytes -= kept.get(name)?.bits.byteLength ?? 0;
    kept.delete(name);
  }

  function upToDate({ name, kinds, test }: SetRecipe): Bits | undefined {
    const set = kept.get(name);
    const changed = set && changes.since(set.position, kinds);
    if (!set || !changed || changed.length > (test ? MOST_CHANGED : 0)) return undefined;
    return changed.reduce((bits, seq) => withBit(bits, seq, test?.(seq) ?? false), set.bits);
  }

  return {
    isKept: (name: string) => kept.has(name),

    /** `position`: where in the changes the data is that `find` and `test` look at. */
    async get(recipe: SetRecipe, position: number): Promise<Bits> {
      const bits = upToDate(recipe) ?? (await recipe.find());
      drop(recipe.name);
      kept.set(recipe.name, { bits, position });
      bytes += bits.byteLength;
      for (const [oldest] of kept) if (bytes > mostBytes && oldest !== recipe.name) drop(oldest);
      return bits;
    },

    clear(): void {
      kept.clear();
      bytes = 0;
    },
  };
}
