// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type RunApi } from "@/components/run/run-actions";
import { failed, ok } from "@/lib/shared/result";
import { until } from "@/tests/support/until";
import { sampleText } from "./files";
import { apiTo, openText, pressRun, type PromptServer, runButton, show } from "./page";
import { startPromptServer } from "./prompt-server";

let service: PromptServer;
beforeEach(async () => {
  service = await startPromptServer();
});
afterEach(async () => {
  cleanup();
  sessionStorage.clear();
  await service.stop();
});

const job = (id: string, create_time: number) => ({ id, status: "pending", create_time });
const jobs: RunApi["newestJobs"] = async () =>
  ok({ jobs: [job("may-be-it-0001", Date.now()), job("long-ago-0002", 1)], pagination: { offset: 0 } });

async function pressAndLoseTheLine(ports: Partial<RunApi> = {}) {
  show(apiTo(service, { newestJobs: jobs, ...ports }));
  await openText(sampleText("01-invert"));
  pressRun();
  await until("an answer is asked for", () => service.answer("cut"));
}

/** Starts a new page in the same tab. */
function reload(ports: Partial<RunApi> = {}) {
  window.dispatchEvent(new Event("pagehide"));
  cleanup();
  show(apiTo(service, ports));
}

describe("a run whose answer did not come", () => {
  it("names the jobs that may be it, made since, and sends nothing by itself", async () => {
    await pressAndLoseTheLine();
    const link = await screen.findByRole("link", { name: "may-be-i" });
    expect(link.getAttribute("href")).toBe("/jobs/may-be-it-0001");
    expect(screen.queryByRole("link", { name: "long-ago" })).toBeNull();
    expect(service.received).toHaveLength(1);
  });

  it("is sent again only when somebody says that it did not arrive, and then as a press of its own", async () => {
    await pressAndLoseTheLine();
    fireEvent.click(await screen.findByRole("button", { name: "It did not arrive: send again" }));
    await until("an answer is asked for", () => service.answer({ status: 200, body: { prompt_id: "second" } }));
    await screen.findByRole("link", { name: "Open job second" });
    expect(service.received).toHaveLength(2);
    expect(new Set(service.keys).size).toBe(2);
  });

  it("is a job where the console knows its answer", async () => {
    await pressAndLoseTheLine({ reportSubmission: async () => ok({ state: "accepted", answer: { prompt_id: "found" } }) });
    expect(await screen.findByRole("link", { name: "Open job found" })).toBeTruthy();
    expect(service.received).toHaveLength(1);
  });

  it("started nothing where the console never got it", async () => {
    await pressAndLoseTheLine({ reportSubmission: async () => failed({ code: "NOT_FOUND", message: "", status: 404 }) });
    expect((await screen.findByRole("alert")).textContent).toContain("Nothing was started");
  });

  it("can be left as it is, and is not asked after any more", async () => {
    await pressAndLoseTheLine();
    fireEvent.click(await screen.findByRole("button", { name: "Dismiss" }));
    expect(screen.queryByRole("alert")).toBeNull();
    reload();
    await screen.findAllByRole("button", { name: "Run" });
    expect(screen.queryByRole("alert")).toBeNull();
  });
});

describe("a reload in the middle of a run", () => {
  it("tells what became of it, and sends nothing", async () => {
    show(apiTo(service));
    await openText(sampleText("01-invert"));
    pressRun();
    await waitFor(() => expect(service.received).toHaveLength(1));
    const asked: string[] = [];
    reload({
      reportSubmission: async (key) => {
        asked.push(key);
        return ok({ state: "accepted", answer: { prompt_id: "went-on" } });
      },
    });
    expect(await screen.findByRole("link", { name: "Open job went-on" })).toBeTruthy();
    expect(asked).toEqual(service.keys);
    expect(service.received).toHaveLength(1);
    service.answer("cut");
  });

  it("leaves it unknown where nobody can tell", async () => {
    await pressAndLoseTheLine();
    await screen.findByRole("alert");
    reload({ newestJobs: jobs });
    expect((await screen.findByRole("alert")).textContent).toContain("may or may not have been accepted");
    expect(service.received).toHaveLength(1);
  });
});

it("the second click of a double click is no press, also where the first was answered in between", async () => {
  show(apiTo(service));
  await openText(sampleText("01-invert"));
  fireEvent.click(runButton(), { detail: 1 });
  await until("an answer is asked for", () => service.answer({ status: 200, body: { prompt_id: "one" } }));
  await screen.findByRole("link", { name: "Open job one" });
  fireEvent.click(runButton(), { detail: 2 });
  expect(screen.queryByRole("button", { name: "Sending" })).toBeNull();
  expect(service.received).toHaveLength(1);
});
