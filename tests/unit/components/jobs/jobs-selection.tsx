// The bar for the selected rows of a job list, in user actions.
import { act, fireEvent, screen } from "@testing-library/react";
import { vi } from "vitest";
import { type JobRow } from "@/components/jobs/job-row";
import { OwnSelectionActions } from "@/components/jobs/list/selection-actions";
import { type ChosenJobs } from "@/components/jobs/list/use-bulk";
import { type JobState } from "@/lib/contract/jobs/job-list";
import { type JobsQuery } from "@/lib/contract/schemas/job";
import { IDEMPOTENCY_HEADER } from "@/lib/contract/workflow/submission";
import { renderInApp } from "../render";

const row = (id: string, state: JobState): JobRow => ({ id, word: state, state });
const namedRow: JobRow = { ...row("made-1", "completed"), workflow: "poster", label: "seed 7", createdMs: Date.UTC(2026, 2, 1, 9, 5) };
export const rows = [
  row("wait-1", "pending"),
  row("wait-2", "pending"),
  row("runs-1", "in_progress"),
  row("done-1", "completed"),
  namedRow,
];
export const query: JobsQuery = { sort_by: "create_time", sort_order: "desc", offset: 200, limit: 100 };

type SentRequest = { path: string; method: string; json: unknown; keepalive: boolean; press: string | null };
/** Replaces `fetch`: records requests and responds like the console. */
export function outside(respond: (request: SentRequest, nth: number) => Response | Promise<Response>): SentRequest[] {
  const all: SentRequest[] = [];
  vi.stubGlobal("fetch", async (path: string, { method = "GET", body, keepalive = false, headers }: RequestInit = {}) => {
    const json: unknown = body === undefined || body === null ? undefined : JSON.parse(String(body));
    const requests = { path, method, json, keepalive, press: new Headers(headers).get(IDEMPOTENCY_HEADER) };
    all.push(requests);
    return respond(requests, all.length);
  });
  return all;
}
export function show(selection: ChosenJobs, { canRun = true } = {}) {
  const [onDone, onClear] = [vi.fn(), vi.fn()];
  const view = renderInApp(
    <OwnSelectionActions
      chosen={selection}
      rows={rows}
      connection="c1"
      onDone={onDone}
      onClear={onClear}
      onRestored={vi.fn()}
      canRun={canRun}
    />,
  );
  return { onDone, onClear, ...view };
}
export const ids = (...chosen: string[]): ChosenJobs => ({ kind: "ids", ids: chosen });
/** The code that runs jobs again is loaded at its first use. */
export async function press(name: string) {
  await act(async () => void fireEvent.click(screen.getByRole("button", { name })));
  if (/^Run/.test(name)) await act(() => vi.dynamicImportSettled());
}
export const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
export const parseQuery = (path: string) => Object.fromEntries(new URL(path, "http://desk.test").searchParams);
