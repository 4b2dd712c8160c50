"use client";

import dynamic from "next/dynamic";
import { type ReactNode, useDeferredValue } from "react";
import { cn } from "@/components/ui/cn";
import { type Opened, useOpenedId } from "@/components/frame/use-opened";
import { useWhenIdle } from "@/components/ui/use-when-idle";
import { type JobRow } from "./job-row";
import { JobPanelFrame } from "./panel/job-panel-frame";

const loadPanel = () => import("./panel/job-panel");
const JobPanel = dynamic(() => loadPanel().then((module) => module.JobPanel), { ssr: false, loading: () => <JobPanelFrame /> });

type JobsBesideProps = {
  opened: Opened;
  rows: readonly JobRow[];
  connection: string | undefined;
  linked: string | undefined;
  canRun: boolean;
  /** Other rows are on their way. */
  isMoving: boolean;
  /** The list. */
  children: ReactNode;
};

/** The list, and the open job beside it. The row's mark answers a press; the panel and the narrower list follow it, and may take a frame longer. */
export function JobsBeside({ opened, rows, connection, linked, canRun, isMoving, children }: JobsBesideProps) {
  const id = useDeferredValue(useOpenedId(opened));
  useWhenIdle(loadPanel);
  const at = id === undefined ? -1 : rows.findIndex((row) => row.id === id);
  const neighbour = (by: -1 | 1) => {
    const next = at < 0 ? undefined : rows[at + by]?.id;
    return next === undefined ? undefined : () => void opened.open(next);
  };
  return (
    <div className="flex items-start">
      <div className={cn("min-w-0 flex-1", id !== undefined && "with-panel", isMoving && "opacity-60")}>{children}</div>
      {id !== undefined ? (
        <JobPanel
          jobId={id}
          connection={connection}
          linked={linked}
          canRun={canRun}
          onClose={opened.close}
          onNext={neighbour(1)}
          onPrevious={neighbour(-1)}
        />
      ) : null}
    </div>
  );
}
