// The table of Jobs with a panel, and a stub of the browser's animation frames.
import { act } from "@testing-library/react";
import { type ComponentProps } from "react";
import { vi } from "vitest";
import { createSelection } from "@/components/data-table/selection";
import { createListState, type OpenPanel } from "@/components/frame/list/list-state";
import { DEFAULT_CHOICE } from "@/components/jobs/columns/columns";
import { type JobRow } from "@/components/jobs/job-row";
import { JobListTable } from "@/components/jobs/list/job-list-table";
import { parseListQuery } from "@/components/jobs/list/list-urls";
import { createJobListAddress } from "@/components/jobs/list/use-job-list";

export const closedPanel: OpenPanel = {
  subscribe: () => () => undefined,
  get: () => undefined,
  has: () => false,
  open: () => false,
  close: () => undefined,
  syncWithUrl: () => undefined,
};

export const createRows = (count: number): JobRow[] =>
  Array.from({ length: count }, (_, at) => ({ id: `job-${String(at).padStart(4, "0")}`, rawStatus: "completed", state: "completed" }));

export const createJobTable = (rows: readonly JobRow[], overrides: Partial<ComponentProps<typeof JobListTable>> = {}) => (
  <JobListTable
    caption="Jobs"
    rows={rows}
    state={createListState(parseListQuery("jobs", new URLSearchParams()).query, createJobListAddress("jobs", {}))}
    connection="c1"
    selection={createSelection()}
    choice={DEFAULT_CHOICE}
    openPanel={closedPanel}
    {...overrides}
  />
);

/** Collects animation frames. The returned function runs those at a time. */
export function stubAnimationFrames(): (atMs?: number) => void {
  const frames: ((atMs: number) => void)[] = [];
  vi.stubGlobal("requestAnimationFrame", (callback: (atMs: number) => void) => frames.push(callback));
  return (atMs = 0) => act(() => frames.splice(0).forEach((callback) => callback(atMs)));
}
