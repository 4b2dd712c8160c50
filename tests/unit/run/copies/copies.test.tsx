import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { type ReactNode } from "react";
import { describe, expect, it, vi } from "vitest";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { RunScreen } from "@/components/run/run-screen";
import { createRunStore } from "@/components/run/run-store";
import { ok } from "@/lib/shared/result";
import { renderPage } from "../render";
import { createApi, openText } from "../run-page";
import { readSampleText } from "../workflow-fixtures";
import { createAccepted, createCopiesPage, createRefusal, runCopies, waitForRequest } from "./copies-page";

describe("more than twenty copies", () => {
  it("require confirmation of their number, again when the values change", async () => {
    const { requests, show } = createCopiesPage();
    show();
    await runCopies({ from: "1", to: "21", step: "1" }, "Run 21 copies");
    const dialog = screen.getByRole("dialog");
    expect(within(dialog).getByRole("alert").textContent).toBe("This starts 21 jobs. Start all of them?");
    fireEvent.change(within(dialog).getByLabelText("to"), { target: { value: "22" } });
    expect(within(dialog).queryByRole("alert")).toBeNull();
    fireEvent.click(within(dialog).getByRole("button", { name: "Run 22 copies" }));
    expect(requests).toHaveLength(0);
    fireEvent.click(within(dialog).getByRole("button", { name: "Start 22 jobs" }));
    expect((await waitForRequest(requests, 1)).label).toBe("1/22 · width 1");
  });
});

