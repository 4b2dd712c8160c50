import { useCallback, useMemo, useState } from "react";
import { inputKey, keepMemory, readMemory, toggled, type WorkflowMemory } from "./workflow-memory";

export type InputSettings = {
  isPinned: (nodeId: string, name: string) => boolean;
  isRandomised: (nodeId: string, name: string) => boolean;
  toggle: (what: keyof WorkflowMemory, nodeId: string, name: string) => void;
  memory: WorkflowMemory;
};

/** Pins and seeds of the open workflow, remembered in this browser. */
export function useWorkflowMemory(workflowId: string): InputSettings {
  const [changed, setChanged] = useState<{ workflowId: string; memory: WorkflowMemory }>();
  const memory = useMemo(() => (changed?.workflowId === workflowId ? changed.memory : readMemory(workflowId)), [changed, workflowId]);
  const toggle = useCallback<InputSettings["toggle"]>(
    (what, nodeId, name) => {
      const now = readMemory(workflowId);
      const next = { ...now, ...memory, [what]: toggled(memory[what], inputKey(nodeId, name)) };
      keepMemory(workflowId, next);
      setChanged({ workflowId, memory: next });
    },
    [memory, workflowId],
  );
  return useMemo(
    () => ({
      memory,
      toggle,
      isPinned: (nodeId, name) => memory.pinned.includes(inputKey(nodeId, name)),
      isRandomised: (nodeId, name) => memory.randomised.includes(inputKey(nodeId, name)),
    }),
    [memory, toggle],
  );
}
