import { act, fireEvent, screen, within } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { JobActionResult, JobActions, useJobActions } from "@/components/jobs/job/job-actions";
import { type JobFacts } from "@/components/jobs/job/job-facts";
import { UNDO_WINDOW_MS } from "@/components/ui/hooks/use-pending-undo";
import { renderInApp } from "../render";
import { advanceTime, press } from "../render-screen";
import { createFacts, graph } from "./sample-job";

function ActionsView({ facts, connection = "c1" }: { facts: JobFacts; connection?: string }) {
  const actions = useJobActions({ jobId: "job-1", connection, onDone: () => undefined });
  return (
    <>
      <JobActions facts={facts} actions={actions} />
      <JobActionResult facts={facts} actions={actions} />
    </>
  );
}
const noneStopped = { stopped: [], stopping: [], over: [], unable: [], together: 0 };
const getActionNames = () => [...screen.queryAllByRole("button"), ...screen.queryAllByRole("link")].map((element) => element.textContent);
/** Replaces `fetch`. Records POST requests and returns the given responses. */
function mockResponses(responses: Record<string, unknown>) {
  const requests: { path: string; json: unknown }[] = [];
  vi.stubGlobal("fetch", async (path: string, init: RequestInit = {}) => {
    if (init.method === "POST") requests.push({ path, json: JSON.parse(String(init.body)) });
    const response = Object.entries(responses).find(([pathPrefix]) => path.startsWith(pathPrefix))?.[1];
    return response instanceof Response ? response : Response.json(response);
  });
  return requests;
}

it.each([
  [{ status: "pending" }, ["Cancel job", "New seeds", "Run again", "Create an app", "Edit & run"]],
  [{ status: "executing" }, ["Stop job", "New seeds", "Run again", "Create an app", "Edit & run"]],
  [{ status: "completed" }, ["New seeds", "Run again", "Create an app", "Edit & run"]],
  [{ status: "failed", workflow: { prompt: { "1": graph["1"] } } }, ["Run again", "Create an app", "Edit & run"]],
  [{ status: "completed", workflow: undefined }, []],
])("offers actions by the job's state: %j", (fields, actionNames) => {
  renderInApp(<ActionsView facts={createFacts(fields)} />);
  expect(getActionNames()).toEqual(actionNames);
});

it("shows a message when the service can't stop jobs", async () => {
  mockResponses({ "/api/console/capabilities": { "jobs.stop": false } });
  renderInApp(<ActionsView facts={createFacts({ status: "executing" })} connection="core-1" />);
  expect(await screen.findByText("This service can't stop running jobs")).toBeDefined();
  expect(screen.queryByRole("button", { name: "Stop job" })).toBeNull();
});

it("cancels a job when the Undo window ends", async () => {
  vi.useFakeTimers();
  const requests = mockResponses({ "/api/queue": { deleted: ["job-1"] } });
  renderInApp(<ActionsView facts={createFacts({ status: "pending" })} />);
  await press("Cancel job");
  await press("Undo");
  await advanceTime(UNDO_WINDOW_MS * 2);
  expect(requests).toEqual([]);
  await press("Cancel job");
  await advanceTime(UNDO_WINDOW_MS + 1);
  expect(requests).toMatchObject([{ json: { delete: ["job-1"] } }]);
  expect(screen.getByText("1 cancelled")).toBeDefined();
});

it.each([
  [{ stopped: ["job-1"] }, "1 stopped", false],
  [{ stopping: ["job-1"] }, "stop requested for 1", false],
  [{ over: ["job-1"] }, "1 had already finished", false],
  [{ unable: ["job-1"] }, "1 still running", false],
  [{ unable: ["job-1"], together: 3 }, "1 still running", true],
])("shows the result of stopping a job: %j", async (result, text, canStopAll) => {
  vi.useFakeTimers();
  mockResponses({ "/api/console/jobs/stop": { ...noneStopped, ...result } });
  renderInApp(<ActionsView facts={createFacts({ status: "in_progress" })} />);
  await press("Stop job");
  await advanceTime(UNDO_WINDOW_MS + 1);
  expect(screen.getByText(text)).toBeDefined();
  expect(screen.queryByRole("button", { name: "Stop all 3 running jobs" }) !== null).toBe(canStopAll);
});

