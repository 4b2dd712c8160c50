import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { type ReactNode } from "react";
import { describe, expect, it, vi } from "vitest";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { RunScreen } from "@/components/run/run-screen";
import { createRunStore } from "@/components/run/run-store";
import { ok } from "@/lib/shared/result";
import { sampleText } from "../files";
import { createApi, openText } from "../page";
import { renderPage } from "../render";
import { accepted, desk, nth, refuse, runCopies } from "./copies-desk";

describe("more than twenty copies", () => {
  it("are confirmed with their number before sending, again for new values", async () => {
    const { sent, show } = desk();
    show();
    await runCopies({ from: "1", to: "21", step: "1" }, "Run 21 copies");
    const dialog = screen.getByRole("dialog");
    expect(within(dialog).getByRole("alert").textContent).toBe("This starts 21 jobs. Start all of them?");
    fireEvent.change(within(dialog).getByLabelText("to"), { target: { value: "22" } });
    expect(within(dialog).queryByRole("alert")).toBeNull();
    fireEvent.click(within(dialog).getByRole("button", { name: "Run 22 copies" }));
    expect(sent).toHaveLength(0);
    fireEvent.click(within(dialog).getByRole("button", { name: "Start 22 jobs" }));
    expect((await nth(sent, 1)).label).toBe("1/22 · width 1");
  });
});

