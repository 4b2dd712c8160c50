// A record asked for a key that a file or a service chose: an id may be "constructor" or "toString", and every object inherits those.
// Guarantees: answers only with what the record itself holds.

export function own<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record && Object.hasOwn(record, key) ? record[key] : undefined;
}
