"use client";

import dynamic from "next/dynamic";
import { useMemo } from "react";
import { type NodeMarks } from "@/components/graph/node-marks";
import { Skeleton } from "@/components/ui/skeleton";
import { type PlacedProblems } from "./node-problems";
import { type OpenWorkflow } from "./run-state";

/** Drawn only when asked for: the form needs none of it. */
const Graph = dynamic(() => import("@/components/graph/workflow-graph").then((module) => module.WorkflowGraph), {
  ssr: false,
  loading: () => <Skeleton className="h-[420px] w-full" />,
});

type RunGraphProps = { opened: OpenWorkflow; name: string; placed: PlacedProblems };

/** The workflow as a drawing, with the nodes that need a correction marked. */
export function RunGraph({ opened: { graph, extraData }, name, placed }: RunGraphProps) {
  const marks = useMemo<NodeMarks>(() => new Map(Object.keys(placed.byNode).map((id) => [id, { state: "refused" as const }])), [placed]);
  return <Graph graph={graph} marks={marks} json={{ prompt: graph, ...(extraData && { extra_data: extraData }) }} fileName={name} />;
}
