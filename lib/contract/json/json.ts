// Reads parsed JSON without schemas. Doesn't import zod, to keep it out of the first page's scripts.

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function asObject(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

export function asText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

export function asNumber(value: unknown): number | undefined {
  if (typeof value === "bigint") return Number(value);
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** Ignores inherited properties, because an untrusted key may be "constructor". */
export function getOwn<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record && Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Returns the process-wide weak map of this name. The bundler loads modules several times, and all copies must share it. */
export function getSharedWeakMap<K extends object, V>(name: string): WeakMap<K, V> {
  const symbol = Symbol.for(`lightdesk.${name}`);
  const storedMap: WeakMap<K, V> | undefined = Reflect.get(globalThis, symbol);
  if (storedMap) return storedMap;
  const newMap = new WeakMap<K, V>();
  Reflect.set(globalThis, symbol, newMap);
  return newMap;
}
