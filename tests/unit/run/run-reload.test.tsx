import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { renderToString } from "react-dom/server";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { type RunApi } from "@/components/run/run-actions";
import { RunScreen } from "@/components/run/run-screen";
import { createRunStore } from "@/components/run/run-store";
import { setLeavingAllowed } from "@/components/ui/hooks/page-events";
import { failed, ok } from "@/lib/shared/result";
import { wrapInProviders } from "./render";
import {
  createApi,
  createPromptService,
  getField,
  openText,
  pressRun,
  type PromptService,
  reloadPage,
  runJob,
  showSample,
} from "./run-page";
import { readSampleText } from "./workflow-fixtures";

let service: PromptService;
beforeEach(() => {
  service = createPromptService();
  const jobs = [
    { id: "may-be-it-0001", status: "pending", create_time: Date.now() },
    { id: "long-ago-0002", status: "pending", create_time: 1 },
  ];
  vi.stubGlobal("fetch", async (path: unknown) => {
    if (!String(path).startsWith("/api/jobs?workflow_id=")) throw new TypeError("fetch failed");
    return Response.json({ jobs, pagination: { offset: 0 } });
  });
});
const reload = (overrides?: Partial<RunApi>) => reloadPage(createApi(service, overrides));

describe("a reload", () => {
  /** Returns true if the browser would ask for confirmation. */
  const isLeavePrevented = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
  const getJobRegion = () => screen.getByRole("region", { name: "The job that was started" });
  const findJobRegion = () => screen.findByRole("region", { name: "The job that was started" });
  const getEarlierJobs = () => within(screen.getByRole("region", { name: "Started from this page" }));

  it("restores the workflow and typed values without a prompt until it is closed", async () => {
    await showSample(createApi(service));
    fireEvent.change(getField("width"), { target: { value: "640" } });
    expect(isLeavePrevented()).toBe(false);
    reload();
    expect((await screen.findByRole<HTMLInputElement>("textbox", { name: "width" })).value).toBe("640");
    expect(screen.getByText(/edited/)).toBeTruthy();
    fireEvent.click(await screen.findByRole("button", { name: "Close the workflow" }));
    expect(isLeavePrevented()).toBe(false);
    reload();
    expect(screen.getByText("Drop a workflow file here")).toBeTruthy();
  });

  it("warns about edits too large to store, unless already run or confirmed", async () => {
    await showSample(createApi(service));
    fireEvent.change(getField("filename_prefix"), { target: { value: "x".repeat(1_000_001) } });
    expect(isLeavePrevented()).toBe(true);
    setLeavingAllowed(true);
    expect(isLeavePrevented()).toBe(false);
    setLeavingAllowed(false);
    await runJob(service, "a");
    expect(isLeavePrevented()).toBe(false);
  });

  it("restores the newest job's link and the earlier jobs", async () => {
    await showSample(createApi(service));
    await runJob(service, "first");
    await runJob(service, "second");
    reload();
    expect((await findJobRegion()).dataset.job).toBe("second");
    expect(getJobRegion().textContent).toContain("Pasted workflow");
    expect(getEarlierJobs().getByRole("link", { name: "first" })).toBeTruthy();
    fireEvent.click(await screen.findByRole("button", { name: "Close the workflow" }));
    reload();
    expect(screen.getByRole("link", { name: "Open job second" })).toBeTruthy();
    await openText(readSampleText("01-invert"));
    await runJob(service, "third");
    reload();
    expect((await findJobRegion()).dataset.job).toBe("third");
  });

  it("keeps only the link of a dismissed job", async () => {
    await showSample(createApi(service));
    await runJob(service, "first");
    fireEvent.click(within(getJobRegion()).getByRole("button", { name: "Dismiss" }));
    expect(getJobRegion().textContent).toBe("");
    expect(document.activeElement).toBe(getJobRegion());
    reload();
    await screen.findByRole("button", { name: "Close the workflow" });
    expect(getEarlierJobs().getByRole("link", { name: "first" })).toBeTruthy();
    expect(getJobRegion().textContent).toBe("");
    await runJob(service, "second");
    expect(getJobRegion().textContent).toContain("Pasted workflow");
  });

  it("doesn't restore another member's job", async () => {
    await showSample(createApi(service));
    await runJob(service, "first");
    reloadPage(createApi(service), { memberId: "bob" });
    expect(screen.queryByRole("link", { name: "Open job first" })).toBeNull();
  });

  it("renders the same page on the server and in the browser", async () => {
    await showSample(createApi(service));
    window.dispatchEvent(new Event("pagehide"));
    cleanup();
    const container = document.body.appendChild(document.createElement("div"));
    const page = wrapInProviders(<RunScreen canRun memberId="ada" store={createRunStore()} />);
    container.innerHTML = renderToString(page);
    expect(container.textContent).toContain("Drop a workflow file here");
    // A hydration mismatch is logged as an error, which fails the test.
    render(page, { container, hydrate: true });
    expect(await screen.findByRole("button", { name: "Close the workflow" })).toBeTruthy();
  });
});

