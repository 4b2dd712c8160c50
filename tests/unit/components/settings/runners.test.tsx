// The runners screen in Settings and the runner notices on the overview and the job page.
import { fireEvent, screen, within } from "@testing-library/react";
import { type ReactNode } from "react";
import { SWRConfig } from "swr";
import { beforeEach, expect, it, vi } from "vitest";
import { JobDetails, JobProgress } from "@/components/jobs/job/job-details";
import { JobNotes } from "@/components/jobs/job/job-error";
import { getUnavailableRunners } from "@/components/overview/overview-jobs";
import { RunnersNotice } from "@/components/overview/overview-screen";
import { RunnersScreen } from "@/components/settings/runners/runners-screen";
import { runnerProblems, settableRunnerStates } from "@/lib/contract/connections";
import { type Runner } from "@/lib/contract/runners/runners";
import { messagesByLanguage } from "@/lib/server/i18n/messages";
import { languages } from "@/lib/shared/languages";
import { failed } from "@/lib/shared/result";
import { createFacts } from "../jobs/sample-job";
import { renderInApp } from "../render";
import { createReadResult, press, renderScreen } from "../render-screen";
import { builtInRunner, studioRunner } from "./runners";

const requests: { path: string; method: string; body?: unknown }[] = [];
let responses: Response[] = [];
let listedRunners: Runner[] = [];

beforeEach(() => {
  requests.length = 0;
  responses = [];
  vi.stubGlobal("fetch", async (path: string, { method = "GET", body }: RequestInit = {}) => {
    if (method === "GET") return Response.json({ runners: listedRunners });
    requests.push({ path, method, ...(typeof body === "string" && { body: JSON.parse(body) }) });
    return responses.shift() ?? new Response(null, { status: 204 });
  });
});

const renderUncached = (children: ReactNode) => renderScreen(<SWRConfig value={{ provider: () => new Map() }}>{children}</SWRConfig>);
async function show(runners: Runner[]): Promise<void> {
  listedRunners = runners;
  await renderUncached(
    <>
      <RunnersNotice runners={createReadResult(getUnavailableRunners({ runners }))} />
      <RunnersScreen role="admin" canChange runners={createReadResult(runners)} />
    </>,
  );
}
const type = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } });
const getRow = ({ label }: Runner) => within(screen.getByRole("heading", { name: label }).closest("li") ?? document.body);

it("shows each runner's type, state and totals", async () => {
  await show([builtInRunner, studioRunner, { ...studioRunner, id: "paused", label: "Paused GPU", state: "paused" }]);
  const row = getRow(studioRunner);
  for (const text of ["Ready", "http://10.0.0.12:8188", "fast", "1 of 1 running", "120 done, 3 failed, 4.2 s on average", "0.27.0", "812"])
    expect(row.getByText(text), text).toBeDefined();
  expect(row.getByText("18 GB of 24 GB used")).toBeDefined();
  expect(row.getByRole("progressbar", { name: "Memory of cuda:0 RTX" }).getAttribute("aria-valuenow")).toBe("75");
  expect(getRow(builtInRunner).queryByRole("button", { name: "Remove: Built-in" })).toBeNull();
  // All runners work, so the overview shows no notice.
  expect(screen.queryByText("Open runners")).toBeNull();
});

it("explains an unavailable runner on its screen and on the overview", async () => {
  const redirects = { code: "redirects" as const, message: "It answers 302." };
  const failures = { code: "failures" as const, message: "OOM" };
  const lostRunner: Runner = { ...studioRunner, state: "unreachable", reason: redirects };
  const failingRunner: Runner = { ...studioRunner, id: "bad", label: "Old GPU", state: "set_aside", reason: failures };
  await show([builtInRunner, lostRunner, failingRunner]);
  expect(getRow(lostRunner).getByText("This address redirects to another one")).toBeDefined();
  expect(getRow(lostRunner).getByText("It answers 302.")).toBeDefined();
  expect(screen.getByText("Couldn't reach the runner Studio GPU.")).toBeDefined();
  expect(screen.getByText("Runner Old GPU was set aside: jobs of different users kept failing on it.")).toBeDefined();
  responses = [Response.json({ runner: studioRunner })];
  await press("Resume: Old GPU");
  expect(requests).toEqual([{ path: "/api/console/runners/bad/state", method: "PUT", body: { state: "ready" } }]);
});

