/** The tag that somebody means who typed a part of it: the only one that is offered, unless they typed one to its end. */
export function onlyTag(typed: string, offered: readonly string[]): string | undefined {
  if (typed === "" || offered.includes(typed)) return typed || undefined;
  return offered.length === 1 ? offered[0] : undefined;
}
