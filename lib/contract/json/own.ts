// Looks up a key that a file or a service chose: an id may be "constructor" or "toString", which every object inherits.
// Guarantees: answers only with the record's own entries.

export function own<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record && Object.hasOwn(record, key) ? record[key] : undefined;
}
