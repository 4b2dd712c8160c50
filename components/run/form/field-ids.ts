/** Where the focus goes after an answer that names a node: found by id, never by a selector (node ids may contain any character). */
export function nodeDomId(nodeId: string): string {
  return `node-${nodeId}`;
}

export function fieldDomId(nodeId: string, name: string): string {
  return `field-${nodeId}-${name}`;
}

/** The fragment for an address of the page. */
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

/** Scrolls to a node or one of its fields, and focuses it. */
export function focusProblem({ nodeId, field }: { nodeId: string; field?: string }): void {
  const card = document.getElementById(nodeDomId(nodeId));
  const control = field === undefined ? null : document.getElementById(fieldDomId(nodeId, field));
  const target = control ?? card;
  target?.focus({ preventScroll: true });
  target?.scrollIntoView?.({ block: "center" });
}
