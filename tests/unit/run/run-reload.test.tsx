import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { renderToString } from "react-dom/server";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type RunApi } from "@/components/run/run-actions";
import { RunScreen } from "@/components/run/run-screen";
import { createRunStore } from "@/components/run/run-store";
import { allowLeaving } from "@/components/ui/hooks/page-events";
import { failed, ok } from "@/lib/shared/result";
import { until } from "@/tests/support/until";
import { sampleText } from "./files";
import { createApi, field, openText, pressRun, type PromptServer, show } from "./page";
import { startPromptServer } from "./prompt-server";
import { inPage } from "./render";

let service: PromptServer;
beforeEach(async () => void (service = await startPromptServer()));

describe("a reload", () => {
  /** Sends the events of leaving a page, then starts a new page in the same tab, with a new store. */
  function reload(): boolean {
    const leave = new Event("beforeunload", { cancelable: true });
    window.dispatchEvent(leave);
    window.dispatchEvent(new Event("pagehide"));
    cleanup();
    show(createApi(service));
    return leave.defaultPrevented;
  }

  it("restores the workflow and typed values without asking", async () => {
    show(createApi(service));
    await openText(sampleText("01-invert"));
    fireEvent.change(field("width"), { target: { value: "640" } });
    expect(reload()).toBe(false);
    expect((await screen.findByRole<HTMLInputElement>("textbox", { name: "width" })).value).toBe("640");
    expect(screen.getByText(/edited/)).toBeTruthy();
  });

  it("doesn't restore a closed workflow", async () => {
    show(createApi(service));
    await openText(sampleText("01-invert"));
    reload();
    fireEvent.click(await screen.findByRole("button", { name: "Close the workflow" }));
    expect(reload()).toBe(false);
    expect(screen.getByText("Drop a workflow file here")).toBeTruthy();
  });

  it("warns about work too large to keep unless run or warned already", async () => {
    show(createApi(service));
    await openText(sampleText("01-invert"));
    fireEvent.change(field("filename_prefix"), { target: { value: "x".repeat(1_000_001) } });
    const leave = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
    expect(leave()).toBe(true);
    allowLeaving(true);
    expect(leave()).toBe(false);
    allowLeaving(false);
    pressRun();
    await until("an answer is asked for", () => service.respond({ status: 200, body: { prompt_id: "a" } }));
    await screen.findByRole("link", { name: "Open job a" });
    expect(leave()).toBe(false);
  });

  /** Clicks Run; the service responds with that job. */
  async function runAs(id: string) {
    pressRun();
    await until("an answer is asked for", () => service.respond({ status: 200, body: { prompt_id: id, node_errors: {} } }));
    await screen.findByRole("link", { name: `Open job ${id}` });
  }

  it("restores the newest job's link and the earlier jobs", async () => {
    show(createApi(service));
    await openText(sampleText("01-invert"));
    await runAs("first");
    await runAs("second");
    reload();
    const strip = await screen.findByRole("region", { name: "The job that was started" });
    expect(strip.dataset.job).toBe("second");
    expect(strip.textContent).toContain("Pasted workflow");
    expect(within(screen.getByRole("region", { name: "Started from this page" })).getByRole("link", { name: "first" })).toBeTruthy();
    fireEvent.click(await screen.findByRole("button", { name: "Close the workflow" }));
    reload();
    expect(screen.getByRole("link", { name: "Open job second" })).toBeTruthy();
    await openText(sampleText("01-invert"));
    await runAs("third");
    reload();
    expect((await screen.findByRole("region", { name: "The job that was started" })).dataset.job).toBe("third");
  });

  const strip = () => screen.getByRole("region", { name: "The job that was started" });

  it("doesn't restore a dismissed card; its link remains below the form", async () => {
    show(createApi(service));
    await openText(sampleText("01-invert"));
    await runAs("first");
    fireEvent.click(within(strip()).getByRole("button", { name: "Dismiss" }));
    expect(strip().textContent).toBe("");
    expect(document.activeElement).toBe(strip());
    reload();
    await screen.findByRole("button", { name: "Close the workflow" });
    expect(within(screen.getByRole("region", { name: "Started from this page" })).getByRole("link", { name: "first" })).toBeTruthy();
    expect(strip().textContent).toBe("");
    await runAs("second");
    expect(strip().textContent).toContain("Pasted workflow");
  });

  it("doesn't restore another member's job", async () => {
    show(createApi(service));
    await openText(sampleText("01-invert"));
    await runAs("first");
    cleanup();
    render(inPage(<RunScreen canRun memberId="bob" store={createRunStore()} api={createApi(service)} />));
    expect(screen.queryByRole("link", { name: "Open job first" })).toBeNull();
  });

  it("renders the same page on the server and in the browser", async () => {
    show(createApi(service));
    await openText(sampleText("01-invert"));
    window.dispatchEvent(new Event("pagehide"));
    cleanup();
    const container = document.body.appendChild(document.createElement("div"));
    const page = inPage(<RunScreen canRun memberId="ada" store={createRunStore()} />);
    container.innerHTML = renderToString(page);
    expect(container.textContent).toContain("Drop a workflow file here");
    // A hydration mismatch is logged as an error, which fails the test.
    render(page, { container, hydrate: true });
    expect(await screen.findByRole("button", { name: "Close the workflow" })).toBeTruthy();
  });
});

