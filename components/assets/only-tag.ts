/** The tag that is meant by a typed part of it: the only one that is offered, unless one was typed to its end. */
export function onlyTag(typed: string, offered: readonly string[]): string | undefined {
  if (typed === "" || offered.includes(typed)) return typed || undefined;
  return offered.length === 1 ? offered[0] : undefined;
}
