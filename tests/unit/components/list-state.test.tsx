import { act, fireEvent, screen } from "@testing-library/react";
import { Profiler, useState } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { ClearFilters, FiltersPopover } from "@/components/frame/list/filters-popover";
import { ViewsDialog } from "@/components/frame/list/list-dialogs";
import { createListState } from "@/components/frame/list/list-state";
import { JobsFilters } from "@/components/jobs/list/jobs-filters";
import { getListApiPath, getListHref, noFilters, parseListQuery, toRequestQuery } from "@/components/jobs/list/list-urls";
import { createJobListAddress } from "@/components/jobs/list/use-job-list";
import { type SavedView } from "@/lib/contract/console";
import { createJobTable, createRows, stubAnimationFrames } from "./jobs/render-job-table";
import { renderInApp } from "./render";
import { press, stubScreenWidth } from "./render-screen";

const defaultQuery = parseListQuery("jobs", new URLSearchParams()).query;
const address = createJobListAddress("jobs", {});

it("reads the filters of the history and requests only ended jobs", () => {
  const search = "status=failed&workflow_id=w1&text= sea &within=24&max_items=20&offset=x";
  const { query, ignored } = parseListQuery("history", new URLSearchParams(search));
  expect(query).toMatchObject({ status: ["failed"], workflow_id: "w1", text: "sea", within: 24, limit: 20, offset: 0 });
  expect(ignored).toEqual(["offset=x"]);
  expect(getListHref("history", query, { connection: "c1" })).toBe(
    "/history?status=failed&workflow_id=w1&text=sea&within=24&max_items=20&connection=c1",
  );
  const pendingJobs = parseListQuery("history", new URLSearchParams("status=pending"));
  expect([pendingJobs.query.status, pendingJobs.ignored]).toEqual([undefined, ["status=pending"]]);
  const unfilteredQuery = { ...query, ...noFilters };
  expect(getListApiPath("history", unfilteredQuery, "c1")).toBe("/api/history_v2?offset=0&max_items=20&connection=c1");
  expect(getListApiPath("history", { ...unfilteredQuery, output_type: "image" }, "c1")).toContain(
    "/api/jobs?status=completed%2Cfailed%2Ccancelled&",
  );
  expect(toRequestQuery("history", unfilteredQuery).status).toEqual(["completed", "failed", "cancelled"]);
});

describe("filter change", () => {
  let runFrame: () => void;
  beforeEach(() => {
    window.history.replaceState(null, "", "/jobs");
    runFrame = stubAnimationFrames();
    vi.stubGlobal("setTimeout", (act: () => void) => (act(), 0));
    vi.stubGlobal("scrollTo", () => undefined);
    stubScreenWidth(true);
  });
  const getUrl = () => window.location.pathname + window.location.search;

  it("applies to the list immediately and updates the URL in the next frame", () => {
    const state = createListState(defaultQuery, createJobListAddress("jobs", { connection: "c1" }));
    state.navigate({ status: ["failed"] });
    expect([state.query().status, state.isLoading(), getUrl()]).toEqual([["failed"], true, "/jobs"]);
    runFrame();
    expect(getUrl()).toBe("/jobs?status=failed&connection=c1");
    const query = state.query();
    state.syncWithUrl(
      parseListQuery("jobs", new URLSearchParams("status=failed")).query,
      createJobListAddress("jobs", { connection: "c1" }),
    );
    expect([state.query(), state.isLoading()]).toEqual([query, true]);
    state.markShown(query);
    expect(state.isLoading()).toBe(false);
  });

  it("adds one history entry for quick changes and none for reverted ones", () => {
    const state = createListState({ ...defaultQuery, offset: 300 }, address);
    const before = window.history.length;
    state.navigate({ status: ["failed"] });
    state.navigate({ output_type: "image" });
    runFrame();
    expect([getUrl(), window.history.length]).toEqual(["/jobs?status=failed&output_type=image", before + 1]);
    state.syncWithUrl(state.query(), address);
    state.navigate({ status: undefined });
    state.navigate({ status: ["failed"] });
    runFrame();
    expect([window.history.length, state.query().status]).toEqual([before + 1, ["failed"]]);
  });

  it("follows the URL when Back changes it", () => {
    const state = createListState(defaultQuery, address);
    state.navigate({ status: ["failed"] });
    runFrame();
    state.syncWithUrl(defaultQuery, address);
    expect([getListHref("jobs", state.query()), state.isLoading()]).toEqual(["/jobs", false]);
  });

  it("returns to the first list when another one is loading", () => {
    const pushed: string[] = [];
    const address = { ...createJobListAddress("jobs", {}), push: (href: string) => void pushed.push(href) };
    const state = createListState(defaultQuery, address);
    state.navigate({ status: ["failed"] });
    runFrame();
    state.navigate({ status: undefined });
    runFrame();
    expect([pushed, state.isLoading()]).toEqual([["/jobs?status=failed", "/jobs"], false]);
  });

  it("adds one history entry while typing and another after Back", () => {
    const historySteps: string[] = [];
    const address = {
      ...createJobListAddress("jobs", {}),
      push: (href: string, isReplacing: boolean) => void historySteps.push(`${isReplacing ? "replaces" : "adds"} ${href}`),
    };
    const state = createListState(defaultQuery, address);
    const type = (text: string) => {
      state.navigate({ text }, true);
      runFrame();
      state.syncWithUrl(state.query(), address);
    };
    type("s");
    type("sea");
    state.syncWithUrl(defaultQuery, address);
    type("sky");
    expect(historySteps).toEqual(["adds /jobs?text=s", "replaces /jobs?text=sea", "adds /jobs?text=sky"]);
  });

  it("rerenders only its chip, not the table", () => {
    const rows = createRows(30);
    const state = createListState(defaultQuery, address);
    const rendered: string[] = [];
    renderInApp(
      <>
        <JobsFilters list="jobs" state={state} rows={rows} total={30} connection="c1" />
        <Profiler id="table" onRender={(id) => void rendered.push(id)}>
          {createJobTable(rows, { state, onChoiceChange: () => undefined })}
        </Profiler>
      </>,
    );
    rendered.splice(0);
    act(() => state.navigate({ status: ["failed"] }));
    expect(screen.getByRole("link", { name: /^Failed/ }).getAttribute("aria-current")).toBe("true");
    expect(rendered).toEqual([]);
    // The table header shows the sort order, so the table renders once.
    fireEvent.click(screen.getByRole("button", { name: "Submitted" }));
    expect(rendered).toHaveLength(1);
    expect(screen.getByRole("columnheader", { name: "Submitted" }).getAttribute("aria-sort")).toBe("ascending");
  });
});