const job = (id: string, create_time: number) => ({ id, status: "pending", create_time });
const candidates = () => ({ jobs: [job("may-be-it-0001", Date.now()), job("long-ago-0002", 1)], pagination: { offset: 0 } });

beforeEach(() => {
  const { fetch } = globalThis;
  const listOrFetch: typeof fetch = async (path, init) =>
    String(path).startsWith("/api/jobs?workflow_id=") ? Response.json(candidates()) : fetch(path, init);
  vi.stubGlobal("fetch", listOrFetch);
});
afterEach(() => void vi.unstubAllGlobals());

async function pressAndLoseTheLine(ports: Partial<RunApi> = {}) {
  show(createApi(service, ports));
  await openText(sampleText("01-invert"));
  pressRun();
  await until("an answer is asked for", () => service.respond("cut"));
}

/** Starts a new page in the same tab. */
function reload(ports: Partial<RunApi> = {}) {
  window.dispatchEvent(new Event("pagehide"));
  cleanup();
  show(createApi(service, ports));
}

describe("a run without a response", () => {
  it("lists candidate jobs made since and sends nothing automatically", async () => {
    await pressAndLoseTheLine();
    const link = await screen.findByRole("link", { name: "may-be-i" });
    expect(link.getAttribute("href")).toBe("/jobs/may-be-it-0001");
    expect(screen.queryByRole("link", { name: "long-ago" })).toBeNull();
    expect(service.submissions).toHaveLength(1);
  });

  it("is sent again only by confirmation, as a new run", async () => {
    await pressAndLoseTheLine();
    fireEvent.click(await screen.findByRole("button", { name: "Send again" }));
    await until("an answer is asked for", () => service.respond({ status: 200, body: { prompt_id: "second" } }));
    await screen.findByRole("link", { name: "Open job second" });
    expect(service.submissions).toHaveLength(2);
    expect(new Set(service.keys).size).toBe(2);
  });

  it("becomes a job once the console receives its response", async () => {
    await pressAndLoseTheLine({ reportSubmission: async () => ok({ state: "accepted", answer: { prompt_id: "found" } }) });
    expect(await screen.findByRole("link", { name: "Open job found" })).toBeTruthy();
    expect(service.submissions).toHaveLength(1);
  });

  it("is not started when the console never received it", async () => {
    await pressAndLoseTheLine({ reportSubmission: async () => failed({ code: "NOT_FOUND", message: "", status: 404 }) });
    expect((await screen.findByRole("alert")).textContent).toContain("Nothing was started");
  });

  it("can be left unknown and is not looked up again", async () => {
    await pressAndLoseTheLine();
    fireEvent.click(await screen.findByRole("button", { name: "Dismiss" }));
    expect(screen.queryByRole("alert")).toBeNull();
    reload();
    await screen.findAllByRole("button", { name: "Run" });
    expect(screen.queryByRole("alert")).toBeNull();
  });
});

describe("a reload during a run", () => {
  it("reports the outcome and sends nothing", async () => {
    show(createApi(service));
    await openText(sampleText("01-invert"));
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
    service.respond("cut");
  });

  it("stays unknown when the outcome is unknown", async () => {
    await pressAndLoseTheLine();
    await screen.findByRole("alert");
    reload();
    expect((await screen.findByRole("alert")).textContent).toContain("Couldn't confirm that the job was accepted");
    expect(service.submissions).toHaveLength(1);
  });
});
