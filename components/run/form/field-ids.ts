/** Where the focus goes after an answer that names a node: looked up by id, never through a selector (node ids may hold anything). */
export function nodeDomId(nodeId: string): string {
  return `node-${nodeId}`;
}

export function fieldDomId(nodeId: string, name: string): string {
  return `field-${nodeId}-${name}`;
}

/** At the end of an address of the page. */
export function hashOfNode(nodeId: string): string {
  return `#${encodeURIComponent(nodeDomId(nodeId))}`;
}

export function nodeOfHash(hash: string): string | undefined {
  try {
    return /^node-(.+)$/s.exec(decodeURIComponent(hash.slice(1)))?.[1];
  } catch {
    return undefined;
  }
}

/** Brings a node, or one of its fields, before the eyes and under the keys. */
export function focusProblem({ nodeId, field }: { nodeId: string; field?: string }): void {
  const card = document.getElementById(nodeDomId(nodeId));
  const control = field === undefined ? null : document.getElementById(fieldDomId(nodeId, field));
  const target = control ?? card;
  target?.focus({ preventScroll: true });
  target?.scrollIntoView?.({ block: "center" });
}
