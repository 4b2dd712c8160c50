// @vitest-environment jsdom
// The numbers of jobs on one page: the list's total, the filters and the navigation read one answer.
import { act, cleanup, screen } from "@testing-library/react";
import { Suspense } from "react";
import { SWRConfig } from "swr";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { CountsProvider } from "@/components/frame/counts-context";
import { Navigation } from "@/components/frame/navigation";
import { JobsScreen } from "@/components/jobs/list/jobs-screen";
import { readList } from "@/components/jobs/list/list-address";
import { ok } from "@/lib/shared/result";
import { renderInApp } from "../render";

beforeEach(() => {
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => undefined, removeEventListener: () => undefined }));
  // Older than the list, as a slow service may answer them.
  const totals: Record<string, number> = { in_progress: 5, pending: 6 };
  vi.stubGlobal("fetch", async (path: string) => {
    const status = new URL(path, "http://localhost").searchParams.get("status") ?? "";
    return Response.json({ jobs: [], pagination: { total: totals[status] ?? 9, offset: 0, limit: 1 } });
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

it("agree between the list, its filters and the navigation", async () => {
  const row = (id: string, state: "in_progress" | "pending") => ({ id, word: state, state, outputs: 0 });
  const value = { rows: [row("a", "in_progress"), row("b", "pending"), row("c", "pending")], total: 3, hasMore: false, unreadable: 0 };
  const jobs = Promise.resolve(ok({ value, atMs: Date.now() + 60_000 }));
  await act(async () => {
    renderInApp(
      <SWRConfig value={{ provider: () => new Map() }}>
        <ConnectionProvider currentId="c1" connections={[{ id: "c1", name: "One", embedded: true }]}>
          <CountsProvider>
            <Navigation />
            <Suspense>
              <JobsScreen isTeam={false} canRun query={readList("jobs", new URLSearchParams()).query} ignored={[]} jobs={jobs} />
            </Suspense>
          </CountsProvider>
        </ConnectionProvider>
      </SWRConfig>,
    );
    await jobs;
  });
  await act(async () => undefined);
  const links = (name: RegExp) =>
    screen.getAllByRole("link", { name }).map(({ textContent }) => textContent?.replaceAll(/\s+/g, " ").trim());
  expect(links(/^Jobs/)).toEqual(["Jobs3"]);
  expect(links(/^Queue/)).toEqual(["Queue3"]);
  expect(links(/^Running/)).toEqual(["Running 1"]);
  expect(links(/^Pending/)).toEqual(["Pending 2"]);
  expect(screen.getByRole("navigation", { name: "Pages" }).textContent).toMatch(/1.3 of 3/);
});
