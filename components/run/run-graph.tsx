import dynamic from "next/dynamic";
import { useDeferredValue, useMemo } from "react";
import { type NodeMark, type NodeMarks } from "@/components/graph/node-marks";
import { withTitles } from "@/components/graph/node-words";
import { Skeleton } from "@/components/ui/skeleton";
import { own } from "@/lib/contract/json/own";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { drawingIn } from "@/lib/contract/workflow/workflow-name";
import { hasErrors, type NodeProblems, type PlacedProblems } from "./form/node-problems";
import { type OpenWorkflow } from "./workflow/opened";

/** The form does not need the drawing, so its code loads after the form. */
const Graph = dynamic(() => import("@/components/graph/workflow-graph").then((module) => module.WorkflowGraph), {
  ssr: false,
  loading: () => <Skeleton className="size-full rounded-lg" />,
});

type RunGraphProps = {
  opened: OpenWorkflow;
  name: string;
  catalogue: ObjectInfo | undefined;
  placed: PlacedProblems;
  selected?: string;
  onSelect: (nodeId: string) => void;
};

/** The workflow drawn beside its form; nodes that need a correction are marked. It follows typing at low priority. */
export function RunGraph({ opened: { graph, original, extraData }, name, catalogue, placed, selected, onSelect }: RunGraphProps) {
  const drawn = useDeferredValue(graph);
  const titled = useMemo(() => (catalogue ? withTitles(drawn, (name) => own(catalogue, name)?.display_name) : drawn), [drawn, catalogue]);
  const marks = useMemo<NodeMarks>(
    () => new Map(Object.entries(placed.byNode).flatMap(([id, one]) => (hasErrors(one) ? [[id, markOf(one)]] : []))),
    [placed],
  );
  const json = useMemo(() => ({ prompt: drawn, ...(extraData && { extra_data: extraData }) }), [drawn, extraData]);
  return (
    <Graph
      graph={titled}
      shape={original}
      drawing={drawingIn(extraData)}
      marks={marks}
      json={json}
      fileName={`${name}.json`}
      beside={{ onSelect, ...(selected !== undefined && { selected }) }}
      className="h-full"
    />
  );
}

/** If the workflow was opened from a failed job, the failed node shows the error. */
function markOf({ node }: NodeProblems): NodeMark {
  const failures = node.filter(({ type }) => type === "execution_failed").map(({ message }) => message);
  return failures.length > 0 ? { state: "failed", problems: failures } : { state: "faulty" };
}
