import { type FocusEvent, useCallback, useEffect, useState } from "react";
import { focusProblem, nodeOfHash } from "./field-ids";
import { isEditable } from "./field-row";
import { type FormNode } from "./form-model";

/** Form and drawing point at one node: where a field has the focus its node is marked, and a node that is pressed gives its first field the focus. */
export function useFollowedNode(form: readonly FormNode[], onLead: () => void) {
  const [nodeId, setNodeId] = useState<string>();
  const [lead, setLead] = useState<{ nodeId: string }>();
  useEffect(() => {
    // After the render that brings the form to the front, where the drawing had its place.
    if (!lead) return;
    const node = form.find(({ id }) => id === lead.nodeId);
    const field = node?.fields.find(isEditable)?.name;
    focusProblem({ nodeId: lead.nodeId, ...(field !== undefined && { field }) });
    // eslint-disable-next-line react-hooks/exhaustive-deps -- a press leads once; what is typed afterwards changes the form and must not lead again
  }, [lead]);
  // A link may name the node that it is about; of the next workflow it says nothing.
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
