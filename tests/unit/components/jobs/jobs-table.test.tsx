import { act, fireEvent, screen } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { createSelection } from "@/components/data-table/selection";
import { createListState, type OpenPanel } from "@/components/frame/list/list-state";
import { renderDetailsCell, useCellTexts } from "@/components/jobs/columns/cells";
import { DEFAULT_CHOICE } from "@/components/jobs/columns/columns";
import { type JobRow, toJobRow } from "@/components/jobs/job-row";
import { JobListTable } from "@/components/jobs/list/job-list-table";
import { createJobListAddress } from "@/components/jobs/list/use-job-list";
import { jobListItemSchema } from "@/lib/contract/schemas/job";
import { createFakeRouter, PageProvider } from "@/tests/support/page-provider";
import { renderInApp } from "../render";

beforeEach(() => {
  // jsdom has no media queries. The test uses a wide screen.
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => undefined, removeEventListener: () => undefined }));
});

const rows: JobRow[] = Array.from({ length: 30 }, (_, index) => ({
  id: `job-${String(index).padStart(4, "0")}`,
  rawStatus: index === 1 ? "failed" : "completed",
  state: index === 1 ? "failed" : "completed",
  workflow: "Portraits",
  createdMs: Date.now() - 60_000,
  ...(index === 1 && { error: "LoadImage: file not found" }),
}));

/** Creates a panel store. A job opens in the panel when `hasRoom` is true. */
function createPanelStore(hasRoom: boolean) {
  let openId: string | undefined;
  const listeners = new Set<() => void>();
  const openedIds: string[] = [];
  const store: OpenPanel = {
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    get: () => openId,
    has: (id) => id === openId,
    open: (id) => {
      openedIds.push(id);
      if (hasRoom) openId = id;
      for (const notify of listeners) notify();
      return hasRoom;
    },
    close: () => undefined,
    syncWithUrl: () => undefined,
  };
  return { store, opened: openedIds };
}

function show({ hasRoom = true } = {}) {
  const { store, opened } = createPanelStore(hasRoom);
  const selection = createSelection();
  const pushed: string[] = [];
  const router = createFakeRouter((href) => void pushed.push(href));
  renderInApp(
    <PageProvider router={router} search={new URLSearchParams("connection=c1")}>
      <JobListTable
        caption="Jobs"
        rows={rows}
        state={createListState({ sort_by: "create_time", sort_order: "desc", offset: 0, limit: 100 }, createJobListAddress("jobs", {}))}
        connection="c1"
        selection={selection}
        choice={DEFAULT_CHOICE}
        onChoiceChange={() => undefined}
        openPanel={store}
      />
    </PageProvider>,
  );
  return { opened, pushed, selection };
}
const getRow = (id: string) => document.querySelector<HTMLElement>(`tr[data-row="${id}"]`);

it("opens a job on a row click without rerendering other rows", () => {
  const { opened, pushed } = show();
  fireEvent.click(screen.getByText("LoadImage: file not found"));
  expect(getRow("job-0001")?.dataset.selected).toBe("true");
  const otherRows = [...document.querySelectorAll("tr[data-row]")].filter((row) => row !== getRow("job-0001"));
  const before = otherRows.map((row) => row.innerHTML);
  fireEvent.click(getRow("job-0003")?.lastElementChild ?? document.body);
  expect(otherRows.map((row) => row.innerHTML)).toEqual(before);
  expect(opened).toEqual(["job-0001", "job-0003"]);
  expect([getRow("job-0001")?.dataset.selected, getRow("job-0003")?.dataset.selected]).toEqual([undefined, "true"]);
  expect(pushed).toEqual([]);
});

it("opens the job's page when the panel has no room", () => {
  const { pushed } = show({ hasRoom: false });
  fireEvent.click(screen.getByTitle("job-0002"));
  expect(pushed).toEqual(["/jobs/job-0002?connection=c1"]);
});

