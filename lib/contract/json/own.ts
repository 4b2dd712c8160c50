// Looks up a key that a file or a service chose: an id may be "constructor" or "toString", which every object inherits.
// Guarantees: answers only with the record's own entries.

export function own<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record && Object.hasOwn(record, key) ? record[key] : undefined;
}

/** The weak map of this name in the process. The bundler loads a module several times, and what one copy notes another must read. */
export function weakMapOf<K extends object, V>(name: string): WeakMap<K, V> {
  const place = Symbol.for(`lightdesk.${name}`);
  const stored: WeakMap<K, V> | undefined = Reflect.get(globalThis, place);
  if (stored) return stored;
  const made = new WeakMap<K, V>();
  Reflect.set(globalThis, place, made);
  return made;
}
