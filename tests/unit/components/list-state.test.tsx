import { act, fireEvent, screen } from "@testing-library/react";
import { Profiler, useState } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { createSelection } from "@/components/data-table/selection";
import { ClearFilters, FiltersPopover } from "@/components/frame/list/filters-popover";
import { ViewsDialog } from "@/components/frame/list/list-dialogs";
import { createListState } from "@/components/frame/list/list-state";
import { DEFAULT_CHOICE } from "@/components/jobs/columns/columns";
import { type JobRow } from "@/components/jobs/job-row";
import { JobListTable } from "@/components/jobs/list/job-list-table";
import { JobsFilters } from "@/components/jobs/list/jobs-filters";
import { listApiPath, listHref, noFilters, readList, requestQuery } from "@/components/jobs/list/list-address";
import { jobsAddress } from "@/components/jobs/list/use-job-list";
import { type SavedView } from "@/lib/contract/console";
import { renderInApp } from "./render";

describe("list state", () => {
  const all = readList("jobs", new URLSearchParams()).query;
  let painted: (() => void)[] = [];
  const paint = () => act(() => painted.splice(0).forEach((act) => act()));

  beforeEach(() => {
    painted = [];
    window.history.replaceState(null, "", "/jobs");
    vi.stubGlobal("requestAnimationFrame", (act: () => void) => painted.push(act));
    vi.stubGlobal("setTimeout", (act: () => void) => (act(), 0));
    vi.stubGlobal("scrollTo", () => undefined);
    vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => undefined, removeEventListener: () => undefined }));
  });
  const address = () => window.location.pathname + window.location.search;

  describe("an address", () => {
    it("requests ended jobs of the history with the filters of Jobs", () => {
      const search = "status=failed&workflow_id=w1&text= sea &within=24&max_items=20&offset=x";
      const { query, ignored } = readList("history", new URLSearchParams(search));
      expect(query).toMatchObject({ status: ["failed"], workflow_id: "w1", text: "sea", within: 24, limit: 20, offset: 0 });
      expect(ignored).toEqual(["offset=x"]);
      expect(listHref("history", query, { connection: "c1" })).toBe(
        "/history?status=failed&workflow_id=w1&text=sea&within=24&max_items=20&connection=c1",
      );
      expect(readList("history", new URLSearchParams("status=pending"))).toMatchObject({
        query: { status: undefined },
        ignored: ["status=pending"],
      });
      const plain = { ...query, ...noFilters };
      expect(listApiPath("history", plain, "c1")).toBe("/api/history_v2?offset=0&max_items=20&connection=c1");
      expect(listApiPath("history", { ...plain, output_type: "image" }, "c1")).toContain(
        "/api/jobs?status=completed%2Cfailed%2Ccancelled&",
      );
      expect(requestQuery("history", plain).status).toEqual(["completed", "failed", "cancelled"]);
    });
  });

  describe("a press on a filter", () => {
    it("applies to the list immediately and updates the URL in the next frame", () => {
      const state = createListState(all, jobsAddress("jobs", { connection: "c1" }));
      state.go({ status: ["failed"] });
      expect([state.query().status, state.isMoving(), address()]).toEqual([["failed"], true, "/jobs"]);
      paint();
      expect(address()).toBe("/jobs?status=failed&connection=c1");
      const query = state.query();
      state.follow(readList("jobs", new URLSearchParams("status=failed")).query, jobsAddress("jobs", { connection: "c1" }));
      expect([state.query(), state.isMoving()]).toEqual([query, true]);
      state.show(query);
      expect(state.isMoving()).toBe(false);
    });

    it("merges quick changes into one history step, and none when reverted", () => {
      const state = createListState({ ...all, offset: 300 }, jobsAddress("jobs", {}));
      const before = window.history.length;
      state.go({ status: ["failed"] });
      state.go({ output_type: "image" });
      paint();
      expect([address(), window.history.length]).toEqual(["/jobs?status=failed&output_type=image", before + 1]);
      state.follow(state.query(), jobsAddress("jobs", {}));
      state.go({ status: undefined });
      state.go({ status: ["failed"] });
      paint();
      expect([window.history.length, state.query().status]).toEqual([before + 1, ["failed"]]);
    });

    it("follows the address, which Back may have changed", () => {
      const state = createListState(all, jobsAddress("jobs", {}));
      state.go({ status: ["failed"] });
      paint();
      state.follow(all, jobsAddress("jobs", {}));
      expect([listHref("jobs", state.query()), state.isMoving()]).toEqual(["/jobs", false]);
    });

    it("returns to the first list while another is loading", () => {
      const pushed: string[] = [];
      const address = { ...jobsAddress("jobs", {}), push: (href: string) => void pushed.push(href) };
      const state = createListState(all, address);
      state.go({ status: ["failed"] });
      paint();
      state.go({ status: undefined });
      paint();
      expect([pushed, state.isMoving()]).toEqual([["/jobs?status=failed", "/jobs"], false]);
    });

    it("adds one history step for continued typing and another after Back", () => {
      const steps: string[] = [];
      const address = {
        ...jobsAddress("jobs", {}),
        push: (href: string, isReplacing: boolean) => void steps.push(`${isReplacing ? "replaces" : "adds"} ${href}`),
      };
      const state = createListState(all, address);
      const type = (text: string) => {
        state.go({ text }, true);
        paint();
        state.follow(state.query(), address);
      };
      type("s");
      type("sea");
      state.follow(all, address);
      type("sky");
      expect(steps).toEqual(["adds /jobs?text=s", "replaces /jobs?text=sea", "adds /jobs?text=sky"]);
    });

    it("redraws its chip only, not the table or rows", () => {
      const rows: JobRow[] = Array.from({ length: 30 }, (_, at) => ({ id: `job-${at}`, word: "completed", state: "completed" }));
      const state = createListState(all, jobsAddress("jobs", {}));
      const rendered: string[] = [];
      const noPanel = {
        subscribe: () => () => undefined,
        get: () => undefined,
        has: () => false,
        open: () => false,
        close: () => undefined,
      };
      renderInApp(
        <>
          <JobsFilters list="jobs" state={state} rows={rows} total={30} connection="c1" />
          <Profiler id="table" onRender={(id) => void rendered.push(id)}>
            <JobListTable
              caption="Jobs"
              rows={rows}
              state={state}
              connection="c1"
              selection={createSelection()}
              choice={DEFAULT_CHOICE}
              onChoiceChange={() => undefined}
              openPanel={{ ...noPanel, settle: () => undefined }}
            />
          </Profiler>
        </>,
      );
      rendered.splice(0);
      act(() => state.go({ status: ["failed"] }));
      expect(screen.getByRole("link", { name: /^Failed/ }).getAttribute("aria-current")).toBe("true");
      expect(rendered).toEqual([]);
      // The header that shows the order belongs to the table, so the table is drawn once.
      fireEvent.click(screen.getByRole("button", { name: "Submitted" }));
      expect([rendered.length, screen.getByRole("columnheader", { name: "Submitted" }).getAttribute("aria-sort")]).toEqual([
        1,
        "ascending",
      ]);
    });
  });
});