describe("copies of a run", () => {
  it("are submitted in order with their own keys and reported one by one", async () => {
    const { requests, show } = createCopiesPage();
    show();
    await runCopies({ from: "64", to: "192", step: "64" }, "Run 3 copies");
    for (const count of [1, 2, 3]) {
      const item = await waitForRequest(requests, count);
      expect(item).toMatchObject({ width: 64 * count, label: `${count}/3 · width ${64 * count}` });
      item.respond(createAccepted(`job-${count}`));
    }
    expect(await screen.findByText("3 in the queue")).toBeTruthy();
    expect(new Set(requests.map(({ key }) => key)).size).toBe(3);
    expect(screen.getByRole("link", { name: "job-2" }).getAttribute("href")).toBe("/jobs/job-2");
    // The form keeps its value.
    expect(screen.getByRole<HTMLInputElement>("textbox", { name: "width" }).value).toBe("512");
  });

  it("stop between two requests and can be resumed", async () => {
    const { requests, show } = createCopiesPage();
    show();
    await runCopies({ from: "1", to: "3", step: "1" }, "Run 3 copies");
    const first = await waitForRequest(requests, 1);
    fireEvent.click(screen.getByRole("button", { name: "Stop" }));
    first.respond(createAccepted("one"));
    expect(await screen.findByText("1 in the queue · 2 not sent")).toBeTruthy();
    expect(requests).toHaveLength(1);
    fireEvent.click(screen.getByRole("button", { name: "Submit 2 more" }));
    (await waitForRequest(requests, 2)).respond(createAccepted("two"));
    (await waitForRequest(requests, 3)).respond(createAccepted("three"));
    expect(await screen.findByText("3 in the queue")).toBeTruthy();
    expect(requests.map(({ width }) => width)).toEqual([1, 2, 3]);
  });

  it("are retried with the same key after a rate limit", async () => {
    const { requests, show } = createCopiesPage();
    show();
    await runCopies({ from: "1", to: "1", step: "1" }, "Run 1 copy");
    (await waitForRequest(requests, 1)).respond(createRefusal(429, "RATE_LIMITED", { retryAfterMs: 20 }));
    const secondRequest = await waitForRequest(requests, 2);
    expect(secondRequest.key).toBe(requests[0]?.key);
    secondRequest.respond(createAccepted("one"));
    expect(await screen.findByText("1 in the queue")).toBeTruthy();
  });

  it("stop when the queue is full", async () => {
    const { requests, show } = createCopiesPage();
    show();
    await runCopies({ from: "1", to: "3", step: "1" }, "Run 3 copies");
    (await waitForRequest(requests, 1)).respond(createAccepted("one"));
    (await waitForRequest(requests, 2)).respond(createRefusal(429, "QUEUE_LIMIT", { message: "The queue is full." }));
    expect(await screen.findByText("1 in the queue · 1 refused · 1 not sent")).toBeTruthy();
    expect(screen.getByText("Stopped, because the service would refuse the rest too:")).toBeTruthy();
    expect(requests).toHaveLength(2);
    expect(screen.getByRole("button", { name: "Submit 2 more" })).toBeTruthy();
  });

  it("are not resent after an unknown outcome, and the others continue", async () => {
    const { requests, show } = createCopiesPage();
    show();
    await runCopies({ from: "1", to: "2", step: "1" }, "Run 2 copies");
    (await waitForRequest(requests, 1)).respond(createRefusal(504, "UPSTREAM_TIMEOUT"));
    (await waitForRequest(requests, 2)).respond(createAccepted("two"));
    expect(await screen.findByText("1 in the queue · 1 unknown")).toBeTruthy();
    expect(screen.getByText("May have started")).toBeTruthy();
    expect(screen.queryByRole("button", { name: /^Cancel waiting/ })?.textContent).toBe("Cancel waiting");
    expect(requests).toHaveLength(2);
  });

  it("stop after three failures in a row", async () => {
    const { requests, show } = createCopiesPage();
    show();
    await runCopies({ from: "1", to: "9", step: "1" }, "Run 9 copies");
    const nodeErrors = { "1": { class_type: "EmptyImage", dependent_outputs: [], errors: [] } };
    for (const count of [1, 2, 3])
      (await waitForRequest(requests, count)).respond(createRefusal(400, "prompt_outputs_failed_validation", { nodeErrors }));
    expect(await screen.findByText("3 refused · 6 not sent")).toBeTruthy();
    expect(requests).toHaveLength(3);
  });

  it("are cancelled after the undo window, or immediately when the page closes", async () => {
    const bodies: unknown[] = [];
    // Replaces the service that this page calls.
    vi.stubGlobal("fetch", async (_path: string, { body }: { body: string }) => {
      bodies.push(JSON.parse(body));
      return Response.json({ cleared: false, deleted: ["two"] });
    });
    const { requests, show } = createCopiesPage();
    const page = show();
    await runCopies({ from: "1", to: "2", step: "1" }, "Run 2 copies");
    (await waitForRequest(requests, 1)).respond(createAccepted("one"));
    (await waitForRequest(requests, 2)).respond(createAccepted("two"));
    fireEvent.click(await screen.findByRole("button", { name: "Cancel waiting" }));
    fireEvent.click(screen.getByRole("button", { name: "Undo" }));
    fireEvent.click(screen.getByRole("button", { name: "Cancel waiting" }));
    expect(bodies).toEqual([]);
    window.dispatchEvent(new Event("pagehide"));
    await waitFor(() => expect(bodies).toEqual([{ delete: ["one", "two"] }]));
    page.unmount();
  });

  it("are looked up after a reload, not resent", async () => {
    const reportAccepted = (key: string) => ok({ state: "accepted" as const, answer: { prompt_id: `found-${key.length}` } });
    const { requests, show } = createCopiesPage({ reportSubmission: async (key) => reportAccepted(key) });
    const page = show();
    await runCopies({ from: "1", to: "3", step: "1" }, "Run 3 copies");
    (await waitForRequest(requests, 1)).respond(createAccepted("one"));
    await waitForRequest(requests, 2);
    page.unmount();
    show(createRunStore());
    expect(await screen.findByText("2 in the queue · 1 not sent")).toBeTruthy();
    expect(screen.getByRole("link", { name: "found-32" })).toBeTruthy();
    expect(requests).toHaveLength(2);
  });

  it("resume after a reload with the same inputs and keys", async () => {
    const { requests, show } = createCopiesPage();
    const page = show();
    await runCopies({ from: "64", to: "192", step: "64" }, "Run 3 copies");
    (await waitForRequest(requests, 1)).respond(createRefusal(429, "QUEUE_LIMIT"));
    await screen.findByText("1 refused · 2 not sent");
    const keys = requests.map(({ key }) => key);
    page.unmount();
    show(createRunStore());
    fireEvent.click(await screen.findByRole("button", { name: "Submit 3 more" }));
    for (const count of [2, 3, 4]) (await waitForRequest(requests, count)).respond(createAccepted(`job-${count}`));
    expect(await screen.findByText("3 in the queue")).toBeTruthy();
    expect(requests.slice(1).map(({ width, label }) => [width, label])).toEqual([
      [64, "1/3 · width 64"],
      [128, "2/3 · width 128"],
      [192, "3/3 · width 192"],
    ]);
    expect(requests[1]?.key).toBe(keys[0]);
  });

  it("with extra data are not saved for a reload, and a notice explains it", async () => {
    const { requests, show } = createCopiesPage();
    const page = show();
    await openText(readSampleText("01-invert"));
    fireEvent.change(screen.getByRole("textbox", { name: "extra_data" }), { target: { value: '{ "token": "s3cret" }' } });
    await runCopies({ from: "1", to: "2", step: "1" }, "Run 2 copies", "open");
    (await waitForRequest(requests, 1)).respond(createRefusal(429, "QUEUE_LIMIT"));
    await screen.findByText("1 refused · 1 not sent");
    expect(Object.values({ ...sessionStorage }).join("")).not.toContain("s3cret");
    page.unmount();
    show(createRunStore());
    expect(await screen.findByText(/The values of the remaining copies were not saved/)).toBeTruthy();
    expect(screen.queryByRole("button", { name: /^Send the/ })).toBeNull();
  });

  it("collapse to one line when another workflow is open, and expand on demand", async () => {
    const { requests, show } = createCopiesPage();
    show();
    await runCopies({ from: "1", to: "2", step: "1" }, "Run 2 copies");
    (await waitForRequest(requests, 1)).respond(createAccepted("one"));
    (await waitForRequest(requests, 2)).respond(createAccepted("two"));
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
    const { requests, show } = createCopiesPage();
    const connections = ["studio", "laptop"].map((id) => ({ id, name: id, embedded: false }));
    const renderOnConnection = (currentId: string, page: ReactNode) => (
      <ConnectionProvider currentId={currentId} connections={connections}>
        {page}
      </ConnectionProvider>
    );
    const page = show(undefined, (page) => renderOnConnection("studio", page));
    await runCopies({ from: "1", to: "2", step: "1" }, "Run 2 copies");
    (await waitForRequest(requests, 1)).respond(createRefusal(429, "QUEUE_LIMIT"));
    await screen.findByText("1 refused · 1 not sent");
    page.unmount();
    show(undefined, (page) => renderOnConnection("laptop", page));
    const aside = await screen.findByRole("region", { name: "2 copies of Pasted workflow" });
    expect(aside.textContent).toContain("on studio");
    expect(within(aside).getByRole("link", { name: "Show there" }).getAttribute("href")).toBe("/run?connection=studio");
    expect(screen.queryByRole("button", { name: /^Send the/ })).toBeNull();
  });

  it("of another member are hidden after a reload", async () => {
    const { requests, show } = createCopiesPage();
    const page = show();
    await runCopies({ from: "1", to: "1", step: "1" }, "Run 1 copy");
    (await waitForRequest(requests, 1)).respond(createAccepted("one"));
    await screen.findByText("1 in the queue");
    page.unmount();
    renderPage(<RunScreen canRun memberId="bob" store={createRunStore()} api={createApi(undefined)} />);
    expect(screen.queryByText("1 in the queue")).toBeNull();
  });
});