it("ignores the second click of a double click on a row", () => {
  const { opened, pushed } = show();
  fireEvent.click(getRow("job-0009")?.lastElementChild ?? document.body, { detail: 2 });
  expect(fireEvent.click(screen.getByTitle("job-0009"), { detail: 2 })).toBe(false);
  expect([opened, pushed]).toEqual([[], []]);
});

it("ignores clicks on controls and on selected text", () => {
  const { opened, selection } = show();
  fireEvent.click(screen.getByRole("checkbox", { name: "Select job job-0004" }));
  expect([...selection.getIds()]).toEqual(["job-0004"]);
  window.getSelection()?.selectAllChildren(screen.getByText("LoadImage: file not found"));
  fireEvent.click(getRow("job-0005")?.lastElementChild ?? document.body);
  expect(opened).toEqual([]);
  window.getSelection()?.removeAllRanges();
});

it("opens a job in a new tab on a Ctrl or middle click", () => {
  const { opened } = show();
  const open = vi.spyOn(window, "open").mockReturnValue(null);
  fireEvent.click(getRow("job-0006")?.lastElementChild ?? document.body, { ctrlKey: true });
  getRow("job-0007")?.lastElementChild?.dispatchEvent(new MouseEvent("auxclick", { bubbles: true, button: 1 }));
  expect(open.mock.calls.map(([href]) => href)).toEqual(["/jobs/job-0006?connection=c1", "/jobs/job-0007?connection=c1"]);
  expect(opened).toEqual([]);
});

it("copies the job id from its row", async () => {
  show();
  const copiedTexts: string[] = [];
  vi.stubGlobal(
    "navigator",
    Object.assign(Object.create(navigator), { clipboard: { writeText: async (text: string) => void copiedTexts.push(text) } }),
  );
  await act(async () => {
    fireEvent.click(getRow("job-0008")?.querySelector("button") ?? document.body);
  });
  expect(copiedTexts).toEqual(["job-0008"]);
});

it("rerenders no cells when all rows are selected", () => {
  const { selection } = show();
  const getCells = () => [...document.querySelectorAll("tr[data-row] td:not(:first-child)")];
  const before = getCells();
  const cellContents = before.map((cell) => cell.innerHTML);
  act(() => selection.selectPage());
  expect(document.querySelectorAll("tr[data-row] input:checked")).toHaveLength(30);
  expect(getCells()).toEqual(before);
  expect(before.map((cell) => cell.innerHTML)).toEqual(cellContents);
});

function DetailsCell({ row }: { row: JobRow }) {
  return renderDetailsCell({ row, texts: useCellTexts(), getHref: () => "/jobs/x" });
}

it("highlights matches and escapes HTML in a job's text", () => {
  const text = `a <img src=x onerror="alert(1)"> by the </mark>sea`;
  const marks = [text.indexOf("img"), text.indexOf("sea")].map((at): [number, number] => [at, at + 3]);
  renderInApp(<DetailsCell row={{ id: "x", rawStatus: "completed", state: "completed", match: { text, marks } }} />);
  const element = screen.getByTitle(text);
  expect(element.textContent).toBe(text);
  expect([...element.querySelectorAll("*")].map(({ tagName, textContent }) => [tagName, textContent])).toEqual([
    ["MARK", "img"],
    ["MARK", "sea"],
  ]);
});

it.each([
  ["in_progress", { progress: { value: 0.404, current_node: "3", step: 5, steps: 20 } }, "40%node 3, step 5 of 20"],
  ["in_progress", { progress: { value: 0.5, current_node: "3", step: 0, steps: 1 } }, "50%node 3"],
  ["in_progress", { progress: { nodes_done: 1, current_node: "3" } }, "node 3"],
  ["in_progress", {}, ""],
  ["pending", { waits: { state: "queued", runners: ["GPU 1"], ahead: 2, message: "" } }, "queued on GPU 1, behind 2 jobs"],
])("shows progress or the queue position of a %s job: %j", (status, fields, text) => {
  const row = toJobRow(jobListItemSchema.parse({ id: "x", status, ...fields }));
  expect(renderInApp(<DetailsCell row={row} />).container.textContent).toBe(text);
});
