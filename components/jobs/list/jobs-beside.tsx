import dynamic from "next/dynamic";
import { type ReactNode, useDeferredValue } from "react";
import { type Opened, useOpenedId } from "@/components/frame/list/use-opened";
import { useAtFirstMove } from "@/components/ui/hooks/use-at-first-move";
import { JobPanelFrame } from "../job/job-panel-frame";
import { type JobRow } from "../job-row";
import { ListRows } from "./list-rows";
import { type ListState } from "./list-state";

const loadPanel = () => import("../job/job-panel");
const JobPanel = dynamic(() => loadPanel().then((module) => module.JobPanel), { ssr: false, loading: () => <JobPanelFrame /> });

type JobsBesideProps = {
  opened: Opened;
  rows: readonly JobRow[];
  connection: string | undefined;
  linked: string | undefined;
  canRun: boolean;
  state: ListState;
  children: ReactNode;
};

/** The list, with the open job beside it. The row is marked at once; the panel and the narrower list may follow a frame later. */
export function JobsBeside({ opened, rows, connection, linked, canRun, state, children }: JobsBesideProps) {
  const id = useDeferredValue(useOpenedId(opened));
  useAtFirstMove(loadPanel);
  const at = id === undefined ? -1 : rows.findIndex((row) => row.id === id);
  const neighbour = (by: -1 | 1) => {
    const next = at < 0 ? undefined : rows[at + by]?.id;
    return next === undefined ? undefined : () => void opened.open(next);
  };
  return (
    <div className="flex items-start">
      <ListRows state={state} className={id === undefined ? "flex-1" : "flex-1 with-panel"}>
        {children}
      </ListRows>
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
