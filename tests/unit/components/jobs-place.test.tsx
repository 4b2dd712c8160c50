// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen } from "@testing-library/react";
import { AppRouterContext } from "next/dist/shared/lib/app-router-context.shared-runtime";
import { Profiler } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createSelection } from "@/components/data-table/selection-store";
import { usualChoice } from "@/components/jobs/columns/column-choice";
import { type JobRow } from "@/components/jobs/job-row";
import { jobsHref, readJobsQuery } from "@/components/jobs/list/list-address";
import { JobsFilters } from "@/components/jobs/list/jobs-filters";
import { createJobsPlace } from "@/components/jobs/list/list-state";
import { JobsTable } from "@/components/jobs/list/jobs-table";
import { parseJobsQuery } from "@/app/(console)/params";
import { plainRouter } from "./plain-router";
import { renderInApp } from "./render";

const all = readJobsQuery(new URLSearchParams());
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
  it.each([
    "",
    "status=failed",
    "status=failed,PENDING,failed, ",
    "status=failed&status=completed",
    "status=failed,bogus",
    "status=,",
    "workflow_id=w1&output_type=video",
    `workflow_id=${"w".repeat(201)}&output_type=hologram`,
    "sort_by=execution_time&sort_order=asc",
    "sort_by=name&sort_order=sideways",
    "offset=200&limit=25",
    "offset=-1&limit=0",
    "offset=-0&limit=1001",
    "offset=1e3&limit=0x10",
    "offset=99999999999999999&limit= 5",
    "limit=5&limit=6",
    "job=j1&view=all&connection=c1",
  ])("of ?%s is read in the browser as on the server", (search) => {
    const params = new URLSearchParams(search);
    const given = Object.fromEntries([...new Set(params.keys())].map((name) => [name, params.getAll(name)]));
    expect(readJobsQuery(params)).toEqual(parseJobsQuery(given).query);
  });
});

describe("a press on a filter", () => {
  it("is what the list was asked for at once, and the address follows the frame that shows it", () => {
    const place = createJobsPlace(all, { connection: "c1" });
    place.go({ status: ["failed"] });
    expect([place.query().status, place.isMoving(), address()]).toEqual([["failed"], true, "/jobs"]);
    paint();
    expect(address()).toBe("/jobs?status=failed&connection=c1");
    const asked = place.query();
    place.settle(readJobsQuery(new URLSearchParams("status=failed")), { connection: "c1" });
    expect([place.query(), place.isMoving()]).toEqual([asked, true]);
    place.arrive(asked);
    expect(place.isMoving()).toBe(false);
  });

  it("and another one before the frame make one step of the history; to and fro make none", () => {
    const place = createJobsPlace({ ...all, offset: 300 }, {});
    const before = window.history.length;
    place.go({ status: ["failed"] });
    place.go({ output_type: "image" });
    paint();
    expect([address(), window.history.length]).toEqual(["/jobs?status=failed&output_type=image", before + 1]);
    place.settle(place.query(), {});
    place.go({ status: undefined });
    place.go({ status: ["failed"] });
    paint();
    expect([window.history.length, place.query().status]).toEqual([before + 1, ["failed"]]);
  });

  it("gives way to the address, which Back may have changed", () => {
    const place = createJobsPlace(all, {});
    place.go({ status: ["failed"] });
    paint();
    place.settle(all, {});
    expect([jobsHref(place.query()), place.isMoving()]).toEqual(["/jobs", false]);
  });

  it("draws its chip, and neither the table nor its rows", () => {
    const rows: JobRow[] = Array.from({ length: 30 }, (_, at) => ({ id: `job-${at}`, word: "completed", state: "completed" }));
    const place = createJobsPlace(all, {});
    const drawn: string[] = [];
    const opened = { subscribe: () => () => undefined, get: () => undefined, has: () => false, open: () => false, close: () => undefined };
    renderInApp(
      <AppRouterContext value={plainRouter()}>
        <JobsFilters place={place} rows={rows} total={30} connection="c1" />
        <Profiler id="table" onRender={(id) => void drawn.push(id)}>
          <JobsTable
            rows={rows}
            place={place}
            connection="c1"
            linked={undefined}
            selection={createSelection()}
            choice={usualChoice}
            onChoose={() => undefined}
            opened={{ ...opened, settle: () => undefined }}
          />
        </Profiler>
      </AppRouterContext>,
    );
    drawn.splice(0);
    act(() => place.go({ status: ["failed"] }));
    expect(screen.getByRole("link", { name: /^Failed/ }).getAttribute("aria-current")).toBe("true");
    expect(drawn).toEqual([]);
    // The header that says the order is the table's own.
    fireEvent.click(screen.getByRole("button", { name: "Submitted" }));
    expect([drawn.length, screen.getByRole("columnheader", { name: "Submitted" }).getAttribute("aria-sort")]).toEqual([1, "ascending"]);
  });
});
