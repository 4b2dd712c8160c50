import { act, fireEvent, screen } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { createSelection } from "@/components/data-table/selection";
import { createListState, type OpenPanel } from "@/components/frame/list/list-state";
import { detailsCell, useCellWords } from "@/components/jobs/columns/cells";
import { DEFAULT_CHOICE } from "@/components/jobs/columns/columns";
import { type JobRow, toJobRow } from "@/components/jobs/job-row";
import { JobListTable } from "@/components/jobs/list/job-list-table";
import { jobsAddress } from "@/components/jobs/list/use-job-list";
import { jobListItemSchema } from "@/lib/contract/schemas/job";
import { AtPage, plainRouter } from "@/tests/support/at-page";
import { renderInApp } from "../render";

beforeEach(() => {
  // jsdom has no media queries; the screen is a wide one.
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => undefined, removeEventListener: () => undefined }));
});

const rows: JobRow[] = Array.from({ length: 30 }, (_, index) => ({
  id: `job-${String(index).padStart(4, "0")}`,
  word: index === 1 ? "failed" : "completed",
  state: index === 1 ? "failed" : "completed",
  workflow: "Portraits",
  createdMs: Date.now() - 60_000,
  ...(index === 1 && { error: "LoadImage: file not found" }),
}));

/** A job opens in the panel if `hasRoom`. */
function openedStore(hasRoom: boolean) {
  let text: string | undefined;
  const listeners = new Set<() => void>();
  const openedIds: string[] = [];
  const store: OpenPanel = {
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    get: () => text,
    has: (id) => id === text,
    open: (id) => {
      openedIds.push(id);
      if (hasRoom) text = id;
      for (const notify of listeners) notify();
      return hasRoom;
    },
    close: () => undefined,
    settle: () => undefined,
  };
  return { store, opened: openedIds };
}

function show({ hasRoom = true } = {}) {
  const { store, opened } = openedStore(hasRoom);
  const selection = createSelection();
  const pushed: string[] = [];
  const router = plainRouter((href) => void pushed.push(href));
  renderInApp(
    <AtPage router={router} search={new URLSearchParams("connection=c1")}>
      <JobListTable
        caption="Jobs"
        rows={rows}
        state={createListState({ sort_by: "create_time", sort_order: "desc", offset: 0, limit: 100 }, jobsAddress("jobs", {}))}
        connection="c1"
        selection={selection}
        choice={DEFAULT_CHOICE}
        onChoiceChange={() => undefined}
        openPanel={store}
      />
    </AtPage>,
  );
  return { opened, pushed, selection };
}
const getRow = (id: string) => document.querySelector<HTMLElement>(`tr[data-row="${id}"]`);

it("opens a job from anywhere in its row without redrawing others", () => {
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

it("opens the job's page on the same connection when the panel has no room", () => {
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

it("ignores presses on controls and selected text", () => {
  const { opened, selection } = show();
  fireEvent.click(screen.getByRole("checkbox", { name: "Select job job-0004" }));
  expect([...selection.ids()]).toEqual(["job-0004"]);
  window.getSelection()?.selectAllChildren(screen.getByText("LoadImage: file not found"));
  fireEvent.click(getRow("job-0005")?.lastElementChild ?? document.body);
  expect(opened).toEqual([]);
  window.getSelection()?.removeAllRanges();
});

it("opens a job in a new tab by Ctrl or middle button", () => {
  const { opened } = show();
  const open = vi.spyOn(window, "open").mockReturnValue(null);
  fireEvent.click(getRow("job-0006")?.lastElementChild ?? document.body, { ctrlKey: true });
  getRow("job-0007")?.lastElementChild?.dispatchEvent(new MouseEvent("auxclick", { bubbles: true, button: 1 }));
  expect(open.mock.calls.map(([href]) => href)).toEqual(["/jobs/job-0006?connection=c1", "/jobs/job-0007?connection=c1"]);
  expect(opened).toEqual([]);
});

it("copies an id from its row and confirms it", async () => {
  show();
  const copied: string[] = [];
  vi.stubGlobal(
    "navigator",
    Object.assign(Object.create(navigator), { clipboard: { writeText: async (text: string) => void copied.push(text) } }),
  );
  await act(async () => {
    fireEvent.click(getRow("job-0008")?.querySelector("button") ?? document.body);
  });
  expect(copied).toEqual(["job-0008"]);
});

it("choosing all changes boxes and draws no cell", () => {
  const { selection } = show();
  const getCells = () => [...document.querySelectorAll("tr[data-row] td:not(:first-child)")];
  const before = getCells();
  const html = before.map((cell) => cell.innerHTML);
  act(() => selection.selectPage());
  expect(document.querySelectorAll("tr[data-row] input:checked")).toHaveLength(30);
  expect(getCells()).toEqual(before);
  expect(before.map((cell) => cell.innerHTML)).toEqual(html);
});

function What({ row }: { row: JobRow }) {
  return detailsCell({ row, words: useCellWords(), getHref: () => "/jobs/x" });
}

it("highlights search words and keeps a job's text as text", () => {
  const text = `a <img src=x onerror="alert(1)"> by the </mark>sea`;
  const marks = [text.indexOf("img"), text.indexOf("sea")].map((at): [number, number] => [at, at + 3]);
  renderInApp(<What row={{ id: "x", word: "completed", state: "completed", match: { text, marks } }} />);
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
])("shows progress or the queue position (%s %j)", (status, more, text) => {
  const row = toJobRow(jobListItemSchema.parse({ id: "x", status, ...more }));
  expect(renderInApp(<What row={row} />).container.textContent).toBe(text);
});
