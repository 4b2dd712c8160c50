// Looks up untrusted keys among a record's own entries, because an id may be "constructor", which every object inherits.

export function own<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record && Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Returns the process-wide weak map of this name. The bundler loads modules several times, and all copies must share it. */
export function getSharedWeakMap<K extends object, V>(name: string): WeakMap<K, V> {
  const symbol = Symbol.for(`lightdesk.${name}`);
  const storedMap: WeakMap<K, V> | undefined = Reflect.get(globalThis, symbol);
  if (storedMap) return storedMap;
  const created = new WeakMap<K, V>();
  Reflect.set(globalThis, symbol, created);
  return created;
}