it("shows a notice when the state of the runners can't be read", async () => {
  const failure = { code: "SERVICE_UNAVAILABLE" as const, message: "", status: 503 };
  vi.stubGlobal("fetch", async () => Response.json(failure, { status: 503 }));
  await renderUncached(<RunnersNotice runners={Promise.resolve(failed(failure))} />);
  expect(screen.getByRole("status").textContent).toContain("Couldn't load the state of the runners.");
});

it.each(languages)("has an audit message for each runner problem in %s", (language) => {
  const messages = messagesByLanguage[language].settings.audit.note.runner;
  expect(Object.keys(messages).sort()).toEqual(["fine", ...runnerProblems, ...settableRunnerStates].sort());
});

it("adds an unreachable runner only when confirmed", async () => {
  await show([builtInRunner]);
  await press("Add a runner");
  type("Address", "10.0.0.12:8188");
  type("Name", "Studio GPU");
  type("Tags", "fast, big ,");
  responses = [Response.json({ check: { ok: false, code: "cloud_service", message: "401" } })];
  await press("Check");
  expect(screen.getByText("This is a cloud service, not a plain server")).toBeDefined();
  responses = [
    Response.json({ problem: { code: "not_reachable", message: "refused" } }),
    Response.json({ runner: studioRunner }, { status: 201 }),
  ];
  await press("Add runner");
  expect(screen.getByText("Couldn't reach the server")).toBeDefined();
  listedRunners = [builtInRunner, studioRunner];
  await press("Add anyway");
  expect(screen.queryByLabelText("Address")).toBeNull();
  const runner = { address: "10.0.0.12:8188", label: "Studio GPU", tags: ["fast", "big"], slots: 1 };
  expect(requests).toEqual([
    { path: "/api/console/runners/check", method: "POST", body: { address: "10.0.0.12:8188" } },
    { path: "/api/console/runners", method: "POST", body: { ...runner, keep: false } },
    { path: "/api/console/runners", method: "POST", body: { ...runner, keep: true } },
  ]);
});

it("explains what happens to jobs when a runner is removed", async () => {
  await show([builtInRunner, studioRunner]);
  await press("Remove: Studio GPU");
  expect(screen.getByText(/^Its running job moves to another runner and starts again\./)).toBeDefined();
  listedRunners = [builtInRunner];
  await press("Remove Studio GPU");
  expect(requests).toEqual([{ path: "/api/console/runners/studio", method: "DELETE" }]);
  expect(screen.queryByRole("heading", { name: "Studio GPU" })).toBeNull();
});

it("shows a job's runner and attempt, and the runner it waits for", () => {
  const waits = { state: "paused", runners: ["Studio GPU"], message: "Its runner is paused." };
  renderInApp(
    <>
      <JobProgress facts={createFacts({ status: "pending", waits })} />
      <JobDetails facts={createFacts({ status: "completed", waits, runner: { id: "gone", label: "Studio GPU", attempt: 2 } })} />
    </>,
  );
  expect(screen.getByText("Only the runner Studio GPU can run this job, and it is paused.")).toBeDefined();
  expect(screen.getByText("Runner").nextElementSibling?.textContent).toBe("Studio GPU (attempt 2)");
});

it.each([
  [0, "Queued on GPU 1."],
  [4, "Queued on GPU 1, behind 4 jobs."],
])("shows the runner that has queued a job behind %i others", (ahead, text) => {
  const waits = { state: "queued", runners: ["GPU 1"], ahead, message: text };
  renderInApp(<JobProgress facts={createFacts({ status: "pending", waits })} />);
  expect(screen.getByText(text)).toBeDefined();
});

it("shows a cleared cache and refused outputs as notes", () => {
  const errors = [{ type: "value_not_in_list", message: "Value not in list", details: "", extra_info: { input_name: "choice" } }];
  const messages = [
    ["note", { code: "cache_cleared" }],
    ["note", { code: "outputs_refused", runner: "GPU 1", nodeErrors: { "2": { class_type: "CustomCombo", errors } } }],
    ["note", { code: "of a newer version" }],
  ];
  const onShowNode = vi.fn();
  renderInApp(<JobNotes notes={createFacts({ status: "completed", execution_status: { messages } }).notes} onShowNode={onShowNode} />);
  const [first, second, ...otherRegions] = screen.getAllByRole("region", { name: "About this run" });
  expect(otherRegions).toEqual([]);
  expect(first?.textContent).toContain("The cache was cleared");
  expect(second?.textContent).toContain("GPU 1 refused some outputs and ran the others.");
  expect(second?.textContent).toContain("choice: Value not in list");
  fireEvent.click(screen.getByRole("button", { name: /#2/ }));
  expect(onShowNode).toHaveBeenCalledWith("2");
});
