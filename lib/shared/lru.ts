export type Lru<K, V> = {
  readonly size: number;
  get(key: K): V | undefined;
  has(key: K): boolean;
  /** Counts as a use, then evicts entries until the total size is at most `max`. */
  set(key: K, value: V): void;
  delete(key: K): boolean;
  clear(): void;
  entries(): MapIterator<[K, V]>;
};

/** `sizeOf` returns an entry's size, 1 by default. An entry larger than `max` is not stored. */
export function createLru<K, V>({ max, sizeOf = () => 1 }: { max: number; sizeOf?: (value: V) => number }): Lru<K, V> {
  const values = new Map<K, V>();
  const sizes = new Map<K, number>();
  let total = 0;

  function remove(key: K): boolean {
    total -= sizes.get(key) ?? 0;
    sizes.delete(key);
    return values.delete(key);
  }

  return {
    get size() {
      return values.size;
    },
    get(key) {
      const value = values.get(key);
      if (value === undefined || !values.delete(key)) return undefined;
      values.set(key, value);
      return value;
    },
    has: (key) => values.has(key),
    set(key, value) {
      remove(key);
      const size = sizeOf(value);
      if (size > max) return;
      values.set(key, value);
      sizes.set(key, size);
      total += size;
      for (const oldest of values.keys()) {
        if (total <= max) break;
        remove(oldest);
      }
    },
    delete: remove,
    clear() {
      values.clear();
      sizes.clear();
      total = 0;
    },
    entries: () => values.entries(),
  };
}