function Bar() {
  const [count, setCount] = useState(2);
  return (
    <>
      <FiltersPopover count={count}>
        <input aria-label="Person" />
      </FiltersPopover>
      <ClearFilters isSet={count > 0} onClear={() => setCount(0)} />
    </>
  );
}

const button = () => screen.getByRole("button", { name: /^Filters/ });
const panel = () => screen.queryByRole("dialog", { name: "Filters" });
async function open() {
  await act(async () => void fireEvent.click(button()));
  return screen.findByRole("dialog", { name: "Filters" });
}

it("opens with the focus, and Esc closes it and returns the focus", async () => {
  renderInApp(<Bar />);
  expect([panel(), button().getAttribute("aria-expanded")]).toEqual([null, "false"]);
  const element = await open();
  expect(document.activeElement).toBe(element);
  expect(button().getAttribute("aria-expanded")).toBe("true");
  fireEvent.keyDown(screen.getByRole("textbox", { name: "Person" }), { key: "Escape" });
  expect(panel()).toBeNull();
  expect(document.activeElement).toBe(button());
});

it("stays open on a press inside and closes on one outside", async () => {
  renderInApp(<Bar />);
  await open();
  fireEvent.pointerDown(screen.getByRole("textbox", { name: "Person" }));
  expect(panel()).not.toBeNull();
  fireEvent.pointerDown(document.body);
  expect(panel()).toBeNull();
});

it("counts active filters until cleared", () => {
  renderInApp(<Bar />);
  expect(button().textContent).toContain("Filters: 2");
  fireEvent.click(screen.getByRole("button", { name: "Clear filters" }));
  expect(button().textContent).toMatch(/^Filters\s/);
  expect(screen.queryByRole("button", { name: "Clear filters" })).toBeNull();
});

describe("views dialog", () => {
  const view = (id: string, query: string): SavedView => ({ id, name: id, query, team: false, isDefault: false, canChange: true });

  it("marks the current view regardless of the order of its parameters", async () => {
    const views = [
      view("searched first", "status=failed&text=red+cat&within=24&sort_by=execution_time&limit=25"),
      view("sorted first", "status=failed&sort_by=execution_time&limit=25&text=red+cat&within=24"),
      view("another", "status=failed&text=red+cat&within=24&sort_by=execution_time&limit=50"),
    ];
    vi.stubGlobal("fetch", async () => Response.json({ views }));
    const href = listHref("jobs", {
      ...{ status: ["failed"], text: "red cat", within: 24 },
      ...{ sort_by: "execution_time", sort_order: "desc", offset: 0, limit: 25 },
    });
    renderInApp(
      <ViewsDialog
        screen="jobs"
        query={href.split("?")[1] ?? ""}
        getHref={(query) => `/jobs?${query}`}
        canShare
        onClose={() => undefined}
      />,
    );
    await screen.findByRole("link", { name: "another" });
    expect(screen.getAllByRole("link", { current: true }).map(({ textContent }) => textContent)).toEqual([
      "searched first",
      "sorted first",
    ]);
  });
});
