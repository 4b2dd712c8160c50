"use client";

import dynamic from "next/dynamic";
import { type ReactNode, useDeferredValue } from "react";
import { cn } from "@/components/ui/cn";
import { type Opened, useOpenedId } from "@/components/frame/use-opened";
import { useAtFirstMove } from "@/components/ui/use-at-first-move";
import { type JobRow } from "../job-row";
import { type JobsPlace } from "./list-state";
import { JobPanelFrame } from "../job/job-panel-frame";
import { useMoving } from "./use-list-state";
import { useLate } from "@/components/ui/use-late";

const loadPanel = () => import("../job/job-panel");
const JobPanel = dynamic(() => loadPanel().then((module) => module.JobPanel), { ssr: false, loading: () => <JobPanelFrame /> });

const DIM_AFTER_MS = 300;

type JobsBesideProps = {
  opened: Opened;
  rows: readonly JobRow[];
  connection: string | undefined;
  linked: string | undefined;
  canRun: boolean;
  place: JobsPlace;
  /** The list. */
  children: ReactNode;
};

/** The list, and the open job beside it. The row's mark answers a press; the panel and the narrower list follow it, and may take a frame longer. */
export function JobsBeside({ opened, rows, connection, linked, canRun, place, children }: JobsBesideProps) {
  const id = useDeferredValue(useOpenedId(opened));
  useAtFirstMove(loadPanel);
  const isMoving = useMoving(place);
  // To dim a thousand rows is work, and a flicker where the next ones come at once.
  const isLate = useLate(isMoving, DIM_AFTER_MS);
  const at = id === undefined ? -1 : rows.findIndex((row) => row.id === id);
  const neighbour = (by: -1 | 1) => {
    const next = at < 0 ? undefined : rows[at + by]?.id;
    return next === undefined ? undefined : () => void opened.open(next);
  };
  return (
    <div className="flex items-start">
      <div aria-busy={isMoving || undefined} className={cn("min-w-0 flex-1", id !== undefined && "with-panel", isLate && "opacity-60")}>
        {children}
      </div>
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