const createLostResponse = () => Response.json({ code: "UPSTREAM_UNREACHABLE", message: "cut" }, { status: 502 });
const createMissingResponse = () => Response.json({ code: "NOT_FOUND", message: "" }, { status: 404 });

it.each([
  ["pending", createLostResponse, () => ({ status: "cancelled" }), "1 cancelled"],
  ["pending", createLostResponse, () => ({ status: "executing" }), "1 had already started"],
  ["pending", createLostResponse, () => ({ status: "pending" }), "1 failed"],
  ["pending", createLostResponse, createMissingResponse, "1 no longer on the service"],
  ["pending", createLostResponse, createLostResponse, "1 with an unknown result"],
  ["in_progress", createLostResponse, () => ({ status: "cancelled" }), "1 stopped"],
  ["in_progress", createLostResponse, () => ({ status: "in_progress" }), "1 with an unknown result"],
  ["in_progress", () => ({ ...noneStopped, unsure: ["job-1"] }), () => ({ status: "completed" }), "1 had already finished"],
])("looks up a %s job when the response is lost", async (status, respond, respondToLookup, text) => {
  vi.useFakeTimers();
  const path = status === "pending" ? "/api/queue" : "/api/console/jobs/stop";
  const requests = mockResponses({ [path]: respond(), "/api/jobs/job-1": respondToLookup() });
  renderInApp(<ActionsView facts={createFacts({ status })} />);
  await press(/^(Cancel|Stop) job$/);
  await advanceTime(UNDO_WINDOW_MS + 1);
  // The lookup code is loaded after the response is lost.
  await act(() => vi.dynamicImportSettled());
  expect(screen.getByText(new RegExp(`^${text}`))).toBeDefined();
  // The request is not resent automatically.
  expect(requests).toHaveLength(1);
});

const detail = { id: "job-1", status: "completed", workflow: { prompt: graph } };

it("reports an unknown result when the response to a rerun is lost", async () => {
  const lostResponse = Response.json({ error: { code: "UPSTREAM_TIMEOUT", message: "no" } }, { status: 504 });
  mockResponses({ "/api/jobs/job-1": detail, "/api/prompt": lostResponse });
  renderInApp(<ActionsView facts={createFacts()} />);
  await press("Run again");
  expect(screen.getByText(/did not confirm a new job/)).toBeDefined();
});

it("creates and links one job when the button is double-clicked", async () => {
  const requests = mockResponses({ "/api/jobs/job-1": detail, "/api/prompt": { prompt_id: "new-job-1" } });
  renderInApp(<ActionsView facts={createFacts()} />);
  for (const name of ["Run again", "New seeds"]) {
    const button = screen.getByRole("button", { name });
    await act(async () => void fireEvent.click(button, { detail: 1 }));
    expect(screen.getByRole("link", { name: "Open new-job-" }).getAttribute("href")).toBe("/jobs/new-job-1");
    await act(async () => void fireEvent.click(button, { detail: 2 }));
  }
  expect(requests).toHaveLength(2);
  expect(requests[0]).toMatchObject({ json: { prompt: graph } });
});

it("lists masked inputs instead of submitting the job", async () => {
  const maskedGraph = { "4": { class_type: "Call", inputs: { api_key: "[REDACTED]" } } };
  const requests = mockResponses({ "/api/jobs/job-1": { id: "job-1", status: "completed", workflow: { prompt: maskedGraph } } });
  renderInApp(<ActionsView facts={createFacts()} />);
  await press("Run again");
  expect(requests).toEqual([]);
  const dialog = screen.getByRole("dialog");
  expect(within(dialog).getByText("Call #4: api_key")).toBeDefined();
  expect(within(dialog).getByRole("link", { name: "Edit & run" }).getAttribute("href")).toBe("/run?job=job-1");
});
