export type Lru<K, V> = ReturnType<typeof createLru<K, V>>;

/** `getSize` returns an entry's size, 1 by default. An entry larger than `max` is not stored. */
export function createLru<K, V>({ max, getSize = () => 1 }: { max: number; getSize?: (value: V) => number }) {
  const values = new Map<K, V>();
  const sizes = new Map<K, number>();
  let totalSize = 0;

  function remove(key: K): boolean {
    totalSize -= sizes.get(key) ?? 0;
    sizes.delete(key);
    return values.delete(key);
  }

  return {
    get size(): number {
      return values.size;
    },
    get(key: K): V | undefined {
      const value = values.get(key);
      if (value === undefined || !values.delete(key)) return undefined;
      values.set(key, value);
      return value;
    },
    has: (key: K) => values.has(key),
    set(key: K, value: V): void {
      remove(key);
      const size = getSize(value);
      if (size > max) return;
      values.set(key, value);
      sizes.set(key, size);
      totalSize += size;
      for (const oldestKey of values.keys()) {
        if (totalSize <= max) break;
        remove(oldestKey);
      }
    },
    delete: remove,
    clear(): void {
      values.clear();
      sizes.clear();
      totalSize = 0;
    },
    entries: () => values.entries(),
  };
}
