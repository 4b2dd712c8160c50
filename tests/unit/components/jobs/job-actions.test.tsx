import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { JobActionResult, JobActions, useJobActions } from "@/components/jobs/job/job-actions";
import { type JobFacts } from "@/components/jobs/job/job-facts";
import { UNDO_WINDOW_MS } from "@/components/ui/hooks/use-pending-undo";
import { renderInApp } from "../render";
import { createFacts, graph } from "./sample-job";

describe("job actions", () => {
  function ActionsView({ facts, connection = "c1" }: { facts: JobFacts; connection?: string }) {
    const actions = useJobActions({ jobId: "job-1", connection, onDone: () => undefined });
    return (
      <>
        <JobActions facts={facts} actions={actions} />
        <JobActionResult facts={facts} actions={actions} />
      </>
    );
  }
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
  const press = async (name: string) => act(async () => void fireEvent.click(screen.getByRole("button", { name })));

  it("offers actions by the job's state", () => {
    const getOfferedActions = (extra: object) => {
      renderInApp(<ActionsView facts={createFacts(extra)} />);
      const actionNames = getActionNames();
      cleanup();
      return actionNames;
    };
    expect(getOfferedActions({ status: "pending" })).toEqual(["Cancel job", "New seeds", "Run again", "Create an app", "Edit & run"]);
    expect(getOfferedActions({ status: "executing" })).toEqual(["Stop job", "New seeds", "Run again", "Create an app", "Edit & run"]);
    expect(getOfferedActions({ status: "completed" })).toEqual(["New seeds", "Run again", "Create an app", "Edit & run"]);
    expect(getOfferedActions({ status: "failed", workflow: { prompt: { "1": graph["1"] } } })).toEqual([
      "Run again",
      "Create an app",
      "Edit & run",
    ]);
    expect(getOfferedActions({ status: "completed", workflow: undefined })).toEqual([]);
  });

  it("shows a message when the service can't stop jobs", async () => {
    mockResponses({ "/api/console/capabilities": { "jobs.stop": false } });
    renderInApp(<ActionsView facts={createFacts({ status: "executing" })} connection="core-1" />);
    expect(await screen.findByText("This service cannot stop running jobs")).toBeDefined();
    expect(screen.queryByRole("button", { name: "Stop job" })).toBeNull();
  });

  it("cancels a job when the Undo window ends", async () => {
    vi.useFakeTimers();
    const requests = mockResponses({ "/api/queue": { deleted: ["job-1"] } });
    renderInApp(<ActionsView facts={createFacts({ status: "pending" })} />);
    await press("Cancel job");
    await press("Undo");
    await act(() => vi.advanceTimersByTimeAsync(UNDO_WINDOW_MS * 2));
    expect(requests).toEqual([]);
    await press("Cancel job");
    await act(() => vi.advanceTimersByTimeAsync(UNDO_WINDOW_MS + 1));
    expect(requests).toMatchObject([{ json: { delete: ["job-1"] } }]);
    expect(screen.getByText("1 cancelled")).toBeDefined();
  });

  it("shows the result of stopping a job", async () => {
    vi.useFakeTimers();
    const none = { stopped: [], stopping: [], over: [], unable: [], together: 0 };
    const cases = [
      [{ stopped: ["job-1"] }, "1 stopped"],
      [{ stopping: ["job-1"] }, "stop requested for 1"],
      [{ over: ["job-1"] }, "1 had already finished"],
      [{ unable: ["job-1"] }, "1 still running"],
      [{ unable: ["job-1"], together: 3 }, "1 still running"],
    ] as const;
    for (const [result, text] of cases) {
      mockResponses({ "/api/console/jobs/stop": { ...none, ...result } });
      renderInApp(<ActionsView facts={createFacts({ status: "in_progress" })} />);
      await press("Stop job");
      await act(() => vi.advanceTimersByTimeAsync(UNDO_WINDOW_MS + 1));
      expect(screen.getByText(text)).toBeDefined();
      if ("together" in result) expect(screen.getByRole("button", { name: "Stop all 3 running jobs" })).toBeDefined();
      cleanup();
    }
  });

  it("looks up the job when a cancel or stop response is lost", async () => {
    vi.useFakeTimers();
    const createLostResponse = () => Response.json({ code: "UPSTREAM_UNREACHABLE", message: "cut" }, { status: 502 });
    const noResult = { stopped: [], stopping: [], over: [], unable: [], together: 0 };
    const cases = [
      ["pending", "/api/queue", createLostResponse(), { status: "cancelled" }, "1 cancelled"],
      ["pending", "/api/queue", createLostResponse(), { status: "executing" }, "1 had already started"],
      ["pending", "/api/queue", createLostResponse(), { status: "pending" }, "1 failed"],
      [
        "pending",
        "/api/queue",
        createLostResponse(),
        Response.json({ code: "NOT_FOUND", message: "" }, { status: 404 }),
        "1 no longer on the service",
      ],
      ["pending", "/api/queue", createLostResponse(), createLostResponse(), "1 with an unknown result"],
      ["in_progress", "/api/console/jobs/stop", createLostResponse(), { status: "cancelled" }, "1 stopped"],
      ["in_progress", "/api/console/jobs/stop", createLostResponse(), { status: "in_progress" }, "1 with an unknown result"],
      ["in_progress", "/api/console/jobs/stop", { ...noResult, unsure: ["job-1"] }, { status: "completed" }, "1 had already finished"],
    ] as const;
    for (const [status, path, response, detail, text] of cases) {
      const requests = mockResponses({ [path]: response, "/api/jobs/job-1": detail });
      renderInApp(<ActionsView facts={createFacts({ status })} />);
      await press(status === "pending" ? "Cancel job" : "Stop job");
      await act(() => vi.advanceTimersByTimeAsync(UNDO_WINDOW_MS + 1));
      // The lookup code is loaded after the response is lost.
      await act(() => vi.dynamicImportSettled());
      expect(screen.getByText(new RegExp(`^${text}`))).toBeDefined();
      // The request is not resent automatically.
      expect(requests).toHaveLength(1);
      cleanup();
    }
  });

  it("links the new job, or reports an unknown result on a lost response", async () => {
    const detail = { id: "job-1", status: "completed", workflow: { prompt: graph } };
    const requests = mockResponses({ "/api/jobs/job-1": detail, "/api/prompt": { prompt_id: "new-job-1" } });
    renderInApp(<ActionsView facts={createFacts()} />);
    await press("Run again");
    expect(requests).toMatchObject([{ json: { prompt: graph } }]);
    expect(screen.getByRole("link", { name: "Open new-job-" }).getAttribute("href")).toBe("/jobs/new-job-1");
    mockResponses({
      "/api/jobs/job-1": detail,
      "/api/prompt": Response.json({ error: { code: "UPSTREAM_TIMEOUT", message: "no" } }, { status: 504 }),
    });
    await press("Run again");
    expect(screen.getByText(/did not confirm a new job/)).toBeDefined();
  });

  it("creates one job when the button is double-clicked", async () => {
    const detail = { id: "job-1", status: "completed", workflow: { prompt: graph } };
    const requests = mockResponses({ "/api/jobs/job-1": detail, "/api/prompt": { prompt_id: "new-job-1" } });
    renderInApp(<ActionsView facts={createFacts()} />);
    for (const name of ["Run again", "New seeds"]) {
      const button = screen.getByRole("button", { name });
      await act(async () => void fireEvent.click(button, { detail: 1 }));
      expect(screen.getByRole("link", { name: "Open new-job-" })).toBeDefined();
      await act(async () => void fireEvent.click(button, { detail: 2 }));
    }
    expect(requests).toHaveLength(2);
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
});
