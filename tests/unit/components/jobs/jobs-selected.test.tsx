// @vitest-environment jsdom
import { cleanup, fireEvent } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { createSelection } from "@/components/data-table/selection/selection-store";
import { SelectedJobs } from "@/components/jobs/list/selected-jobs";
import { renderInApp } from "../render";

afterEach(cleanup);

it("Esc lets go of what is selected although the bar has not come yet, and leaves it to a dialog that is open", () => {
  const store = createSelection();
  const query = { sort_by: "create_time", sort_order: "desc", offset: 0, limit: 100 } as const;
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
