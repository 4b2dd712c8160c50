import { act, fireEvent, screen } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { createSelection } from "@/components/data-table/selection";
import { renderDetailsCell, useCellTexts } from "@/components/jobs/columns/cells";
import { type JobRow, toJobRow } from "@/components/jobs/job-row";
import { jobListItemSchema } from "@/lib/contract/schemas/job";
import { createFakeRouter } from "@/tests/support/page-provider";
import { renderInApp } from "../render";
import { renderScreen, stubScreenWidth } from "../render-screen";
import { closedPanel, createJobTable, createRows } from "./render-job-table";

beforeEach(() => stubScreenWidth(true));

const failedFields = { rawStatus: "failed", state: "failed" as const, error: "LoadImage: file not found" };
const rows = createRows(30).map((row, at): JobRow => (at === 1 ? { ...row, ...failedFields } : row));

/** Shows the jobs next to a panel, in which a job opens when `hasRoom` is true. */
async function show({ hasRoom = true } = {}) {
  let openId: string | undefined;
  const listeners = new Set<() => void>();
  const opened: string[] = [];
  const openPanel = {
    ...closedPanel,
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    get: () => openId,
    has: (id: string) => id === openId,
    open: (id: string) => {
      opened.push(id);
      if (hasRoom) openId = id;
      for (const notify of listeners) notify();
      return hasRoom;
    },
  };
  const selection = createSelection();
  const pushed: string[] = [];
  const router = createFakeRouter((href) => void pushed.push(href));
  await renderScreen(createJobTable(rows, { selection, openPanel }), { router, search: "connection=c1" });
  return { opened, pushed, selection };
}
const getRow = (id: string) => document.querySelector<HTMLElement>(`tr[data-row="${id}"]`);
const getLastCell = (id: string) => getRow(id)?.lastElementChild ?? document.body;

it("opens a job on a row click", async () => {
  const { opened, pushed } = await show();
  fireEvent.click(screen.getByText("LoadImage: file not found"));
  expect(getRow("job-0001")?.dataset.selected).toBe("true");
  fireEvent.click(getLastCell("job-0003"));
  expect(opened).toEqual(["job-0001", "job-0003"]);
  expect([getRow("job-0001")?.dataset.selected, getRow("job-0003")?.dataset.selected]).toEqual([undefined, "true"]);
  expect(pushed).toEqual([]);
});

it("opens the job's page when the window is too narrow for the panel", async () => {
  const { pushed } = await show({ hasRoom: false });
  fireEvent.click(screen.getByTitle("job-0002"));
  expect(pushed).toEqual(["/jobs/job-0002?connection=c1"]);
});

it("ignores the second click of a double click on a row", async () => {
  const { opened, pushed } = await show();
  fireEvent.click(getLastCell("job-0009"), { detail: 2 });
  expect(fireEvent.click(screen.getByTitle("job-0009"), { detail: 2 })).toBe(false);
  expect([opened, pushed]).toEqual([[], []]);
});

it("ignores clicks on controls and on selected text", async () => {
  const { opened, selection } = await show();
  fireEvent.click(screen.getByRole("checkbox", { name: "Select job job-0004" }));
  expect([...selection.getIds()]).toEqual(["job-0004"]);
  window.getSelection()?.selectAllChildren(screen.getByText("LoadImage: file not found"));
  fireEvent.click(getLastCell("job-0005"));
  expect(opened).toEqual([]);
  window.getSelection()?.removeAllRanges();
});

it("opens a job in a new tab on a Ctrl or middle click", async () => {
  const { opened } = await show();
  const open = vi.spyOn(window, "open").mockReturnValue(null);
  fireEvent.click(getLastCell("job-0006"), { ctrlKey: true });
  getLastCell("job-0007").dispatchEvent(new MouseEvent("auxclick", { bubbles: true, button: 1 }));
  expect(open.mock.calls.map(([href]) => href)).toEqual(["/jobs/job-0006?connection=c1", "/jobs/job-0007?connection=c1"]);
  expect(opened).toEqual([]);
});

it("copies the job id from its row", async () => {
  await show();
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
