import { fireEvent, screen, within } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { DataTable } from "@/components/data-table/data-table";
import { PageControls } from "@/components/data-table/paging";
import { createSelection, SelectAllRows, SelectRow } from "@/components/data-table/selection";
import { createColumns } from "@/components/data-table/table-columns";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { createListState } from "@/components/frame/list/list-state";
import {
  addInput,
  DEFAULT_CHOICE,
  getVisibleColumns,
  getVisibleInputs,
  parseColumnChoice,
  pinInput,
  singleMemberChoice,
  withInputs,
} from "@/components/jobs/columns/columns";
import { ColumnsDialog, moveColumn, removeInput, showColumn } from "@/components/jobs/columns/columns-dialog";
import { StatusFilter } from "@/components/jobs/list/jobs-filters";
import { getListHref, getViewHref, getViewQuery } from "@/components/jobs/list/list-urls";
import { OutputFilter } from "@/components/jobs/list/more-filters";
import { createJobListAddress } from "@/components/jobs/list/use-job-list";
import { createPersistedValue } from "@/lib/browser/persisted-value";
import { type JobSearchQuery } from "@/lib/contract/console";
import { collectInputs } from "@/lib/contract/jobs/job-inputs";
import { type KnownJobState, parseInputIds, toInputId } from "@/lib/contract/jobs/job-list";
import { renderInApp } from "../render";

const defaults = { sort_by: "create_time", sort_order: "desc", offset: 0, limit: 100 } as const;

it("adds view=all only when there are no other list parameters", () => {
  expect(getListHref("jobs", defaults, { view: "all", connection: "c1" })).toBe("/jobs?view=all&connection=c1");
  expect(getListHref("jobs", { ...defaults, limit: 25 }, { view: "all" })).toBe("/jobs?limit=25");
  expect(getViewHref("jobs", "status=failed&limit=50", "c1")).toBe("/jobs?status=failed&limit=50&connection=c1");
  expect(getViewHref("history", "", undefined)).toBe("/history?view=all");
});

it.each([
  [[], undefined, true],
  [["outputFilter"], undefined, false],
  [["outputFilter"], "image", true],
] as const)("shows the output filter without the features %j and with the filter %s: %s", (lacks, output_type, isShown) => {
  renderInApp(
    <ConnectionProvider currentId="c1" connections={[{ id: "c1", name: "One", embedded: false, lacks }]}>
      <OutputFilter state={createListState({ ...defaults, output_type }, createJobListAddress("jobs", {}))} />
    </ConnectionProvider>,
  );
  expect(screen.queryByRole("combobox", { name: "Output type" }) !== null).toBe(isShown);
});

describe("status filter", () => {
  const createFilteredState = (...status: KnownJobState[]) => createListState({ ...defaults, status }, createJobListAddress("jobs", {}));
  const getHrefs = () => screen.getAllByRole("link").map((link) => link.getAttribute("href"));

  it("adds and removes states one by one", () => {
    renderInApp(<StatusFilter list="jobs" state={createFilteredState("failed", "pending")} total={7} />);
    expect(getHrefs()).toEqual([
      "/jobs",
      "/jobs?status=pending%2Cin_progress%2Cfailed",
      "/jobs?status=failed",
      "/jobs?status=pending%2Ccompleted%2Cfailed",
      "/jobs?status=pending",
      "/jobs?status=pending%2Cfailed%2Ccancelled",
    ]);
    // The total is of both states together, so neither filter shows it.
    expect(screen.getByRole("link", { name: /^Failed/ }).textContent?.trim()).toBe("Failed");
  });

  it("offers only states of ended jobs in the history", () => {
    const state = createListState<JobSearchQuery>({ ...defaults, status: ["failed"] }, createJobListAddress("history", {}));
    renderInApp(<StatusFilter list="history" state={state} total={7} />);
    expect(getHrefs()).toEqual(["/history", "/history?status=completed%2Cfailed", "/history", "/history?status=failed%2Ccancelled"]);
  });

  it("shows the total when one state is selected", () => {
    renderInApp(<StatusFilter list="jobs" state={createFilteredState("failed")} total={1284} />);
    expect(screen.getByRole("link", { name: "Failed 1,284" }).getAttribute("aria-current")).toBe("true");
  });
});

