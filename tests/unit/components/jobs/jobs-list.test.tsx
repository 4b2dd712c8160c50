import { cleanup, fireEvent, screen, within } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { DataTable } from "@/components/data-table/data-table";
import { lastOffset, PageControls, pageRange } from "@/components/data-table/paging";
import { createSelection, SelectAllRows, SelectRow } from "@/components/data-table/selection";
import { createColumns } from "@/components/data-table/table-columns";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { createListState } from "@/components/frame/list/list-state";
import {
  addInput,
  DEFAULT_CHOICE,
  pinInput,
  readChoice,
  shownColumns,
  shownInputs,
  singleMemberChoice,
  withInputs,
} from "@/components/jobs/columns/columns";
import { ColumnsDialog, moveColumn, removeInput, showColumn } from "@/components/jobs/columns/columns-dialog";
import { StatusFilter } from "@/components/jobs/list/jobs-filters";
import { listHref, viewHref, viewQuery } from "@/components/jobs/list/list-address";
import { OutputFilter } from "@/components/jobs/list/more-filters";
import { jobsAddress } from "@/components/jobs/list/use-job-list";
import { persisted } from "@/lib/browser/persisted";
import { type ConnectionFeature } from "@/lib/contract/connections";
import { type JobSearchQuery } from "@/lib/contract/console";
import { collectInputs, findCommonInputs } from "@/lib/contract/jobs/job-inputs";
import { type KnownJobState, parseInputIds, toInputId } from "@/lib/contract/jobs/job-list";
import { renderInApp } from "../render";

const defaults = { sort_by: "create_time", sort_order: "desc", offset: 0, limit: 100 } as const;

describe("the address", () => {
  it("adds view=all only when nothing else defines the list", () => {
    expect(listHref("jobs", defaults, { view: "all", connection: "c1" })).toBe("/jobs?view=all&connection=c1");
    expect(listHref("jobs", { ...defaults, limit: 25 }, { view: "all" })).toBe("/jobs?limit=25");
    expect(viewHref("jobs", "status=failed&limit=50", "c1")).toBe("/jobs?status=failed&limit=50&connection=c1");
    expect(viewHref("history", "", undefined)).toBe("/history?view=all");
  });
});

describe("the filter", () => {
  it("by output kind appears only when supported and can always be removed", () => {
    const offered = (lacks: readonly ConnectionFeature[], output_type?: "image") => {
      renderInApp(
        <ConnectionProvider currentId="c1" connections={[{ id: "c1", name: "One", embedded: false, lacks }]}>
          <OutputFilter state={createListState({ ...defaults, output_type }, jobsAddress("jobs", {}))} />
        </ConnectionProvider>,
      );
      const hasKindFilter = screen.queryByRole("combobox", { name: "Kind of output" }) !== null;
      cleanup();
      return hasKindFilter;
    };
    expect([offered([]), offered(["outputFilter"]), offered(["outputFilter"], "image")]).toEqual([true, false, true]);
  });
});

describe("the states to filter by", () => {
  const createFilteredState = (...status: KnownJobState[]) => createListState({ ...defaults, status }, jobsAddress("jobs", {}));
  const hrefs = () => screen.getAllByRole("link").map((link) => link.getAttribute("href"));

  it("are added and taken away one by one", () => {
    renderInApp(<StatusFilter list="jobs" state={createFilteredState("failed", "pending")} total={7} />);
    expect(hrefs()).toEqual([
      "/jobs",
      "/jobs?status=pending%2Cin_progress%2Cfailed",
      "/jobs?status=failed",
      "/jobs?status=pending%2Ccompleted%2Cfailed",
      "/jobs?status=pending",
      "/jobs?status=pending%2Cfailed%2Ccancelled",
    ]);
    // The total counts both states together, so neither filter shows it.
    expect(screen.getByRole("link", { name: /^Failed/ }).textContent?.trim()).toBe("Failed");
  });

  it("are those of ended jobs in the history", () => {
    const state = createListState<JobSearchQuery>({ ...defaults, status: ["failed"] }, jobsAddress("history", {}));
    renderInApp(<StatusFilter list="history" state={state} total={7} />);
    expect(hrefs()).toEqual(["/history", "/history?status=completed%2Cfailed", "/history", "/history?status=failed%2Ccancelled"]);
  });

  it("show the total where one of them is chosen", () => {
    renderInApp(<StatusFilter list="jobs" state={createFilteredState("failed")} total={1284} />);
    expect(screen.getByRole("link", { name: "Failed 1,284" }).getAttribute("aria-current")).toBe("true");
  });
});