describe("copies of a run", () => {
  it("are previewed, sent in order with own keys and reported one by one", async () => {
    const { sent, show } = desk();
    show();
    await runCopies({ from: "64", to: "192", step: "64" }, "Run 3 copies");
    for (const count of [1, 2, 3]) {
      const item = await nth(sent, count);
      expect(item).toMatchObject({ width: 64 * count, label: `${count}/3 · width ${64 * count}` });
      item.answer(accepted(`job-${count}`));
    }
    expect(await screen.findByText("3 in the queue")).toBeTruthy();
    expect(new Set(sent.map(({ key }) => key)).size).toBe(3);
    expect(screen.getByRole("link", { name: "job-2" }).getAttribute("href")).toBe("/jobs/job-2");
    // The form itself keeps its value.
    expect(screen.getByRole<HTMLInputElement>("textbox", { name: "width" }).value).toBe("512");
  });

  it("stop between two requests and can send the rest later", async () => {
    const { sent, show } = desk();
    show();
    await runCopies({ from: "1", to: "3", step: "1" }, "Run 3 copies");
    const first = await nth(sent, 1);
    fireEvent.click(screen.getByRole("button", { name: "Stop" }));
    first.answer(accepted("one"));
    expect(await screen.findByText("1 in the queue · 2 not sent")).toBeTruthy();
    expect(sent).toHaveLength(1);
    fireEvent.click(screen.getByRole("button", { name: "Submit 2 more" }));
    (await nth(sent, 2)).answer(accepted("two"));
    (await nth(sent, 3)).answer(accepted("three"));
    expect(await screen.findByText("3 in the queue")).toBeTruthy();
    expect(sent.map(({ width }) => width)).toEqual([1, 2, 3]);
  });

  it("wait out a plain rate limit and send the same copy again, under the same key", async () => {
    const { sent, show } = desk();
    show();
    await runCopies({ from: "1", to: "1", step: "1" }, "Run 1 copy");
    (await nth(sent, 1)).answer(refuse(429, "RATE_LIMITED", { retryAfterMs: 20 }));
    const secondRequest = await nth(sent, 2);
    expect(secondRequest.key).toBe(sent[0]?.key);
    secondRequest.answer(accepted("one"));
    expect(await screen.findByText("1 in the queue")).toBeTruthy();
  });

  it("end at a refusal of the plan or queue", async () => {
    const { sent, show } = desk();
    show();
    await runCopies({ from: "1", to: "3", step: "1" }, "Run 3 copies");
    (await nth(sent, 1)).answer(accepted("one"));
    (await nth(sent, 2)).answer(refuse(429, "QUEUE_LIMIT", { message: "The queue is full." }));
    expect(await screen.findByText("1 in the queue · 1 refused · 1 not sent")).toBeTruthy();
    expect(screen.getByText("Stopped, because the service would refuse the rest too:")).toBeTruthy();
    expect(sent).toHaveLength(2);
    expect(screen.getByRole("button", { name: "Submit 2 more" })).toBeTruthy();
  });

  it("with an unknown outcome are never sent again, and the others continue", async () => {
    const { sent, show } = desk();
    show();
    await runCopies({ from: "1", to: "2", step: "1" }, "Run 2 copies");
    (await nth(sent, 1)).answer(refuse(504, "UPSTREAM_TIMEOUT"));
    (await nth(sent, 2)).answer(accepted("two"));
    expect(await screen.findByText("1 in the queue · 1 unknown")).toBeTruthy();
    expect(screen.getByText("May have started")).toBeTruthy();
    expect(screen.queryByRole("button", { name: /^Cancel waiting/ })?.textContent).toBe("Cancel waiting");
    expect(sent).toHaveLength(2);
  });

  it("stop after three failures in a row", async () => {
    const { sent, show } = desk();
    show();
    await runCopies({ from: "1", to: "9", step: "1" }, "Run 9 copies");
    const nodeErrors = { "1": { class_type: "EmptyImage", dependent_outputs: [], errors: [] } };
    for (const count of [1, 2, 3]) (await nth(sent, count)).answer(refuse(400, "prompt_outputs_failed_validation", { nodeErrors }));
    expect(await screen.findByText("3 refused · 6 not sent")).toBeTruthy();
    expect(sent).toHaveLength(3);
  });

  it("are cancelled with Undo, or immediately when the page closes", async () => {
    const requests: unknown[] = [];
    // Replaces the service that this page calls.
    vi.stubGlobal("fetch", async (_path: string, { body }: { body: string }) => {
      requests.push(JSON.parse(body));
      return Response.json({ cleared: false, deleted: ["two"] });
    });
    const { sent, show } = desk();
    const page = show();
    await runCopies({ from: "1", to: "2", step: "1" }, "Run 2 copies");
    (await nth(sent, 1)).answer(accepted("one"));
    (await nth(sent, 2)).answer(accepted("two"));
    fireEvent.click(await screen.findByRole("button", { name: "Cancel waiting" }));
    fireEvent.click(screen.getByRole("button", { name: "Undo" }));
    fireEvent.click(screen.getByRole("button", { name: "Cancel waiting" }));
    expect(requests).toEqual([]);
    window.dispatchEvent(new Event("pagehide"));
    await waitFor(() => expect(requests).toEqual([{ delete: ["one", "two"] }]));
    page.unmount();
  });

  it("are looked up after a reload without resending", async () => {
    const report = (key: string) => ok({ state: "accepted" as const, answer: { prompt_id: `found-${key.length}` } });
    const { sent, show } = desk({ reportSubmission: async (key) => report(key) });
    const page = show();
    await runCopies({ from: "1", to: "3", step: "1" }, "Run 3 copies");
    (await nth(sent, 1)).answer(accepted("one"));
    await nth(sent, 2);
    page.unmount();
    show(createRunStore());
    expect(await screen.findByText("2 in the queue · 1 not sent")).toBeTruthy();
    expect(screen.getByRole("link", { name: "found-32" })).toBeTruthy();
    expect(sent).toHaveLength(2);
  });

  it("resume after a reload with the same inputs and keys", async () => {
    const { sent, show } = desk();
    const page = show();
    await runCopies({ from: "64", to: "192", step: "64" }, "Run 3 copies");
    (await nth(sent, 1)).answer(refuse(429, "QUEUE_LIMIT"));
    await screen.findByText("1 refused · 2 not sent");
    const keys = sent.map(({ key }) => key);
    page.unmount();
    show(createRunStore());
    fireEvent.click(await screen.findByRole("button", { name: "Submit 3 more" }));
    for (const count of [2, 3, 4]) (await nth(sent, count)).answer(accepted(`job-${count}`));
    expect(await screen.findByText("3 in the queue")).toBeTruthy();
    expect(sent.slice(1).map(({ width, label }) => [width, label])).toEqual([
      [64, "1/3 · width 64"],
      [128, "2/3 · width 128"],
      [192, "3/3 · width 192"],
    ]);
    expect(sent[1]?.key).toBe(keys[0]);
  });

  it("aren't kept over a reload with their own extra data, with a notice", async () => {
    const { sent, show } = desk();
    const page = show();
    await openText(sampleText("01-invert"));
    fireEvent.change(screen.getByRole("textbox", { name: "extra_data" }), { target: { value: '{ "token": "s3cret" }' } });
    await runCopies({ from: "1", to: "2", step: "1" }, "Run 2 copies", "open");
    (await nth(sent, 1)).answer(refuse(429, "QUEUE_LIMIT"));
    await screen.findByText("1 refused · 1 not sent");
    expect(Object.values({ ...sessionStorage }).join("")).not.toContain("s3cret");
    page.unmount();
    show(createRunStore());
    expect(await screen.findByText(/The values of the remaining copies were not saved/)).toBeTruthy();
    expect(screen.queryByRole("button", { name: /^Send the/ })).toBeNull();
  });

  it("are one line next to another workflow and expand on request", async () => {
    const { sent, show } = desk();
    show();
    await runCopies({ from: "1", to: "2", step: "1" }, "Run 2 copies");
    (await nth(sent, 1)).answer(accepted("one"));
    (await nth(sent, 2)).answer(accepted("two"));
    expect(await screen.findByRole("list", { name: "Result of each copy" })).toBeTruthy();
    fireEvent.paste(document.body, { clipboardData: { files: [], getData: () => sampleText("05-slow") } });
    await screen.findAllByText("Slow step");
    const aside = screen.getByRole("region", { name: "2 copies of Pasted workflow" });
    expect(within(aside).queryByRole("list")).toBeNull();
    expect(aside.textContent).toContain("2 in the queue");
    fireEvent.click(within(aside).getByRole("button", { name: "Show" }));
    expect(screen.getByRole("list", { name: "Result of each copy" })).toBeTruthy();
  });

  it("of another connection are shown read-only with a link", async () => {
    const { sent, show } = desk();
    const connections = ["studio", "laptop"].map((id) => ({ id, name: id, embedded: false }));
    const on = (currentId: string, page: ReactNode) => (
      <ConnectionProvider currentId={currentId} connections={connections}>
        {page}
      </ConnectionProvider>
    );
    const page = show(undefined, (page) => on("studio", page));
    await runCopies({ from: "1", to: "2", step: "1" }, "Run 2 copies");
    (await nth(sent, 1)).answer(refuse(429, "QUEUE_LIMIT"));
    await screen.findByText("1 refused · 1 not sent");
    page.unmount();
    show(undefined, (page) => on("laptop", page));
    const aside = await screen.findByRole("region", { name: "2 copies of Pasted workflow" });
    expect(aside.textContent).toContain("on studio");
    expect(within(aside).getByRole("link", { name: "Show there" }).getAttribute("href")).toBe("/run?connection=studio");
    expect(screen.queryByRole("button", { name: /^Send the/ })).toBeNull();
  });

  it("of another member stay hidden after a reload", async () => {
    const { sent, show } = desk();
    const page = show();
    await runCopies({ from: "1", to: "1", step: "1" }, "Run 1 copy");
    (await nth(sent, 1)).answer(accepted("one"));
    await screen.findByText("1 in the queue");
    page.unmount();
    renderPage(<RunScreen canRun memberId="bob" store={createRunStore()} api={createApi(undefined)} />);
    expect(screen.queryByText("1 in the queue")).toBeNull();
  });
});