it("keeps the first row on a size change and clamps page numbers", () => {
  const onGo = vi.fn();
  renderInApp(<PageControls offset={300} limit={100} total={1284} onNavigate={onGo} />);
  fireEvent.change(screen.getByLabelText("Rows per page"), { target: { value: "250" } });
  const page = screen.getByLabelText("Page");
  fireEvent.change(page, { target: { value: "99" } });
  fireEvent.submit(page);
  expect(onGo.mock.calls).toEqual([[{ limit: 250, offset: 250 }], [{ offset: 1200 }]]);
});

describe("selection", () => {
  const ids = ["a", "b", "c", "d"];
  function createStore() {
    const store = createSelection();
    store.setRows(ids);
    return store;
  }

  it("selects single rows when one of all matching is deselected", () => {
    const store = createStore();
    store.selectMatching();
    expect([store.isMatching(), store.has("on another page"), store.getPageSelection()]).toEqual([true, true, "all"]);
    store.select("b", false);
    expect([store.isMatching(), [...store.getIds()]]).toEqual([false, ["a", "c", "d"]]);
  });

  it("checks row boxes and selects the page with the header box", () => {
    const store = createStore();
    renderInApp(
      <>
        <SelectAllRows label="all" store={store} />
        {ids.map((id) => (
          <SelectRow key={id} id={id} label={id} store={store} />
        ))}
      </>,
    );
    const getCheckbox = (name: string) => screen.getByRole<HTMLInputElement>("checkbox", { name });
    fireEvent.click(getCheckbox("b"));
    fireEvent.click(getCheckbox("d"), { shiftKey: true });
    expect(ids.filter((id) => getCheckbox(id).checked)).toEqual(["b", "c", "d"]);
    expect(getCheckbox("all").indeterminate).toBe(true);
    fireEvent.click(getCheckbox("all"));
    expect(ids.every((id) => getCheckbox(id).checked)).toBe(true);
    fireEvent.click(getCheckbox("all"));
    expect(ids.some((id) => getCheckbox(id).checked)).toBe(false);
  });
});

