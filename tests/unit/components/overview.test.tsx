// @vitest-environment jsdom
import { act, cleanup, screen } from "@testing-library/react";
import { Suspense } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { OverviewScreen } from "@/components/overview/overview-screen";
import { ok } from "@/lib/shared/result";
import { renderInApp } from "./render";

beforeEach(() => {
  vi.stubGlobal("fetch", async () => Response.json({ jobs: [], pagination: { total: 0, offset: 0, limit: 1 } }));
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      observe() {}
      unobserve() {}
      disconnect() {}
    },
  );
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => undefined, removeEventListener: () => undefined }));
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

it.each([
  ["greets members of a connection that was never used", false, true],
  ["stays the overview after the history was cleared", true, false],
])("%s", async (_, wasUsed, isWelcome) => {
  const none = Promise.resolve(ok({ value: { jobs: [], total: 0 }, atMs: Date.now() }));
  const total = Promise.resolve(ok({ value: 0, atMs: Date.now() }));
  const reads = { running: none, failed: none, pictures: none };
  const used = Promise.resolve(wasUsed);
  await act(async () => {
    renderInApp(
      <ConnectionProvider currentId="c1" connections={[{ id: "c1", name: "One", embedded: true }]}>
        <Suspense>
          <OverviewScreen canRun canManage={false} total={total} wasUsed={used} reads={reads} />
        </Suspense>
      </ConnectionProvider>,
    );
    await Promise.all([none, total, used]);
  });
  expect(screen.queryByRole("region", { name: "Samples" }) !== null).toBe(isWelcome);
  expect(screen.queryByText("Running now") === null).toBe(isWelcome);
});
