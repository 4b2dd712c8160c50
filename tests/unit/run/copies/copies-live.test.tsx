import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { useState } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { type CopiesActions, CopiesCard } from "@/components/run/copies/copies-card";
import { type CopiesSet, type Copy } from "@/components/run/copies/copies-state";
import { type VariationInput } from "@/components/run/copies/variation";
import { VariationFields } from "@/components/run/copies/variation-fields";
import { type FormField } from "@/components/run/form/form-model";
import { UNDO_WINDOW_MS } from "@/components/ui/hooks/use-pending-undo";
import { LIVE_INTERVAL_MS } from "@/tests/support/mock-live";
import { renderPage } from "../render";
import { createApi } from "../run-page";

describe("jobs of copies", () => {
  type Row = { id: string; status: string; progress?: { value: number }; create_time?: number };
  let rows: readonly Row[] | Response = [];
  /** Response fields other than `jobs`. */
  let overrides: { pagination?: Record<string, unknown>; unreadable?: number } = {};
  let requests: string[] = [];
  let bodies: unknown[] = [];

  beforeEach(() => {
    vi.useFakeTimers();
    [requests, bodies] = [[], []];
    [cancelled, overrides] = [[], {}];
    // Replaces the service that this page calls.
    vi.stubGlobal("fetch", async (path: string, init?: { method?: string; body?: string }) => {
      if (init?.method === "POST") {
        bodies.push(JSON.parse(init.body ?? ""));
        return Response.json({ deleted: ["three"], cleared: false });
      }
      requests.push(path);
      return rows instanceof Response ? rows.clone() : Response.json({ jobs: rows, pagination: { total: rows.length }, ...overrides });
    });
  });

  const createAcceptedCopy = (jobId: string, isCancelled = false): Copy => ({
    key: jobId,
    label: `copy ${jobId}`,
    isBegun: true,
    outcome: { kind: "accepted", jobId, nodesRefused: 0, ...(isCancelled && { isCancelled }) },
  });
  let cancelled: string[] = [];
  const work: CopiesActions = {
    stop: () => undefined,
    resume: async () => undefined,
    markCancelled: (ids) => cancelled.push(...ids),
    dismiss: () => undefined,
  };

  async function show(copies: readonly Copy[]) {
    const set: CopiesSet = {
      id: "set",
      memberId: "ada",
      workflowId: "flow-1",
      name: "Poster",
      atMs: 0,
      copies,
      ending: { kind: "done" },
      canResume: false,
      connection: "c1",
    };
    renderPage(<CopiesCard set={set} fallbackName="pasted" canRun work={work} />);
    await advanceTime(0);
  }
  const advanceTime = async (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
  const getRows = () => within(screen.getByRole("list")).getAllByRole("listitem");

  it("are polled with one request per set until the last job ends", async () => {
    rows = [
      { id: "three", status: "pending" },
      { id: "other-run", status: "failed" },
      { id: "two", status: "in_progress", progress: { value: 0.5 } },
      { id: "one", status: "completed" },
    ];
    await show(["one", "two", "three"].map((id) => createAcceptedCopy(id)));
    expect(requests).toEqual(["/api/jobs?workflow_id=flow-1&limit=53&connection=c1#copies"]);
    expect(screen.getByText("1 completed · 1 running · 1 pending")).toBeDefined();
    expect(screen.getByText("1 of 3 finished")).toBeDefined();
    expect(screen.getByText("live")).toBeDefined();
    expect(getRows().map((row) => row.textContent)).toEqual(["copy oneCompletedone", "copy twoRunningtwo", "copy threePendingthree"]);
    expect(screen.getByRole("progressbar", { name: "copy two" }).getAttribute("aria-valuenow")).toBe("50");

    rows = ["one", "two", "three"].map((id) => ({ id, status: id === "two" ? "failed" : "completed" }));
    await advanceTime(LIVE_INTERVAL_MS + 100);
    expect(requests).toHaveLength(2);
    // Jobs that cannot change any more are neither live nor out of date.
    expect(screen.queryByText("live")).toBeNull();
    expect(screen.getByRole("status").textContent).toBe("2 completed · 1 failed");
    expect(screen.queryByRole("button", { name: "Cancel pending" })).toBeNull();
    await advanceTime(10 * LIVE_INTERVAL_MS);
    expect(requests).toHaveLength(2);
  });

  it("link to their workflow and connection in Jobs", async () => {
    rows = [{ id: "one", status: "completed" }];
    await show([createAcceptedCopy("one")]);
    const href = (name: string) => screen.getByRole("link", { name }).getAttribute("href");
    expect(href("Open in Jobs")).toBe("/jobs?workflow_id=flow-1&connection=c1");
    expect(href("one")).toBe("/jobs/one?connection=c1");
  });

  it("keep the last state after a failed poll and are marked as outdated", async () => {
    rows = [{ id: "one", status: "in_progress" }];
    await show(["one", "two"].map((id) => createAcceptedCopy(id)));
    expect(screen.getByText("1 in the queue · 1 running")).toBeDefined();
    rows = new Response("<html>", { status: 502 });
    await advanceTime(LIVE_INTERVAL_MS + 100);
    expect(screen.getByText("1 in the queue · 1 running")).toBeDefined();
    expect(screen.getByText(/^not updated since/)).toBeDefined();
  });

  it("are shown as gone, not as cancelled, when the service lost them", async () => {
    rows = [
      { id: "four", status: "pending" },
      { id: "two", status: "in_progress" },
      { id: "one", status: "completed" },
    ];
    await show([...["one", "two", "three"].map((id) => createAcceptedCopy(id)), createAcceptedCopy("four", true)]);
    expect(screen.getByText("1 in the queue · 1 completed · 1 running · 1 pending")).toBeDefined();
    rows = [];
    await advanceTime(LIVE_INTERVAL_MS + 100);
    expect(screen.getByRole("status").textContent).toBe("1 completed · 1 cancelled · 2 gone");
    expect(screen.getByText("4 of 4 finished")).toBeDefined();
    expect(getRows().map((row) => row.textContent)).toEqual([
      "copy oneCompletedone",
      "copy twoGonetwo",
      "copy threeGonethree",
      "copy fourCancelledfour",
    ]);
    expect(screen.queryByRole("button", { name: "Cancel pending" })).toBeNull();
  });

  it.each([
    ["has more jobs", 1, 1, { pagination: { total: 2, has_more: true } }],
    ["has a higher total than jobs", 1, 1, { pagination: { total: 9 } }],
    ["has an unreadable job", 1, 3, { pagination: { total: 1 }, unreadable: 1 }],
    ["has as many jobs as requested", 51, 1, {}],
  ])("are shown as gone only when the list is complete, not when it %s", async (_, otherCount, create_time, variant) => {
    const otherJobs = Array.from({ length: otherCount }, (_, index) => ({ id: `other ${index}`, status: "completed", create_time: 2 }));
    rows = [{ id: "one", status: "pending", create_time }, ...otherJobs.slice(0, 1)];
    await show([createAcceptedCopy("one")]);
    [rows, overrides] = [otherJobs, variant];
    await advanceTime(LIVE_INTERVAL_MS + 100);
    expect(getRows().map((row) => row.textContent)).toEqual(["copy onePendingone"]);
    [rows, overrides] = [otherJobs.slice(0, 1), {}];
    await advanceTime(LIVE_INTERVAL_MS + 100);
    expect(getRows().map((row) => row.textContent)).toEqual(["copy oneGoneone"]);
  });

  it("are cancelled only while pending", async () => {
    rows = [
      { id: "three", status: "pending" },
      { id: "two", status: "in_progress" },
      { id: "one", status: "in_progress" },
    ];
    await show(["one", "two", "three"].map((id) => createAcceptedCopy(id)));
    fireEvent.click(screen.getByRole("button", { name: "Cancel pending" }));
    fireEvent.click(screen.getByRole("button", { name: "Undo" }));
    fireEvent.click(screen.getByRole("button", { name: "Cancel pending" }));
    expect(screen.getByText("Cancelling 1 job")).toBeDefined();
    await advanceTime(UNDO_WINDOW_MS + 100);
    expect(bodies).toEqual([{ delete: ["three"] }]);
    expect(cancelled).toEqual(["three"]);
    expect(screen.getByText("1 cancelled")).toBeDefined();
  });

  it("are shown as cancelled when the page closes during the undo window", async () => {
    rows = [{ id: "three", status: "pending" }];
    await show([createAcceptedCopy("three")]);
    fireEvent.click(screen.getByRole("button", { name: "Cancel pending" }));
    cleanup();
    await advanceTime(0);
    expect(bodies).toEqual([{ delete: ["three"] }]);
    expect(cancelled).toEqual(["three"]);
  });
});

const options = ["area", "bicubic", "bilinear", "lanczos", "nearest-exact"];
const field: FormField = { name: "method", value: "area", control: { kind: "choice", options } };
const emptyInput: VariationInput = { list: "", from: "", to: "", step: "", count: "", chosen: [], pictures: [] };
const picture = { ...createApi(undefined), canSend: true, onNamed: () => undefined };

it("handles a Shift click on the label once", () => {
  const patches: unknown[] = [];
  function Choices() {
    const [input, setInput] = useState(emptyInput);
    const handleTyped = (overrides: Partial<VariationInput>) => {
      patches.push(overrides.chosen);
      setInput({ ...input, ...overrides });
    };
    return <VariationFields field={field} kind="chosen" input={input} picture={picture} onChange={handleTyped} />;
  }
  renderPage(<Choices />);
  fireEvent.click(screen.getByText("bicubic"));
  fireEvent.click(screen.getByText("lanczos"), { shiftKey: true });
  expect(document.activeElement).toBe(screen.getByRole("checkbox", { name: "lanczos" }));
  fireEvent.click(screen.getByText("bilinear"), { shiftKey: true });
  expect(patches).toEqual([["bicubic"], ["bicubic", "bilinear", "lanczos"], ["bicubic"]]);
  expect(options.filter((name) => screen.getByRole<HTMLInputElement>("checkbox", { name }).checked)).toEqual(["bicubic"]);
});