describe("column choice", () => {
  it("moves and hides columns, except the job column", () => {
    const movedChoice = moveColumn(DEFAULT_CHOICE, "workflow", -1);
    expect(getVisibleColumns(movedChoice).slice(1, 4)).toEqual(["status", "workflow", "job"]);
    expect(moveColumn(DEFAULT_CHOICE, "preview", -1)).toBe(DEFAULT_CHOICE);
    expect(getVisibleColumns(showColumn(showColumn(DEFAULT_CHOICE, "outputs", false), "job", false))).toEqual(
      DEFAULT_CHOICE.order.filter((id) => id !== "outputs"),
    );
  });

  it("hides the members column in a personal workspace", () => {
    expect(getVisibleColumns(singleMemberChoice)).toEqual(getVisibleColumns(DEFAULT_CHOICE).filter((id) => id !== "by"));
    const olderChoice = { ...DEFAULT_CHOICE, order: DEFAULT_CHOICE.order.filter((id) => id !== "by"), hidden: ["ran"] };
    expect(parseColumnChoice(olderChoice).hidden).toEqual(["ran", "by"]);
    expect(getVisibleColumns(showColumn(parseColumnChoice(olderChoice), "by", true))).toContain("by");
    expect(parseColumnChoice({}).hidden).toEqual([]);
  });

  it("adds input columns for any node name, up to a limit", () => {
    const id = toInputId("12:3", "steps / pass");
    const oddChoice = addInput(DEFAULT_CHOICE, id);
    expect(parseColumnChoice(JSON.parse(JSON.stringify(oddChoice))).order).toEqual(oddChoice.order);
    expect(removeInput(oddChoice, id).order).toEqual(DEFAULT_CHOICE.order);
    const ids = Array.from({ length: 20 }, (_, index) => toInputId(String(index), "x"));
    expect(ids.reduce(addInput, DEFAULT_CHOICE).order.length).toBe(DEFAULT_CHOICE.order.length + 8);
  });

  it("adds inputs after the workflow, pins them and restores them from a view", () => {
    const [seed, steps] = [toInputId("*KSampler", "seed"), toInputId("*KSampler", "steps")];
    const getColumnsAfterWorkflow = (choice: typeof DEFAULT_CHOICE) => choice.order.slice(choice.order.indexOf("workflow") + 1).slice(0, 2);
    expect(getColumnsAfterWorkflow(addInput(addInput(DEFAULT_CHOICE, steps), seed))).toEqual([seed, steps]);
    const movedChoice = moveColumn(addInput(DEFAULT_CHOICE, seed), seed, 1);
    expect(getColumnsAfterWorkflow(movedChoice)[0]).not.toBe(seed);
    expect([getColumnsAfterWorkflow(pinInput(movedChoice, seed, true))[0], pinInput(movedChoice, seed, true).pinned]).toEqual([
      seed,
      [seed],
    ]);
    const search = new URLSearchParams(getViewQuery("jobs", { ...defaults, status: ["failed"] }, [seed, steps]));
    expect(search.get("status")).toBe("failed");
    const restored = withInputs(addInput(DEFAULT_CHOICE, toInputId("7", "old")), parseInputIds(search.get("inputs") ?? ""));
    expect(getVisibleInputs(restored)).toEqual([seed, steps]);
    expect(parseInputIds("input:%E0:x,bogus,__proto__")).toEqual([]);
  });

  it("lists the page's inputs once per job and finds them by name or value", async () => {
    const createSampler = (seed: number) => ({ class_type: "KSampler", inputs: { seed, model: ["1", 0] } });
    const saveNode = { class_type: "SaveImage", inputs: { filename_prefix: "hero" } };
    const prompts = { one: { "5": createSampler(5) }, two: { "7": createSampler(7), "8": createSampler(8), "9": saveNode } };
    vi.stubGlobal("fetch", async (path: string) =>
      Response.json({ workflow: { prompt: path.includes("/two?") ? prompts.two : prompts.one } }),
    );
    const selectedInputs: string[] = [];
    renderInApp(
      <ColumnsDialog
        choice={DEFAULT_CHOICE}
        defaultChoice={DEFAULT_CHOICE}
        jobs={["one", "two"]}
        connection="c1"
        onChoose={(choice) => selectedInputs.push(...getVisibleInputs(choice))}
        onClose={() => undefined}
      />,
    );
    const inputs = await screen.findAllByRole("button", { name: /of 2$/ });
    expect(inputs.map(({ textContent }) => textContent)).toEqual(["KSampler.seed52 of 2", "SaveImage.filename_prefixhero1 of 2"]);
    fireEvent.change(screen.getByRole("searchbox", { name: "Find an input" }), { target: { value: "HERO" } });
    fireEvent.click(screen.getByRole("button", { name: /of 2$/ }));
    expect(selectedInputs).toEqual([toInputId("*SaveImage", "filename_prefix")]);
  });

  it.each([null, "", "no json", "[]", '{"order":["bogus","input:%E0:x"],"widths":{"job":"wide","status":5000},"hidden":7}'])(
    "uses the defaults when the stored value is %j",
    (text) => {
      const storage = { getItem: () => text, setItem: () => undefined, removeItem: () => undefined };
      expect(createPersistedValue("columns", parseColumnChoice, () => storage).get()).toEqual(DEFAULT_CHOICE);
    },
  );

  it("reads only plain inputs and shortens long text", () => {
    const prompt = { 3: { class_type: "Sampler", inputs: { steps: 20, model: ["1", 0], text: "x".repeat(500), on: true } } };
    const values = collectInputs({ prompt, extra_data: {} }).get("3");
    expect(Object.fromEntries(values ?? [])).toEqual({ steps: "20", on: "true", text: "x".repeat(200) });
    expect(collectInputs(undefined).size).toBe(0);
  });
});

it("sorts with a button in the header and resizes with keys", async () => {
  const column = createColumns<{ id: string }>();
  const [onSort, onResize] = [vi.fn(), vi.fn()];
  renderInApp(
    <DataTable
      caption="Jobs"
      columns={column.columns([column.accessor("id", { header: "Id" })])}
      rows={[{ id: "a" }]}
      rowId={({ id }) => id}
      sorting={{ id: { direction: "asc", onSort } }}
      sizing={{ widths: {}, onResize, getLabel: (id) => `Width of ${id}`, defaultWidth: "as usual" }}
    />,
  );
  const header = screen.getByRole("columnheader", { name: "Id" });
  expect(header.getAttribute("aria-sort")).toBe("ascending");
  fireEvent.click(within(header).getByRole("button"));
  fireEvent.keyDown(await within(header).findByRole("slider", { name: "Width of id" }), { key: "ArrowRight" });
  expect(onSort).toHaveBeenCalledTimes(1);
  expect(onResize).toHaveBeenCalledWith("id", 48);
});