describe("pages", () => {
  it("link back to the last page beyond the end", () => {
    expect(pageRange({ offset: 900, limit: 100, count: 0, total: 306 })).toEqual({ from: 900, to: 900, previous: 300 });
    expect([lastOffset(306, 100), lastOffset(300, 100), lastOffset(0, 100)]).toEqual([300, 200, 0]);
  });

  it("keep the first row in view on a size change and clamp jumps", () => {
    const onGo = vi.fn();
    renderInApp(<PageControls offset={300} limit={100} total={1284} onGo={onGo} />);
    fireEvent.change(screen.getByLabelText("Rows per page"), { target: { value: "250" } });
    const page = screen.getByLabelText("Page");
    fireEvent.change(page, { target: { value: "99" } });
    fireEvent.submit(page);
    expect(onGo.mock.calls).toEqual([[{ limit: 250, offset: 250 }], [{ offset: 1200 }]]);
  });
});

describe("a selection", () => {
  const ids = ["a", "b", "c", "d"];
  function renderList() {
    const store = createSelection();
    store.list(ids);
    return store;
  }

  it("ends when one row of all matching is removed", () => {
    const store = renderList();
    store.selectMatching();
    expect([store.isMatching(), store.has("on another page"), store.share()]).toEqual([true, true, "all"]);
    store.select("b", false);
    expect([store.isMatching(), [...store.ids()]]).toEqual([false, ["a", "c", "d"]]);
  });

  it("checks its boxes, and the header box selects the page", () => {
    const store = renderList();
    renderInApp(
      <>
        <SelectAllRows label="all" store={store} />
        {ids.map((id) => (
          <SelectRow key={id} id={id} label={id} store={store} />
        ))}
      </>,
    );
    const box = (name: string) => screen.getByRole<HTMLInputElement>("checkbox", { name });
    fireEvent.click(box("b"));
    fireEvent.click(box("d"), { shiftKey: true });
    expect(ids.filter((id) => box(id).checked)).toEqual(["b", "c", "d"]);
    expect(box("all").indeterminate).toBe(true);
    fireEvent.click(box("all"));
    expect(ids.every((id) => box(id).checked)).toBe(true);
    fireEvent.click(box("all"));
    expect(ids.some((id) => box(id).checked)).toBe(false);
  });
});