async function runAndDisconnect(overrides: Partial<RunApi> = {}) {
  await showSample(createApi(service, overrides));
  pressRun();
  await service.disconnect();
}
const findAlertText = async () => (await screen.findByRole("alert")).textContent;

describe("a run without a response", () => {
  it("is shown as unknown with the jobs created since, also after a reload", async () => {
    await runAndDisconnect();
    expect(await findAlertText()).toContain("Couldn't confirm that the job was accepted");
    expect(getField("width").value).toBe("512");
    const link = await screen.findByRole("link", { name: "may-be-i" });
    expect(link.getAttribute("href")).toBe("/jobs/may-be-it-0001");
    expect(screen.queryByRole("link", { name: "long-ago" })).toBeNull();
    reload();
    expect(await findAlertText()).toContain("Couldn't confirm that the job was accepted");
    expect(service.submissions).toHaveLength(1);
  });

  it("is resubmitted as a new run only on demand", async () => {
    await runAndDisconnect();
    fireEvent.click(await screen.findByRole("button", { name: "Send again" }));
    await service.accept("second");
    await screen.findByRole("link", { name: "Open job second" });
    expect(new Set(service.keys).size).toBe(2);
  });

  it("becomes a job once the console receives its response", async () => {
    await runAndDisconnect({ reportSubmission: async () => ok({ state: "accepted", answer: { prompt_id: "found" } }) });
    expect(await screen.findByRole("link", { name: "Open job found" })).toBeTruthy();
    expect(service.submissions).toHaveLength(1);
  });

  it("is not started when the console never received it", async () => {
    await runAndDisconnect({ reportSubmission: async () => failed({ code: "NOT_FOUND", message: "", status: 404 }) });
    expect(await findAlertText()).toContain("Nothing was started");
  });

  it("is not looked up again when dismissed", async () => {
    await runAndDisconnect();
    fireEvent.click(await screen.findByRole("button", { name: "Dismiss" }));
    expect(screen.queryByRole("alert")).toBeNull();
    reload();
    await screen.findAllByRole("button", { name: "Run" });
    expect(screen.queryByRole("alert")).toBeNull();
  });
});

it("reports the outcome after a reload during a run and resubmits nothing", async () => {
  await showSample(createApi(service));
  pressRun();
  await waitFor(() => expect(service.submissions).toHaveLength(1));
  const requests: string[] = [];
  reload({
    reportSubmission: async (key) => {
      requests.push(key);
      return ok({ state: "accepted", answer: { prompt_id: "went-on" } });
    },
  });
  expect(await screen.findByRole("link", { name: "Open job went-on" })).toBeTruthy();
  expect(requests).toEqual(service.keys);
  expect(service.submissions).toHaveLength(1);
});
