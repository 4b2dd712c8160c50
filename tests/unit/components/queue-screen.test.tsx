// @vitest-environment jsdom
import { act, cleanup, screen } from "@testing-library/react";
import { Suspense } from "react";
import { afterEach, expect, it } from "vitest";
import { QueueScreen } from "@/components/queue/queue-screen";
import { failed, ok } from "@/lib/shared/result";
import { renderInApp } from "./render";

afterEach(cleanup);

async function show(queue: Parameters<typeof QueueScreen>[0]["queue"]) {
  await act(async () => {
    renderInApp(
      <Suspense>
        <QueueScreen canCancel queue={queue} />
      </Suspense>,
    );
    await queue;
  });
}

it("a queue that could not be read states no figures, offers no clearing, and does not call itself empty", async () => {
  await show(Promise.resolve(failed({ code: "UPSTREAM_UNREACHABLE", message: "no", status: 502 })));
  expect(screen.getByText("The service cannot be reached")).toBeDefined();
  expect(screen.queryByText(/0 running/)).toBeNull();
  expect(screen.queryByText("The queue is empty")).toBeNull();
  expect(screen.queryByRole("button", { name: "Clear" })).toBeNull();
});

it("an empty queue that was read says so", async () => {
  await show(Promise.resolve(ok({ value: { running: [], pending: [], pendingTotal: 0, isBySubmission: false }, atMs: 1 })));
  expect(screen.getByText("0 running, 0 pending")).toBeDefined();
  expect(screen.getByText("The queue is empty")).toBeDefined();
});