describe("the chosen columns", () => {
  it("move, hide and return, except the job column", () => {
    const movedChoice = moveColumn(DEFAULT_CHOICE, "workflow", -1);
    expect(shownColumns(movedChoice).slice(1, 4)).toEqual(["status", "workflow", "job"]);
    expect(moveColumn(DEFAULT_CHOICE, "preview", -1)).toBe(DEFAULT_CHOICE);
    expect(shownColumns(showColumn(showColumn(DEFAULT_CHOICE, "outputs", false), "job", false))).toEqual(
      DEFAULT_CHOICE.order.filter((id) => id !== "outputs"),
    );
  });

  it("has no members column in a personal workspace", () => {
    expect(shownColumns(singleMemberChoice)).toEqual(shownColumns(DEFAULT_CHOICE).filter((id) => id !== "by"));
    const older = { ...DEFAULT_CHOICE, order: DEFAULT_CHOICE.order.filter((id) => id !== "by"), hidden: ["ran"] };
    expect(readChoice(older).hidden).toEqual(["ran", "by"]);
    expect(shownColumns(showColumn(readChoice(older), "by", true))).toContain("by");
    expect(readChoice({}).hidden).toEqual([]);
  });

  it("extract values from the job for any node name, up to a limit", () => {
    const id = toInputId("12:3", "steps / pass");
    const oddChoice = addInput(DEFAULT_CHOICE, id);
    expect(readChoice(JSON.parse(JSON.stringify(oddChoice))).order).toEqual(oddChoice.order);
    expect(removeInput(oddChoice, id).order).toEqual(DEFAULT_CHOICE.order);
    const ids = Array.from({ length: 20 }, (_, index) => toInputId(String(index), "x"));
    expect(ids.reduce(addInput, DEFAULT_CHOICE).order.length).toBe(DEFAULT_CHOICE.order.length + 8);
  });

  it("put inputs next to the workflow, pin them and read them from a view", () => {
    const [seed, steps] = [toInputId("*KSampler", "seed"), toInputId("*KSampler", "steps")];
    const after = (choice: typeof DEFAULT_CHOICE) => choice.order.slice(choice.order.indexOf("workflow") + 1).slice(0, 2);
    expect(after(addInput(addInput(DEFAULT_CHOICE, steps), seed))).toEqual([seed, steps]);
    const movedChoice = moveColumn(addInput(DEFAULT_CHOICE, seed), seed, 1);
    expect(after(movedChoice)[0]).not.toBe(seed);
    expect([after(pinInput(movedChoice, seed, true))[0], pinInput(movedChoice, seed, true).pinned]).toEqual([seed, [seed]]);
    const search = new URLSearchParams(viewQuery("jobs", { ...defaults, status: ["failed"] }, [seed, steps]));
    expect(search.get("status")).toBe("failed");
    const restored = withInputs(addInput(DEFAULT_CHOICE, toInputId("7", "old")), parseInputIds(search.get("inputs") ?? ""));
    expect(shownInputs(restored)).toEqual([seed, steps]);
    expect(parseInputIds("input:%E0:x,bogus,__proto__")).toEqual([]);
  });

  it("offer the page's inputs with counts and examples, searchable by name or value", async () => {
    const createGraph = (seed: number) => ({ prompt: { [String(seed)]: { class_type: "KSampler", inputs: { seed, model: ["1", 0] } } } });
    const extra = { "9": { class_type: "SaveImage", inputs: { filename_prefix: "hero" } } };
    vi.stubGlobal("fetch", async (path: string) =>
      Response.json({ workflow: path.includes("/two?") ? { prompt: { ...createGraph(7).prompt, ...extra } } : createGraph(5) }),
    );
    const selectedIds: string[] = [];
    renderInApp(
      <ColumnsDialog
        choice={DEFAULT_CHOICE}
        defaultChoice={DEFAULT_CHOICE}
        jobs={["one", "two"]}
        connection="c1"
        onChoose={(choice) => selectedIds.push(...shownInputs(choice))}
        onClose={() => undefined}
      />,
    );
    const inputs = await screen.findAllByRole("button", { name: /of 2$/ });
    expect(inputs.map(({ textContent }) => textContent)).toEqual(["KSampler.seed52 of 2", "SaveImage.filename_prefixhero1 of 2"]);
    fireEvent.change(screen.getByRole("searchbox", { name: "Find an input" }), { target: { value: "HERO" } });
    fireEvent.click(screen.getByRole("button", { name: /of 2$/ }));
    expect(selectedIds).toEqual([toInputId("*SaveImage", "filename_prefix")]);
  });

  it("count each input once for a job, the most frequent first", () => {
    const two = collectInputs({ "1": { class_type: "A", inputs: { x: 1 } }, "2": { class_type: "A", inputs: { x: 2 } } });
    const jobInputs = collectInputs({ "1": { class_type: "B", inputs: { y: true } } });
    expect(findCommonInputs([two, jobInputs, jobInputs]).map(({ name, jobs, example }) => [name, jobs, example])).toEqual([
      ["B.y", 2, "true"],
      ["A.x", 1, "1"],
    ]);
  });

  it.each([null, "", "no json", "[]", '{"order":["bogus","input:%E0:x"],"widths":{"job":"wide","status":5000},"hidden":7}'])(
    "fall back to the defaults when stored as %j",
    (text) => {
      const storage = { getItem: () => text, setItem: () => undefined, removeItem: () => undefined };
      expect(persisted("columns", readChoice, () => storage).get()).toEqual(DEFAULT_CHOICE);
    },
  );

  it("read plain inputs only, and shortened", () => {
    const prompt = { 3: { class_type: "Sampler", inputs: { steps: 20, model: ["1", 0], text: "x".repeat(500), on: true } } };
    const inputs = collectInputs({ prompt, extra_data: {} });
    const values = inputs.get("3");
    expect([values?.get("steps"), values?.get("on"), values?.get("text")?.length, values?.has("model")]).toEqual([
      "20",
      "true",
      200,
      false,
    ]);
    expect(collectInputs(undefined).size).toBe(0);
  });
});

describe("a header", () => {
  it("is named by its column, sorts by a button and resizes by keys", async () => {
    const column = createColumns<{ id: string }>();
    const onSort = vi.fn();
    const onResize = vi.fn();
    renderInApp(
      <DataTable
        caption="Jobs"
        columns={column.columns([column.accessor("id", { header: "Id" })])}
        rows={[{ id: "a" }]}
        rowId={({ id }) => id}
        sorting={{ id: { direction: "asc", onSort } }}
        sizing={{ widths: {}, onResize, label: (id) => `Width of ${id}`, defaultWidth: "as usual" }}
      />,
    );
    const header = screen.getByRole("columnheader", { name: "Id" });
    expect(header.getAttribute("aria-sort")).toBe("ascending");
    fireEvent.click(within(header).getByRole("button"));
    fireEvent.keyDown(await within(header).findByRole("slider", { name: "Width of id" }), { key: "ArrowRight" });
    expect(onSort).toHaveBeenCalledTimes(1);
    expect(onResize).toHaveBeenCalledWith("id", 48);
  });
});
