import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { JobActionResult, JobActions, useJobActions } from "@/components/jobs/job/job-actions";
import { type JobFacts } from "@/components/jobs/job/job-facts";
import { UNDO_WINDOW_MS } from "@/components/ui/hooks/use-pending-undo";
import { renderInApp } from "../render";
import { factsOf, graph } from "./sample-job";

describe("actions of a job's page", () => {
  function Acts({ facts, connection = "c1" }: { facts: JobFacts; connection?: string }) {
    const actions = useJobActions({ jobId: "job-1", connection, onDone: () => undefined });
    return (
      <>
        <JobActions facts={facts} actions={actions} />
        <JobActionResult facts={facts} actions={actions} />
      </>
    );
  }
  const names = () => [...screen.queryAllByRole("button"), ...screen.queryAllByRole("link")].map((element) => element.textContent);
  /** Replaces `fetch`: records requests and returns these responses. */
  function answering(answers: Record<string, unknown>) {
    const requests: { path: string; json: unknown }[] = [];
    vi.stubGlobal("fetch", async (path: string, init: RequestInit = {}) => {
      if (init.method === "POST") requests.push({ path, json: JSON.parse(String(init.body)) });
      const response = Object.entries(answers).find(([start]) => path.startsWith(start))?.[1];
      return response instanceof Response ? response : Response.json(response);
    });
    return requests;
  }
  const press = async (name: string) => act(async () => void fireEvent.click(screen.getByRole("button", { name })));

  it("depends on its state", () => {
    const offered = (extra: object) => {
      renderInApp(<Acts facts={factsOf(extra)} />);
      const namesBefore = names();
      cleanup();
      return namesBefore;
    };
    expect(offered({ status: "pending" })).toEqual(["Cancel job", "New seeds", "Run again", "Create an app", "Edit & run"]);
    expect(offered({ status: "executing" })).toEqual(["Stop job", "New seeds", "Run again", "Create an app", "Edit & run"]);
    expect(offered({ status: "completed" })).toEqual(["New seeds", "Run again", "Create an app", "Edit & run"]);
    expect(offered({ status: "failed", workflow: { prompt: { "1": graph["1"] } } })).toEqual(["Run again", "Create an app", "Edit & run"]);
    expect(offered({ status: "completed", workflow: undefined })).toEqual([]);
  });

  it("explains why Stop is missing", async () => {
    answering({ "/api/console/capabilities": { "jobs.stop": false } });
    renderInApp(<Acts facts={factsOf({ status: "executing" })} connection="core-1" />);
    expect(await screen.findByText("This service cannot stop running jobs")).toBeDefined();
    expect(screen.queryByRole("button", { name: "Stop job" })).toBeNull();
  });

  it("delays a cancel by five seconds with Undo", async () => {
    vi.useFakeTimers();
    const requests = answering({ "/api/queue": { deleted: ["job-1"] } });
    renderInApp(<Acts facts={factsOf({ status: "pending" })} />);
    await press("Cancel job");
    await press("Undo");
    await act(() => vi.advanceTimersByTimeAsync(UNDO_WINDOW_MS * 2));
    expect(requests).toEqual([]);
    await press("Cancel job");
    await act(() => vi.advanceTimersByTimeAsync(UNDO_WINDOW_MS + 1));
    expect(requests).toMatchObject([{ json: { delete: ["job-1"] } }]);
    expect(screen.getByText("1 cancelled")).toBeDefined();
  });

  it("reports what the service really stopped", async () => {
    vi.useFakeTimers();
    const none = { stopped: [], stopping: [], over: [], unable: [], together: 0 };
    const summary = [
      [{ stopped: ["job-1"] }, "1 stopped"],
      [{ stopping: ["job-1"] }, "stop requested for 1"],
      [{ over: ["job-1"] }, "1 had already finished"],
      [{ unable: ["job-1"] }, "1 still running"],
      [{ unable: ["job-1"], together: 3 }, "1 still running"],
    ] as const;
    for (const [result, text] of summary) {
      answering({ "/api/console/jobs/stop": { ...none, ...result } });
      renderInApp(<Acts facts={factsOf({ status: "in_progress" })} />);
      await press("Stop job");
      await act(() => vi.advanceTimersByTimeAsync(UNDO_WINDOW_MS + 1));
      expect(screen.getByText(text)).toBeDefined();
      if ("together" in result) expect(screen.getByRole("button", { name: "Stop all 3 running jobs" })).toBeDefined();
      cleanup();
    }
  });

  it("looks up a job's outcome after a lost cancel or stop response", async () => {
    vi.useFakeTimers();
    const cut = () => Response.json({ code: "UPSTREAM_UNREACHABLE", message: "cut" }, { status: 502 });
    const clear = { stopped: [], stopping: [], over: [], unable: [], together: 0 };
    const summary = [
      ["pending", "/api/queue", cut(), { status: "cancelled" }, "1 cancelled"],
      ["pending", "/api/queue", cut(), { status: "executing" }, "1 had already started"],
      ["pending", "/api/queue", cut(), { status: "pending" }, "1 failed"],
      ["pending", "/api/queue", cut(), Response.json({ code: "NOT_FOUND", message: "" }, { status: 404 }), "1 no longer on the service"],
      ["pending", "/api/queue", cut(), cut(), "1 with an unknown result"],
      ["in_progress", "/api/console/jobs/stop", cut(), { status: "cancelled" }, "1 stopped"],
      ["in_progress", "/api/console/jobs/stop", cut(), { status: "in_progress" }, "1 with an unknown result"],
      ["in_progress", "/api/console/jobs/stop", { ...clear, unsure: ["job-1"] }, { status: "completed" }, "1 had already finished"],
    ] as const;
    for (const [status, path, response, detail, text] of summary) {
      const requests = answering({ [path]: response, "/api/jobs/job-1": detail });
      renderInApp(<Acts facts={factsOf({ status })} />);
      await press(status === "pending" ? "Cancel job" : "Stop job");
      await act(() => vi.advanceTimersByTimeAsync(UNDO_WINDOW_MS + 1));
      // Only then is the look-up loaded.
      await act(() => vi.dynamicImportSettled());
      expect(screen.getByText(new RegExp(`^${text}`))).toBeDefined();
      // Nothing is resent automatically.
      expect(requests).toHaveLength(1);
      cleanup();
    }
  });

  it("runs a job again and reports a lost response as unknown", async () => {
    const detail = { id: "job-1", status: "completed", workflow: { prompt: graph } };
    const requests = answering({ "/api/jobs/job-1": detail, "/api/prompt": { prompt_id: "new-job-1" } });
    renderInApp(<Acts facts={factsOf()} />);
    await press("Run again");
    expect(requests).toMatchObject([{ json: { prompt: graph } }]);
    expect(screen.getByRole("link", { name: "Open new-job-" }).getAttribute("href")).toBe("/jobs/new-job-1");
    answering({
      "/api/jobs/job-1": detail,
      "/api/prompt": Response.json({ error: { code: "UPSTREAM_TIMEOUT", message: "no" } }, { status: 504 }),
    });
    await press("Run again");
    expect(screen.getByText(/did not confirm a new job/)).toBeDefined();
  });

  it("creates one job on a double click", async () => {
    const detail = { id: "job-1", status: "completed", workflow: { prompt: graph } };
    const requests = answering({ "/api/jobs/job-1": detail, "/api/prompt": { prompt_id: "new-job-1" } });
    renderInApp(<Acts facts={factsOf()} />);
    for (const name of ["Run again", "New seeds"]) {
      const button = screen.getByRole("button", { name });
      await act(async () => void fireEvent.click(button, { detail: 1 }));
      expect(screen.getByRole("link", { name: "Open new-job-" })).toBeDefined();
      await act(async () => void fireEvent.click(button, { detail: 2 }));
    }
    expect(requests).toHaveLength(2);
  });

  it("requests masked inputs instead of sending them", async () => {
    const masked = { "4": { class_type: "Call", inputs: { api_key: "[REDACTED]" } } };
    const requests = answering({ "/api/jobs/job-1": { id: "job-1", status: "completed", workflow: { prompt: masked } } });
    renderInApp(<Acts facts={factsOf()} />);
    await press("Run again");
    expect(requests).toEqual([]);
    const dialog = screen.getByRole("dialog");
    expect(within(dialog).getByText("Call #4: api_key")).toBeDefined();
    expect(within(dialog).getByRole("link", { name: "Edit & run" }).getAttribute("href")).toBe("/run?job=job-1");
  });
});
