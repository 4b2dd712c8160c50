import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { renderToString } from "react-dom/server";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type RunApi } from "@/components/run/run-actions";
import { RunScreen } from "@/components/run/run-screen";
import { createRunStore } from "@/components/run/run-store";
import { setLeavingAllowed } from "@/components/ui/hooks/page-events";
import { failed, ok } from "@/lib/shared/result";
import { until } from "@/tests/support/until";
import { startPromptServer } from "./prompt-server";
import { wrapInProviders } from "./render";
import { createApi, getField, openText, pressRun, type PromptServer, showRunPage } from "./run-page";
import { readSampleText } from "./workflow-fixtures";

let service: PromptServer;
beforeEach(async () => void (service = await startPromptServer()));

describe("a reload", () => {
  /** Reloads the page with a new store. Returns true if the browser would ask for confirmation. */
  function reload(): boolean {
    const event = new Event("beforeunload", { cancelable: true });
    window.dispatchEvent(event);
    window.dispatchEvent(new Event("pagehide"));
    cleanup();
    showRunPage(createApi(service));
    return event.defaultPrevented;
  }

  it("restores the workflow and typed values without a prompt", async () => {
    showRunPage(createApi(service));
    await openText(readSampleText("01-invert"));
    fireEvent.change(getField("width"), { target: { value: "640" } });
    expect(reload()).toBe(false);
    expect((await screen.findByRole<HTMLInputElement>("textbox", { name: "width" })).value).toBe("640");
    expect(screen.getByText(/edited/)).toBeTruthy();
  });

  it("doesn't restore a closed workflow", async () => {
    showRunPage(createApi(service));
    await openText(readSampleText("01-invert"));
    reload();
    fireEvent.click(await screen.findByRole("button", { name: "Close the workflow" }));
    expect(reload()).toBe(false);
    expect(screen.getByText("Drop a workflow file here")).toBeTruthy();
  });

  it("warns about edits too large to store, unless already run or confirmed", async () => {
    showRunPage(createApi(service));
    await openText(readSampleText("01-invert"));
    fireEvent.change(getField("filename_prefix"), { target: { value: "x".repeat(1_000_001) } });
    const isLeavePrevented = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
    expect(isLeavePrevented()).toBe(true);
    setLeavingAllowed(true);
    expect(isLeavePrevented()).toBe(false);
    setLeavingAllowed(false);
    pressRun();
    await until("a waiting request", () => service.respond({ status: 200, body: { prompt_id: "a" } }));
    await screen.findByRole("link", { name: "Open job a" });
    expect(isLeavePrevented()).toBe(false);
  });

  /** Clicks Run and responds with the job id. */
  async function runJob(id: string) {
    pressRun();
    await until("a waiting request", () => service.respond({ status: 200, body: { prompt_id: id, node_errors: {} } }));
    await screen.findByRole("link", { name: `Open job ${id}` });
  }

  it("restores the newest job's link and the earlier jobs", async () => {
    showRunPage(createApi(service));
    await openText(readSampleText("01-invert"));
    await runJob("first");
    await runJob("second");
    reload();
    const jobRegion = await screen.findByRole("region", { name: "The job that was started" });
    expect(jobRegion.dataset.job).toBe("second");
    expect(jobRegion.textContent).toContain("Pasted workflow");
    expect(within(screen.getByRole("region", { name: "Started from this page" })).getByRole("link", { name: "first" })).toBeTruthy();
    fireEvent.click(await screen.findByRole("button", { name: "Close the workflow" }));
    reload();
    expect(screen.getByRole("link", { name: "Open job second" })).toBeTruthy();
    await openText(readSampleText("01-invert"));
    await runJob("third");
    reload();
    expect((await screen.findByRole("region", { name: "The job that was started" })).dataset.job).toBe("third");
  });

  const getJobRegion = () => screen.getByRole("region", { name: "The job that was started" });

  it("keeps only the link of a dismissed job", async () => {
    showRunPage(createApi(service));
    await openText(readSampleText("01-invert"));
    await runJob("first");
    fireEvent.click(within(getJobRegion()).getByRole("button", { name: "Dismiss" }));
    expect(getJobRegion().textContent).toBe("");
    expect(document.activeElement).toBe(getJobRegion());
    reload();
    await screen.findByRole("button", { name: "Close the workflow" });
    expect(within(screen.getByRole("region", { name: "Started from this page" })).getByRole("link", { name: "first" })).toBeTruthy();
    expect(getJobRegion().textContent).toBe("");
    await runJob("second");
    expect(getJobRegion().textContent).toContain("Pasted workflow");
  });

  it("doesn't restore another member's job", async () => {
    showRunPage(createApi(service));
    await openText(readSampleText("01-invert"));
    await runJob("first");
    cleanup();
    render(wrapInProviders(<RunScreen canRun memberId="bob" store={createRunStore()} api={createApi(service)} />));
    expect(screen.queryByRole("link", { name: "Open job first" })).toBeNull();
  });

  it("renders the same page on the server and in the browser", async () => {
    showRunPage(createApi(service));
    await openText(readSampleText("01-invert"));
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

const createJob = (id: string, create_time: number) => ({ id, status: "pending", create_time });
const createCandidates = () => ({
  jobs: [createJob("may-be-it-0001", Date.now()), createJob("long-ago-0002", 1)],
  pagination: { offset: 0 },
});

beforeEach(() => {
  const { fetch } = globalThis;
  const listOrFetch: typeof fetch = async (path, init) =>
    String(path).startsWith("/api/jobs?workflow_id=") ? Response.json(createCandidates()) : fetch(path, init);
  vi.stubGlobal("fetch", listOrFetch);
});
afterEach(() => void vi.unstubAllGlobals());

async function runAndDisconnect(ports: Partial<RunApi> = {}) {
  showRunPage(createApi(service, ports));
  await openText(readSampleText("01-invert"));
  pressRun();
  await until("a waiting request", () => service.respond("disconnect"));
}

/** Reloads the page with a new store. */
function reload(ports: Partial<RunApi> = {}) {
  window.dispatchEvent(new Event("pagehide"));
  cleanup();
  showRunPage(createApi(service, ports));
}

describe("a run without a response", () => {
  it("lists jobs created since and resubmits nothing", async () => {
    await runAndDisconnect();
    const link = await screen.findByRole("link", { name: "may-be-i" });
    expect(link.getAttribute("href")).toBe("/jobs/may-be-it-0001");
    expect(screen.queryByRole("link", { name: "long-ago" })).toBeNull();
    expect(service.submissions).toHaveLength(1);
  });

  it("is resubmitted as a new run only on demand", async () => {
    await runAndDisconnect();
    fireEvent.click(await screen.findByRole("button", { name: "Send again" }));
    await until("a waiting request", () => service.respond({ status: 200, body: { prompt_id: "second" } }));
    await screen.findByRole("link", { name: "Open job second" });
    expect(service.submissions).toHaveLength(2);
    expect(new Set(service.keys).size).toBe(2);
  });

  it("becomes a job once the console receives its response", async () => {
    await runAndDisconnect({ reportSubmission: async () => ok({ state: "accepted", answer: { prompt_id: "found" } }) });
    expect(await screen.findByRole("link", { name: "Open job found" })).toBeTruthy();
    expect(service.submissions).toHaveLength(1);
  });

  it("is not started when the console never received it", async () => {
    await runAndDisconnect({ reportSubmission: async () => failed({ code: "NOT_FOUND", message: "", status: 404 }) });
    expect((await screen.findByRole("alert")).textContent).toContain("Nothing was started");
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

describe("a reload during a run", () => {
  it("reports the outcome and resubmits nothing", async () => {
    showRunPage(createApi(service));
    await openText(readSampleText("01-invert"));
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
    service.respond("disconnect");
  });

  it("still reports an unknown outcome", async () => {
    await runAndDisconnect();
    await screen.findByRole("alert");
    reload();
    expect((await screen.findByRole("alert")).textContent).toContain("Couldn't confirm that the job was accepted");
    expect(service.submissions).toHaveLength(1);
  });
});
