// Renders the actions for selected jobs, and simulates user input.
import { act } from "@testing-library/react";
import { vi } from "vitest";
import { type JobRow } from "@/components/jobs/job-row";
import { JobSelectionActions } from "@/components/jobs/list/selection-actions";
import { type JobSelection } from "@/components/jobs/list/use-bulk-job-actions";
import { type JobState } from "@/lib/contract/jobs/job-list";
import { type JobsQuery } from "@/lib/contract/schemas/job";
import { IDEMPOTENCY_HEADER } from "@/lib/contract/workflow/submission";
import { renderInApp } from "../render";
import { press as pressButton } from "../render-screen";

const createRow = (id: string, state: JobState): JobRow => ({ id, rawStatus: state, state });
const namedRow: JobRow = {
  ...createRow("made-1", "completed"),
  workflow: "poster",
  label: "seed 7",
  createdMs: Date.UTC(2026, 2, 1, 9, 5),
};
export const rows = [
  createRow("wait-1", "pending"),
  createRow("wait-2", "pending"),
  createRow("runs-1", "in_progress"),
  createRow("done-1", "completed"),
  namedRow,
];
export const query: JobsQuery = { sort_by: "create_time", sort_order: "desc", offset: 200, limit: 100 };

type SentRequest = { path: string; method: string; json: unknown; keepalive: boolean; idempotencyKey: string | null };
/** Replaces `fetch`: records requests and responds like the console. */
export function mockFetch(respond: (request: SentRequest) => Response | Promise<Response>): SentRequest[] {
  const requests: SentRequest[] = [];
  vi.stubGlobal("fetch", async (path: string, { method = "GET", body, keepalive = false, headers }: RequestInit = {}) => {
    const json: unknown = body === undefined || body === null ? undefined : JSON.parse(String(body));
    const request = { path, method, json, keepalive, idempotencyKey: new Headers(headers).get(IDEMPOTENCY_HEADER) };
    requests.push(request);
    return respond(request);
  });
  return requests;
}
export function showSelectionActions(selection: JobSelection, { canRun = true } = {}) {
  const onDone = vi.fn();
  const view = renderInApp(
    <JobSelectionActions
      selection={selection}
      rows={rows}
      connection="c1"
      onDone={onDone}
      onClear={vi.fn()}
      onRestored={vi.fn()}
      canRun={canRun}
    />,
  );
  return { onDone, ...view };
}
export const chooseJobs = (...jobIds: string[]): JobSelection => ({ kind: "ids", ids: jobIds });
/** Presses a button. The code that runs jobs again is loaded on demand. */
export async function press(name: string) {
  await pressButton(name);
  if (/^Run/.test(name)) await act(() => vi.dynamicImportSettled());
}
export const parseQuery = (path: string) => Object.fromEntries(new URL(path, "http://desk.test").searchParams);
