// @vitest-environment jsdom
// Several parts of the console ask for the same job, and each keeps its own part of the answer: none gets what another part kept.
import { render, screen } from "@testing-library/react";
import { SWRConfig } from "swr";
import { afterEach, expect, test, vi } from "vitest";
import { toJobFacts } from "@/components/jobs/job/job-facts";
import { useStartedJob } from "@/components/run/submit/use-started-job";
import { usePoll } from "@/lib/browser/poll/use-poll";
import { withQuery } from "@/lib/browser/urls";

const job = { id: "a", status: "completed", create_time: 1_767_225_600_000, outputs: {} };

const receipt = { jobId: "a", name: "", atMs: 0, nodesRefused: 0 };

function OnRun() {
  const { job } = useStartedJob(receipt, "c");
  return <p aria-label="on Run">{job?.outputs ? "has ended" : "runs"}</p>;
}

function OnItsPage() {
  const { value } = usePoll(withQuery("/api/jobs/a", { connection: "c" }), { read: toJobFacts, motion: () => "final" });
  return <p aria-label="on its page">{value === undefined ? "is read" : Object.keys(value.words ?? {}).join(" ")}</p>;
}

afterEach(() => void vi.unstubAllGlobals());

test("the page of a job has all that it shows, though Run has kept its own of the same job", async () => {
  vi.stubGlobal("fetch", (path: string) => {
    const pagination = { offset: 0, limit: 20, total: 1, has_more: false };
    return Promise.resolve(Response.json(path.startsWith("/api/jobs/a") ? job : { jobs: [job], pagination }));
  });
  const cache = new Map();
  const parts = (isOpen: boolean) => (
    <SWRConfig value={{ provider: () => cache }}>
      <OnRun />
      {isOpen && <OnItsPage />}
    </SWRConfig>
  );
  const { rerender } = render(parts(false));
  expect(await screen.findByText("has ended")).toBeTruthy();
  rerender(parts(true));
  expect(await screen.findByText(/details/)).toBeTruthy();
});
