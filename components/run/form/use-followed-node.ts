import { type FocusEvent, useCallback, useEffect, useState } from "react";
import { focusProblem, nodeOfHash } from "./field-ids";
import { isEditable } from "./field-row";
import { type FormNode } from "./form-model";

/** Links form and drawing: the focused field's node is marked in the drawing, and selecting a node there focuses its first field. */
export function useFollowedNode(form: readonly FormNode[], onLead: () => void) {
  const [nodeId, setNodeId] = useState<string>();
  const [lead, setLead] = useState<{ nodeId: string }>();
  useEffect(() => {
    // Runs after the render that shows the form in place of the drawing.
    if (!lead) return;
    const node = form.find(({ id }) => id === lead.nodeId);
    const field = node?.fields.find(isEditable)?.name;
    focusProblem({ nodeId: lead.nodeId, ...(field !== undefined && { field }) });
    // eslint-disable-next-line react-hooks/exhaustive-deps -- a press leads once; what is typed afterwards changes the form and must not lead again
  }, [lead]);
  // The page's address may name the node that a link is about; it does not apply to the next workflow.
  useEffect(() => {
    const { hash, pathname, search } = window.location;
    const linked = nodeOfHash(hash);
    if (linked === undefined) return;
    focusProblem({ nodeId: linked });
    window.history.replaceState(null, "", pathname + search);
  }, []);
  const select = useCallback(
    (id: string) => {
      setNodeId(id);
      setLead({ nodeId: id });
      onLead();
    },
    [onLead],
  );
  const onFocus = useCallback(({ target }: FocusEvent) => {
    const id = target.closest("[data-node-id]")?.getAttribute("data-node-id");
    if (id) setNodeId(id);
  }, []);
  return { nodeId, select, onFocus };
}
