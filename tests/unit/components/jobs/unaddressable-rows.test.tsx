// @vitest-environment jsdom
// Services choose the ids of their jobs: one that no address can have is shown without a link.
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createSelection } from "@/components/data-table/selection/selection";
import { usualChoice } from "@/components/jobs/columns/column-choice";
import { ChosenTable } from "@/components/jobs/list/chosen-table";
import { readList } from "@/components/jobs/list/list-address";
import { createListState } from "@/components/jobs/list/use-job-list";
import { renderInApp } from "../render";

const onOpen = vi.fn(() => true);

beforeEach(() => {
  onOpen.mockClear();
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => undefined, removeEventListener: () => undefined }));
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function show(id: string): void {
  const opened = {
    subscribe: () => () => undefined,
    get: () => undefined,
    has: () => false,
    close: () => undefined,
    settle: () => undefined,
  };
  renderInApp(
    <ChosenTable
      caption="Jobs"
      rows={[{ id, word: "failed", state: "failed", outputs: 0, error: "It broke" }]}
      state={createListState("jobs", readList("jobs", new URLSearchParams()).query, {})}
      connection="c1"
      linked={undefined}
      selection={createSelection()}
      choice={usualChoice}
      opened={{ ...opened, open: onOpen }}
    />,
  );
}

it.each(["../../settings", "a/b", "a%2Fb", "a?b", "..", "\ud800"])("shows the row of %j without a link, and the reason", (id) => {
  show(id);
  const name = screen.getByTitle("This id can't be opened.");
  expect([name.textContent, name.getAttribute("aria-disabled")]).toEqual([id.slice(0, 8), "true"]);
  expect(document.querySelectorAll("tbody a[href]")).toHaveLength(0);
  fireEvent.click(screen.getByTitle("It broke"));
  expect(onOpen).not.toHaveBeenCalled();
});

it("opens the row of an id with spaces and letters of any language", () => {
  show("Büro 1 (2)");
  fireEvent.click(screen.getByText("Büro 1 ("));
  expect(onOpen).toHaveBeenCalledWith("Büro 1 (2)");
});
