// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen } from "@testing-library/react";
import { Profiler } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createSelection } from "@/components/data-table/selection/selection";
import { usualChoice } from "@/components/jobs/columns/column-choice";
import { type JobRow } from "@/components/jobs/job-row";
import { ChosenTable } from "@/components/jobs/list/chosen-table";
import { JobsFilters } from "@/components/jobs/list/jobs-filters";
import { listApiPath, listHref, readList } from "@/components/jobs/list/list-address";
import { createListState } from "@/components/jobs/list/use-job-list";
import { renderInApp } from "./render";

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
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});
const address = () => window.location.pathname + window.location.search;

describe("an address", () => {
  it("of the history asks for the jobs that have ended, by words, people, times and pages alone", () => {
    const { query, ignored } = readList("history", new URLSearchParams("status=pending&text= sea &within=24&max_items=20&offset=x"));
    expect(query).toMatchObject({ status: ["completed", "failed", "cancelled"], text: "sea", within: 24, limit: 20, offset: 0 });
    expect(ignored).toEqual(["offset=x"]);
    expect(listHref("history", query, { connection: "c1" })).toBe("/history?text=sea&within=24&max_items=20&connection=c1");
    expect(listApiPath("history", { ...query, text: undefined, within: undefined }, "c1")).toBe(
      "/api/history_v2?offset=0&max_items=20&connection=c1",
    );
  });
});

describe("a press on a filter", () => {
  it("is what the list was asked for at once, and the address follows the frame that shows it", () => {
    const state = createListState("jobs", all, { connection: "c1" });
    state.go({ status: ["failed"] });
    expect([state.query().status, state.isMoving(), address()]).toEqual([["failed"], true, "/jobs"]);
    paint();
    expect(address()).toBe("/jobs?status=failed&connection=c1");
    const asked = state.query();
    state.follow(readList("jobs", new URLSearchParams("status=failed")).query, { connection: "c1" });
    expect([state.query(), state.isMoving()]).toEqual([asked, true]);
    state.show(asked);
    expect(state.isMoving()).toBe(false);
  });

  it("and another one before the frame make one step of the history; to and fro make none", () => {
    const state = createListState("jobs", { ...all, offset: 300 }, {});
    const before = window.history.length;
    state.go({ status: ["failed"] });
    state.go({ output_type: "image" });
    paint();
    expect([address(), window.history.length]).toEqual(["/jobs?status=failed&output_type=image", before + 1]);
    state.follow(state.query(), {});
    state.go({ status: undefined });
    state.go({ status: ["failed"] });
    paint();
    expect([window.history.length, state.query().status]).toEqual([before + 1, ["failed"]]);
  });

  it("gives way to the address, which Back may have changed", () => {
    const state = createListState("jobs", all, {});
    state.go({ status: ["failed"] });
    paint();
    state.follow(all, {});
    expect([listHref("jobs", state.query()), state.isMoving()]).toEqual(["/jobs", false]);
  });

  it("draws its chip, and neither the table nor its rows", () => {
    const rows: JobRow[] = Array.from({ length: 30 }, (_, at) => ({ id: `job-${at}`, word: "completed", state: "completed" }));
    const state = createListState("jobs", all, {});
    const drawn: string[] = [];
    const opened = { subscribe: () => () => undefined, get: () => undefined, has: () => false, open: () => false, close: () => undefined };
    renderInApp(
      <>
        <JobsFilters state={state} rows={rows} total={30} connection="c1" />
        <Profiler id="table" onRender={(id) => void drawn.push(id)}>
          <ChosenTable
            caption="Jobs"
            rows={rows}
            state={state}
            connection="c1"
            linked={undefined}
            selection={createSelection()}
            choice={usualChoice}
            onChoose={() => undefined}
            opened={{ ...opened, settle: () => undefined }}
          />
        </Profiler>
      </>,
    );
    drawn.splice(0);
    act(() => state.go({ status: ["failed"] }));
    expect(screen.getByRole("link", { name: /^Failed/ }).getAttribute("aria-current")).toBe("true");
    expect(drawn).toEqual([]);
    // The header that shows the order belongs to the table, so the table is drawn once.
    fireEvent.click(screen.getByRole("button", { name: "Submitted" }));
    expect([drawn.length, screen.getByRole("columnheader", { name: "Submitted" }).getAttribute("aria-sort")]).toEqual([1, "ascending"]);
  });
});
