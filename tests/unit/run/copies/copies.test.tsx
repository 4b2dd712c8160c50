import { fireEvent, screen, within } from "@testing-library/react";
import { type ReactNode } from "react";
import { describe, expect, it } from "vitest";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { RunScreen } from "@/components/run/run-screen";
import { createRunStore } from "@/components/run/run-store";
import { ok } from "@/lib/shared/result";
import { renderPage } from "../render";
import { createApi, openText } from "../run-page";
import { readSampleText } from "../workflow-fixtures";
import { createCopiesPage, runCopies, waitForRequest } from "./copies-page";

describe("copies of a run", () => {
  it("require confirmation of more than twenty, again when the values change", async () => {
    const { requests, show } = createCopiesPage();
    show();
    await runCopies(21);
    const dialog = screen.getByRole("dialog");
    expect(within(dialog).getByRole("alert").textContent).toBe("This starts 21 jobs. Start all of them?");
    fireEvent.change(within(dialog).getByLabelText("to"), { target: { value: "22" } });
    expect(within(dialog).queryByRole("alert")).toBeNull();
    fireEvent.click(within(dialog).getByRole("button", { name: "Run 22 copies" }));
    expect(requests).toHaveLength(0);
    fireEvent.click(within(dialog).getByRole("button", { name: "Start 22 jobs" }));
    expect((await waitForRequest(requests, 1)).label).toBe("1/22 · width 1");
  });

  it("are submitted in order with their own keys and reported one by one", async () => {
    const { requests, show, accept } = createCopiesPage();
    show();
    await runCopies(3);
    for (const count of [1, 2, 3]) await accept(`job-${count}`);
    expect(await screen.findByText("3 in the queue")).toBeTruthy();
    expect(requests.map(({ width, label }) => [width, label])).toEqual([1, 2, 3].map((width) => [width, `${width}/3 · width ${width}`]));
    expect(new Set(requests.map(({ key }) => key)).size).toBe(3);
    expect(screen.getByRole("link", { name: "job-2" }).getAttribute("href")).toBe("/jobs/job-2");
    // The form keeps its value.
    expect(screen.getByRole<HTMLInputElement>("textbox", { name: "width" }).value).toBe("512");
  });

  it("stop between two requests and can be resumed", async () => {
    const { requests, show, accept } = createCopiesPage();
    show();
    await runCopies(3);
    await waitForRequest(requests, 1);
    fireEvent.click(screen.getByRole("button", { name: "Stop" }));
    await accept("one");
    expect(await screen.findByText("1 in the queue · 2 not sent")).toBeTruthy();
    expect(requests).toHaveLength(1);
    fireEvent.click(screen.getByRole("button", { name: "Submit 2 more" }));
    for (const id of ["two", "three"]) await accept(id);
    expect(await screen.findByText("3 in the queue")).toBeTruthy();
    expect(requests.map(({ width }) => width)).toEqual([1, 2, 3]);
  });

  it("are retried with the same key after a rate limit", async () => {
    const { requests, show, accept, refuse } = createCopiesPage();
    show();
    await runCopies(1, "new", "Run 1 copy");
    await refuse(429, "RATE_LIMITED", { retryAfterMs: 20 });
    await accept("one");
    expect(await screen.findByText("1 in the queue")).toBeTruthy();
    expect(requests[1]?.key).toBe(requests[0]?.key);
  });

  it("stop when the queue is full", async () => {
    const { requests, show, accept, refuse } = createCopiesPage();
    show();
    await runCopies(3);
    await accept("one");
    await refuse(429, "QUEUE_LIMIT", { message: "The queue is full." });
    expect(await screen.findByText("1 in the queue · 1 refused · 1 not sent")).toBeTruthy();
    expect(screen.getByText("Stopped, because the service would refuse the rest too:")).toBeTruthy();
    expect(requests).toHaveLength(2);
    expect(screen.getByRole("button", { name: "Submit 2 more" })).toBeTruthy();
  });

  it("are not resent after an unknown outcome, and the others continue", async () => {
    const { requests, show, accept, refuse } = createCopiesPage();
    show();
    await runCopies(2);
    await refuse(504, "UPSTREAM_TIMEOUT");
    await accept("two");
    expect(await screen.findByText("1 in the queue · 1 unknown")).toBeTruthy();
    expect(screen.getByText("May have started")).toBeTruthy();
    expect(screen.queryByRole("button", { name: /^Cancel pending/ })?.textContent).toBe("Cancel pending");
    expect(requests).toHaveLength(2);
  });

  it("stop after three failures in a row", async () => {
    const { requests, show, refuse } = createCopiesPage();
    show();
    await runCopies(9);
    const nodeErrors = { "1": { class_type: "EmptyImage", dependent_outputs: [], errors: [] } };
    for (const _ of [1, 2, 3]) await refuse(400, "prompt_outputs_failed_validation", { nodeErrors });
    expect(await screen.findByText("3 refused · 6 not sent")).toBeTruthy();
    expect(requests).toHaveLength(3);
  });

  it("are looked up after a reload, not resent", async () => {
    const { requests, show, accept } = createCopiesPage({
      reportSubmission: async (key) => ok({ state: "accepted", answer: { prompt_id: `found-${key.length}` } }),
    });
    const page = show();
    await runCopies(3);
    await accept("one");
    await waitForRequest(requests, 2);
    page.unmount();
    show(createRunStore());
    expect(await screen.findByText("2 in the queue · 1 not sent")).toBeTruthy();
    expect(screen.getByRole("link", { name: "found-32" })).toBeTruthy();
    expect(requests).toHaveLength(2);
  });

  it("resume after a reload with the same inputs and keys", async () => {
    const { requests, show, accept, refuse } = createCopiesPage();
    const page = show();
    await runCopies(3);
    await refuse(429, "QUEUE_LIMIT");
    await screen.findByText("1 refused · 2 not sent");
    page.unmount();
    show(createRunStore());
    fireEvent.click(await screen.findByRole("button", { name: "Submit 3 more" }));
    for (const count of [1, 2, 3]) await accept(`job-${count}`);
    expect(await screen.findByText("3 in the queue")).toBeTruthy();
    const resumed = requests.slice(1).map(({ width, label }) => [width, label]);
    expect(resumed).toEqual([1, 2, 3].map((width) => [width, `${width}/3 · width ${width}`]));
    expect(requests[1]?.key).toBe(requests[0]?.key);
    expect(new Set(requests.map(({ batchId }) => batchId)).size).toBe(1);
  });

  it("with extra data are not saved for a reload, and a notice explains it", async () => {
    const { show, refuse } = createCopiesPage();
    const page = show();
    await openText(readSampleText("01-invert"));
    fireEvent.change(screen.getByRole("textbox", { name: "extra_data" }), { target: { value: '{ "token": "s3cret" }' } });
    await runCopies(2, "open");
    await refuse(429, "QUEUE_LIMIT");
    await screen.findByText("1 refused · 1 not sent");
    expect(Object.values({ ...sessionStorage }).join("")).not.toContain("s3cret");
    page.unmount();
    show(createRunStore());
    expect(await screen.findByText(/The values of the remaining copies were not saved/)).toBeTruthy();
    expect(screen.queryByRole("button", { name: /^Submit/ })).toBeNull();
  });

  it("collapse to one line when another workflow is open, and expand on demand", async () => {
    const { show, accept } = createCopiesPage();
    show();
    await runCopies(2);
    for (const id of ["one", "two"]) await accept(id);
    expect(await screen.findByRole("list", { name: "Result of each copy" })).toBeTruthy();
    fireEvent.paste(document.body, { clipboardData: { files: [], getData: () => readSampleText("05-slow") } });
    await screen.findAllByText("Slow step");
    const aside = screen.getByRole("region", { name: "2 copies of Pasted workflow" });
    expect(within(aside).queryByRole("list")).toBeNull();
    expect(aside.textContent).toContain("2 in the queue");
    fireEvent.click(within(aside).getByRole("button", { name: "Show" }));
    expect(screen.getByRole("list", { name: "Result of each copy" })).toBeTruthy();
  });

  it("of another connection are read-only and link to it", async () => {
    const { show, refuse } = createCopiesPage();
    const connections = ["studio", "laptop"].map((id) => ({ id, name: id, embedded: false }));
    const renderOnConnection = (currentId: string, page: ReactNode) => (
      <ConnectionProvider currentId={currentId} connections={connections}>
        {page}
      </ConnectionProvider>
    );
    const page = show(undefined, (page) => renderOnConnection("studio", page));
    await runCopies(2);
    await refuse(429, "QUEUE_LIMIT");
    await screen.findByText("1 refused · 1 not sent");
    page.unmount();
    show(undefined, (page) => renderOnConnection("laptop", page));
    const aside = await screen.findByRole("region", { name: "2 copies of Pasted workflow" });
    expect(aside.textContent).toContain("on studio");
    expect(within(aside).getByRole("link", { name: "Switch and show" }).getAttribute("href")).toBe("/run?connection=studio");
    expect(screen.queryByRole("button", { name: /^Submit/ })).toBeNull();
  });

  it("of another member are hidden after a reload", async () => {
    const { show, accept } = createCopiesPage();
    const page = show();
    await runCopies(1, "new", "Run 1 copy");
    await accept("one");
    await screen.findByText("1 in the queue");
    page.unmount();
    renderPage(<RunScreen canRun memberId="bob" store={createRunStore()} api={createApi(undefined)} />);
    expect(screen.queryByText("1 in the queue")).toBeNull();
  });
});