function FilterBar() {
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

const getButton = () => screen.getByRole("button", { name: /^Filters/ });
const queryPanel = () => screen.queryByRole("dialog", { name: "Filters" });

it("focuses the filters when opened and closes on Esc or a press outside", async () => {
  renderInApp(<FilterBar />);
  expect([queryPanel(), getButton().getAttribute("aria-expanded")]).toEqual([null, "false"]);
  await press(/^Filters/);
  const panel = await screen.findByRole("dialog", { name: "Filters" });
  expect(document.activeElement).toBe(panel);
  expect(getButton().getAttribute("aria-expanded")).toBe("true");
  fireEvent.keyDown(screen.getByRole("textbox", { name: "Person" }), { key: "Escape", isComposing: true });
  fireEvent.keyDown(document.body, { key: "Escape", isComposing: true });
  expect(queryPanel()).not.toBeNull();
  fireEvent.keyDown(screen.getByRole("textbox", { name: "Person" }), { key: "Escape" });
  expect(queryPanel()).toBeNull();
  expect(document.activeElement).toBe(getButton());
  await press(/^Filters/);
  fireEvent.pointerDown(screen.getByRole("textbox", { name: "Person" }));
  expect(queryPanel()).not.toBeNull();
  fireEvent.pointerDown(document.body);
  expect(queryPanel()).toBeNull();
});

it("shows the number of active filters until they are cleared", () => {
  renderInApp(<FilterBar />);
  expect(getButton().textContent).toContain("Filters: 2");
  fireEvent.click(screen.getByRole("button", { name: "Clear filters" }));
  expect(getButton().textContent).toMatch(/^Filters\s/);
  expect(screen.queryByRole("button", { name: "Clear filters" })).toBeNull();
});

it("marks the current view in any parameter order", async () => {
  const createView = (id: string, query: string): SavedView => ({ id, name: id, query, team: false, isDefault: false, canChange: true });
  const views = [
    createView("searched first", "status=failed&text=red+cat&within=24&sort_by=execution_time&limit=25"),
    createView("sorted first", "status=failed&sort_by=execution_time&limit=25&text=red+cat&within=24"),
    createView("another", "status=failed&text=red+cat&within=24&sort_by=execution_time&limit=50"),
  ];
  vi.stubGlobal("fetch", async () => Response.json({ views }));
  const href = getListHref("jobs", {
    ...{ status: ["failed"], text: "red cat", within: 24 },
    ...{ sort_by: "execution_time", sort_order: "desc", offset: 0, limit: 25 },
  });
  const query = href.split("?")[1] ?? "";
  renderInApp(<ViewsDialog screen="jobs" query={query} getHref={(query) => `/jobs?${query}`} canShare onClose={() => undefined} />);
  await screen.findByRole("link", { name: "another" });
  const currentLinks = screen.getAllByRole("link", { current: true });
  expect(currentLinks.map(({ textContent }) => textContent)).toEqual(["searched first", "sorted first"]);
});

it("saves a view once and keeps its options when saving fails", async () => {
  const bodies: unknown[] = [];
  let respond: (response: Response) => void = () => undefined;
  vi.stubGlobal("fetch", (_path: string, { body }: RequestInit = {}) => {
    if (typeof body !== "string") return Promise.resolve(Response.json({ views: [] }));
    bodies.push(JSON.parse(body));
    return new Promise<Response>((resolve) => (respond = resolve));
  });
  renderInApp(<ViewsDialog screen="history" query="" getHref={() => "/history"} canShare onClose={() => undefined} />);
  const name = await screen.findByRole("textbox");
  fireEvent.change(name, { target: { value: "mine" } });
  fireEvent.click(screen.getByRole("checkbox", { name: "Share with the team" }));
  fireEvent.submit(name);
  fireEvent.submit(name);
  await act(async () => respond(Response.json({ code: "INTERNAL", message: "" }, { status: 500 })));
  await act(async () => void fireEvent.submit(name));
  expect(bodies).toEqual([0, 1].map(() => expect.objectContaining({ name: "mine", team: true })));
});
