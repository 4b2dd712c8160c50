// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { renderToString } from "react-dom/server";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RunScreen } from "@/components/run/run-screen";
import { createRunStore } from "@/components/run/run-store";
import { leaveUnasked } from "@/components/ui/hooks/use-close-warning";
import { until } from "@/tests/support/until";
import { sampleText } from "./files";
import { apiTo, field, openText, pressRun, type PromptServer, show } from "./page";
import { startPromptServer } from "./prompt-server";
import { inPage } from "./render";

let service: PromptServer;
beforeEach(async () => {
  service = await startPromptServer();
});
afterEach(async () => {
  cleanup();
  sessionStorage.clear();
  await service.stop();
});

describe("a reload", () => {
  /** Sends the events of leaving a page, then starts a new page in the same tab, with a new store. */
  function reload(): boolean {
    const leave = new Event("beforeunload", { cancelable: true });
    window.dispatchEvent(leave);
    window.dispatchEvent(new Event("pagehide"));
    cleanup();
    show(apiTo(service));
    return leave.defaultPrevented;
  }

  it("brings back the workflow with everything typed, without a question", async () => {
    show(apiTo(service));
    await openText(sampleText("01-invert"));
    fireEvent.change(field("width"), { target: { value: "640" } });
    expect(reload()).toBe(false);
    expect((await screen.findByRole<HTMLInputElement>("textbox", { name: "width" })).value).toBe("640");
    expect(screen.getByText(/edited/)).toBeTruthy();
  });

  it("brings back nothing that was closed", async () => {
    show(apiTo(service));
    await openText(sampleText("01-invert"));
    reload();
    fireEvent.click(await screen.findByRole("button", { name: "Close the workflow" }));
    expect(reload()).toBe(false);
    expect(screen.getByText("Drop a workflow file here")).toBeTruthy();
  });

  it("is asked about where the work is too large to keep, until it was run, unless somebody was asked already", async () => {
    show(apiTo(service));
    await openText(sampleText("01-invert"));
    fireEvent.change(field("filename_prefix"), { target: { value: "x".repeat(1_000_001) } });
    const leave = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
    expect(leave()).toBe(true);
    leaveUnasked(true);
    expect(leave()).toBe(false);
    leaveUnasked(false);
    pressRun();
    await until("an answer is asked for", () => service.answer({ status: 200, body: { prompt_id: "a" } }));
    await screen.findByRole("link", { name: "Open job a" });
    expect(leave()).toBe(false);
  });

  /** Presses Run; the service answers with that job. */
  async function runAs(id: string) {
    pressRun();
    await until("an answer is asked for", () => service.answer({ status: 200, body: { prompt_id: id, node_errors: {} } }));
    await screen.findByRole("link", { name: `Open job ${id}` });
  }

  it("brings back the newest job with its way to it, and those that were started before it", async () => {
    show(apiTo(service));
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

  it("brings back no job whose card was dismissed; the way to it stays below the form", async () => {
    show(apiTo(service));
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

  it("brings back no job of another member", async () => {
    show(apiTo(service));
    await openText(sampleText("01-invert"));
    await runAs("first");
    cleanup();
    render(inPage(<RunScreen canRun memberId="bob" store={createRunStore()} api={apiTo(service)} />));
    expect(screen.queryByRole("link", { name: "Open job first" })).toBeNull();
  });

  it("is the same page for the server and for the browser that takes it over", async () => {
    show(apiTo(service));
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
