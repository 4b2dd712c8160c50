// Messages to the host page about jobs submitted in its frame.
import { render } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { useHostJobs } from "@/components/embed/host-bridge";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { announceAnswer } from "@/lib/browser/api";

const origins = ["https://app.example.com"];
const around = { postMessage: vi.fn() };
const connections = ["one", "two"].map((id) => ({ id, name: id, embedded: false }));

beforeEach(() => {
  vi.useFakeTimers();
  around.postMessage.mockReset();
  Object.defineProperty(window, "parent", { value: around, configurable: true });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  Object.defineProperty(window, "parent", { value: window, configurable: true });
});

function Jobs() {
  useHostJobs(origins);
  return null;
}
const page = (currentId: string) => (
  <ConnectionProvider currentId={currentId} connections={connections}>
    <Jobs />
  </ConnectionProvider>
);

it("is the end of each, also when another connection is open by then", async () => {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (address: string) => {
    asked.push(address);
    return Response.json({ status: "completed" });
  });
  const shown = render(page("one"));
  announceAnswer({ path: "/api/prompt", method: "POST", status: 200, value: { prompt_id: "job-1" } });
  announceAnswer({ path: "/api/prompt?connection=two", method: "POST", status: 200, value: { prompt_id: "job-2" } });
  shown.rerender(page("two"));
  await vi.advanceTimersByTimeAsync(2100);
  const posted = around.postMessage.mock.calls.map(([{ type, id }]) => `${type} ${id}`);
  expect(posted).toEqual(["job-submitted job-1", "job-submitted job-2", "job-ended job-1", "job-ended job-2"]);
  expect(asked).toEqual(["/api/job/job-1/status?connection=one", "/api/job/job-2/status?connection=two"]);
});
