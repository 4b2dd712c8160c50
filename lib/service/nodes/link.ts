// Reading one input of a graph: a link to another node's output, or a literal.

export type LinkTo = { source: string; index: number };

/** A list is meant as a link; whether it is a valid one is checked elsewhere. */
export function isLinkLike(value: unknown): value is unknown[] {
  return Array.isArray(value);
}

export function toLink(value: unknown): LinkTo | undefined {
  if (!Array.isArray(value) || value.length !== 2) return undefined;
  const [source, index]: unknown[] = value;
  if (typeof source !== "string" || typeof index !== "number" || !Number.isInteger(index) || index < 0) return undefined;
  return { source, index };
}

/** `{"__value__": x}` wraps a literal so that a list is not read as a link. */
export function unwrapLiteral(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, "__value__")) return value;
  return "__value__" in value ? value.__value__ : value;
}
