// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CopiesCard, type CopiesWork } from "@/components/run/copies/copies-card";
import { type CopiesSet, type Copy } from "@/components/run/copies/copies-state";
import { UNDO_MS } from "@/components/ui/hooks/use-pending-undo";
import { BUSY_MS } from "@/lib/browser/poll/poll-plan";
import { renderPage } from "../render";

type Row = { id: string; status: string; progress?: { value: number }; create_time?: number };
let rows: readonly Row[] | Response = [];
/** Fields of the answer beside its rows. */
let more: { pagination?: Record<string, unknown>; unreadable?: number } = {};
let asked: string[] = [];
let posted: unknown[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  [asked, posted] = [[], []];
  [cancelled, more] = [[], {}];
  // Replaces the service that this page calls.
  vi.stubGlobal("fetch", async (path: string, init?: { method?: string; body?: string }) => {
    if (init?.method === "POST") {
      posted.push(JSON.parse(init.body ?? ""));
      return Response.json({ deleted: ["three"], cleared: false });
    }
    asked.push(path);
    return rows instanceof Response ? rows.clone() : Response.json({ jobs: rows, pagination: { total: rows.length }, ...more });
  });
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const accepted = (jobId: string, isCancelled = false): Copy => ({
  key: jobId,
  label: `copy ${jobId}`,
  isBegun: true,
  outcome: { kind: "accepted", jobId, nodesRefused: 0, ...(isCancelled && { isCancelled }) },
});
let cancelled: string[] = [];
const work: CopiesWork = {
  stop: () => undefined,
  goOn: async () => undefined,
  cancelled: (ids) => cancelled.push(...ids),
  leave: () => undefined,
};

async function show(copies: readonly Copy[], connection?: string) {
  const set: CopiesSet = {
    id: "set",
    memberId: "ada",
    workflowId: "flow-1",
    name: "Poster",
    atMs: 0,
    copies,
    ending: { kind: "done" },
    canGoOn: false,
    ...(connection !== undefined && { connection }),
  };
  renderPage(<CopiesCard set={set} fallbackName="pasted" canRun work={work} />);
  await pass(0);
}
const pass = async (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
const lines = () => within(screen.getByRole("list")).getAllByRole("listitem");

describe("the jobs of copies", () => {
  it("are followed by one question for the whole set, until the last one has ended", async () => {
    rows = [
      { id: "three", status: "pending" },
      { id: "of another run", status: "failed" },
      { id: "two", status: "in_progress", progress: { value: 0.5 } },
      { id: "one", status: "completed" },
    ];
    await show([accepted("one"), accepted("two"), accepted("three")], "c1");
    expect(asked).toEqual(["/api/jobs?workflow_id=flow-1&limit=53&connection=c1#copies"]);
    expect(screen.getByText("1 completed · 1 running · 1 pending")).toBeDefined();
    expect(screen.getByText("1 of 3 finished")).toBeDefined();
    expect(screen.getByText("live")).toBeDefined();
    expect(lines().map((line) => line.textContent)).toEqual(["copy oneCompletedone", "copy twoRunningtwo", "copy threePendingthree"]);
    expect(screen.getByRole("progressbar", { name: "copy two" }).getAttribute("aria-valuenow")).toBe("50");

    rows = ["one", "two", "three"].map((id) => ({ id, status: id === "two" ? "failed" : "completed" }));
    await pass(BUSY_MS + 100);
    expect(asked).toHaveLength(2);
    // Jobs that cannot change any more are neither live nor out of date.
    expect(screen.queryByText("live")).toBeNull();
    expect(screen.getByRole("status").textContent).toBe("2 completed · 1 failed");
    expect(screen.queryByRole("button", { name: "Cancel waiting" })).toBeNull();
    await pass(10 * BUSY_MS);
    expect(asked).toHaveLength(2);
  });

  it("lead to the list of jobs, which then shows those of their workflow on their connection", async () => {
    rows = [{ id: "one", status: "completed" }];
    await show([accepted("one")], "c1");
    const href = (name: string) => screen.getByRole("link", { name }).getAttribute("href");
    expect(href("Open in Jobs")).toBe("/jobs?workflow_id=flow-1&connection=c1");
    expect(href("one")).toBe("/jobs/one?connection=c1");
  });

  it("keep the state that was seen when an answer fails, and say that it is old", async () => {
    rows = [{ id: "one", status: "in_progress" }];
    await show([accepted("one"), accepted("two")], "c1");
    expect(screen.getByText("1 in the queue · 1 running")).toBeDefined();
    rows = new Response("<html>", { status: 502 });
    await pass(BUSY_MS + 100);
    expect(screen.getByText("1 in the queue · 1 running")).toBeDefined();
    expect(screen.getByText(/^not updated since/)).toBeDefined();
  });

  it("that the service lost are gone with the next answer, and those that were cancelled are not called that", async () => {
    rows = [
      { id: "four", status: "pending" },
      { id: "two", status: "in_progress" },
      { id: "one", status: "completed" },
    ];
    await show([accepted("one"), accepted("two"), accepted("three"), accepted("four", true)], "c1");
    expect(screen.getByText("1 in the queue · 1 completed · 1 running · 1 pending")).toBeDefined();
    rows = [];
    await pass(BUSY_MS + 100);
    expect(screen.getByRole("status").textContent).toBe("1 completed · 1 cancelled · 2 gone");
    expect(screen.getByText("4 of 4 finished")).toBeDefined();
    expect(lines().map((line) => line.textContent)).toEqual([
      "copy oneCompletedone",
      "copy twoGonetwo",
      "copy threeGonethree",
      "copy fourCancelledfour",
    ]);
    expect(screen.queryByRole("button", { name: "Cancel waiting" })).toBeNull();
  });

  it("are not called gone by a list that is cut before them", async () => {
    rows = [{ id: "one", status: "pending" }];
    await show([accepted("one")], "c1");
    rows = Array.from({ length: 51 }, (_, at) => ({ id: `other ${at}`, status: "completed" }));
    await pass(BUSY_MS + 100);
    expect(lines().map((line) => line.textContent)).toEqual(["copy onePendingone"]);
  });

  it.each([
    ["that says there are more", 1, { pagination: { total: 2, has_more: true } }],
    ["that counts more jobs than it gives", 1, { pagination: { total: 9 } }],
    ["with a row that nobody can read", 3, { pagination: { total: 1 }, unreadable: 1 }],
  ])("are not called gone by a short list %s, and are by a whole one", async (_, create_time, beside) => {
    const other = { id: "other", status: "completed", create_time: 2 };
    rows = [{ id: "one", status: "pending", create_time }, other];
    await show([accepted("one")], "c1");
    [rows, more] = [[other], beside];
    await pass(BUSY_MS + 100);
    expect(lines().map((line) => line.textContent)).toEqual(["copy onePendingone"]);
    more = {};
    await pass(BUSY_MS + 100);
    expect(lines().map((line) => line.textContent)).toEqual(["copy oneGoneone"]);
  });

  it("are held to be cancelled only as far as they may still wait, by the one way in which jobs are ended", async () => {
    rows = [
      { id: "three", status: "pending" },
      { id: "two", status: "in_progress" },
      { id: "one", status: "in_progress" },
    ];
    await show([accepted("one"), accepted("two"), accepted("three")], "c1");
    fireEvent.click(screen.getByRole("button", { name: "Cancel waiting" }));
    expect(screen.getByText("Cancelling 1 job")).toBeDefined();
    await pass(UNDO_MS + 100);
    expect(posted).toEqual([{ delete: ["three"] }]);
    expect(cancelled).toEqual(["three"]);
    expect(screen.getByText("1 cancelled")).toBeDefined();
  });

  it("that were cancelled in the moment in which the page was left are known as that when it is back", async () => {
    rows = [{ id: "three", status: "pending" }];
    await show([accepted("three")], "c1");
    fireEvent.click(screen.getByRole("button", { name: "Cancel waiting" }));
    cleanup();
    await pass(0);
    expect(posted).toEqual([{ delete: ["three"] }]);
    expect(cancelled).toEqual(["three"]);
  });
});
