// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { createSelection } from "@/components/data-table/selection/selection";
import { usePageActions } from "@/components/frame/palette/palette-button";
import { JobPanel } from "@/components/jobs/job/job-panel";
import { SelectedJobs } from "@/components/jobs/list/chosen-table";
import { renderInApp } from "../render";
import { outside, query, rows } from "./jobs-selection";

afterEach(cleanup);
afterEach(() => vi.unstubAllGlobals());

it("Esc lets go of what is selected although the bar has not come yet, and leaves it to a dialog that is open", () => {
  const store = createSelection();
  renderInApp(<SelectedJobs store={store} query={query} rows={[]} canRun onDone={() => undefined} />);
  store.choose("job-1", true);
  const dialog = document.body.appendChild(document.createElement("dialog"));
  dialog.open = true;
  fireEvent.keyDown(window, { key: "Escape" });
  dialog.remove();
  expect([...store.ids()]).toEqual(["job-1"]);
  fireEvent.keyDown(window, { key: "Escape" });
  expect([...store.ids()]).toEqual([]);
});

function showList(canRun = true) {
  const store = createSelection();
  renderInApp(
    <>
      <table>
        <tbody>
          <tr data-row="wait-1">
            <td>
              <a href="#wait-1">wait-1</a>
            </td>
          </tr>
          <tr data-row="done-1">
            <td>
              <a href="#done-1">done-1</a>
            </td>
          </tr>
        </tbody>
      </table>
      <SelectedJobs store={store} query={query} rows={rows} connection="c1" canRun={canRun} onDone={() => undefined} />
    </>,
  );
  const focus = (id: string) => screen.getByRole("link", { name: id }).focus();
  return { store, focus };
}

it("cancels the focused row's job with c, or the selected jobs where there are any", async () => {
  outside(() => Response.json({}));
  const { store, focus } = showList();
  expect(fireEvent.keyDown(document.body, { key: "c" })).toBe(true);
  focus("done-1");
  fireEvent.keyDown(document.activeElement ?? document.body, { key: "c" });
  expect(await screen.findByText("This is not possible for any of these jobs")).toBeDefined();
  focus("wait-1");
  fireEvent.keyDown(document.activeElement ?? document.body, { key: "c" });
  expect(await screen.findByText("Cancelling 1 job")).toBeDefined();
  fireEvent.click(screen.getByRole("button", { name: "Undo" }));
  store.replace(["wait-1", "wait-2"]);
  focus("done-1");
  fireEvent.keyDown(document.activeElement ?? document.body, { key: "c" });
  expect(await screen.findByText("Cancelling 2 jobs")).toBeDefined();
});

it("reruns the focused row's job with r", async () => {
  const sent = outside(() => Response.json({ code: "NOT_FOUND", message: "" }, { status: 404 }));
  const { focus } = showList();
  focus("done-1");
  fireEvent.keyDown(document.activeElement ?? document.body, { key: "r" });
  await waitFor(() => expect(sent.map(({ path }) => path)).toEqual(["/api/jobs/done-1?connection=c1"]));
  expect(await screen.findByText("1 not found")).toBeDefined();
});

it("leaves c and r alone for members who may not run jobs", () => {
  const { focus } = showList(false);
  focus("wait-1");
  fireEvent.keyDown(document.activeElement ?? document.body, { key: "c" });
  fireEvent.keyDown(document.activeElement ?? document.body, { key: "r" });
  expect(screen.queryByRole("button", { name: "Undo" })).toBeNull();
});

it("offers acts on the selected jobs among the commands", async () => {
  outside(() => Response.json({}));
  const { store } = showList();
  expect(usePageActions.getState()).toEqual([]);
  store.replace(["wait-1", "wait-2"]);
  await waitFor(() =>
    expect(usePageActions.getState().map(({ label }) => label)).toEqual(["Cancel 2 selected jobs", "Run 2 selected jobs again"]),
  );
  usePageActions.getState()[0]?.run();
  expect(await screen.findByText("Cancelling 2 jobs")).toBeDefined();
});

it("Esc clears the selection first and closes the open job with the next press, whichever appeared last", async () => {
  vi.stubGlobal("CSS", { escape: (text: string) => text });
  vi.stubGlobal("fetch", async () => Response.json({ id: "job-1", status: "completed" }));
  const onClose = vi.fn();
  const store = createSelection();
  const panel = <JobPanel jobId="job-1" connection="c1" linked={undefined} canRun onClose={onClose} />;
  const selected = <SelectedJobs store={store} query={query} rows={[]} canRun onDone={() => undefined} />;
  for (const tree of [[selected, panel] as const, [panel, selected] as const]) {
    const view = await act(async () =>
      renderInApp(
        <>
          {tree[0]}
          {tree[1]}
        </>,
      ),
    );
    onClose.mockClear();
    store.choose("job-1", true);
    fireEvent.keyDown(window, { key: "Escape" });
    expect([[...store.ids()], onClose.mock.calls.length]).toEqual([[], 0]);
    fireEvent.keyDown(window, { key: "Escape" });
    expect(onClose).toHaveBeenCalledTimes(1);
    view.unmount();
  }
});
