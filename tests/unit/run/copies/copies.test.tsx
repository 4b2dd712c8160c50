// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { type ReactNode } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { RunScreen } from "@/components/run/run-screen";
import { createRunStore } from "@/components/run/run-store";
import { leaveUnasked } from "@/components/ui/hooks/use-close-warning";
import { ok } from "@/lib/shared/result";
import { sampleText } from "../files";
import { apiTo, openText } from "../page";
import { renderPage } from "../render";
import { accepted, desk, nth, refused, runCopies } from "./copies-desk";

beforeEach(() => {
  // jsdom has the element without its methods.
});
afterEach(() => {
  cleanup();
  sessionStorage.clear();
  vi.unstubAllGlobals();
});

it("a press with Shift counts from none of the input that was varied before", async () => {
  const method = [["area", "bicubic", "bilinear", "lanczos"]];
  const input = { required: { first: method, second: method } };
  vi.stubGlobal("fetch", async (path: string) =>
    String(path).includes("object_info")
      ? Response.json({ SaveImage: { name: "SaveImage", input, output: [], output_node: true } })
      : Response.json({ code: "NOT_FOUND" }, { status: 404 }),
  );
  desk().show();
  await openText(JSON.stringify({ "1": { class_type: "SaveImage", inputs: { first: "area", second: "area" } } }));
  await waitFor(() => expect(document.querySelectorAll("option").length).toBeGreaterThan(0));
  fireEvent.click(screen.getAllByRole("button", { name: "Copies" })[0] ?? document.body);
  const dialog = within(await screen.findByRole("dialog"));
  const box = (name: string) => dialog.getByRole<HTMLInputElement>("checkbox", { name });
  fireEvent.click(box("lanczos"));
  fireEvent.change(dialog.getByRole("combobox"), { target: { value: "1" } });
  fireEvent.click(box("bicubic"), { shiftKey: true });
  expect(dialog.getAllByRole<HTMLInputElement>("checkbox").map(({ checked }) => checked)).toEqual([true, true, false, false]);
});

describe("more than twenty copies", () => {
  it("are asked about by their number before any is sent, and again for other values", async () => {
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
  it("are seen before they are sent, go one after another under keys of their own, and end with a receipt each", async () => {
    const { sent, show } = desk();
    show();
    await runCopies({ from: "64", to: "192", step: "64" }, "Run 3 copies");
    for (const count of [1, 2, 3]) {
      const one = await nth(sent, count);
      expect(one).toMatchObject({ width: 64 * count, label: `${count}/3 · width ${64 * count}` });
      one.answer(accepted(`job-${count}`));
    }
    expect(await screen.findByText("3 in the queue")).toBeTruthy();
    expect(new Set(sent.map(({ key }) => key)).size).toBe(3);
    expect(screen.getByRole("link", { name: "job-2" }).getAttribute("href")).toBe("/jobs/job-2");
    // The form itself keeps its value.
    expect(screen.getByRole<HTMLInputElement>("textbox", { name: "width" }).value).toBe("512");
  });

  it("on their way are asked about before the page is left, unless somebody was asked already", async () => {
    const { sent, show } = desk();
    show();
    await runCopies({ from: "1", to: "2", step: "1" }, "Run 2 copies");
    const first = await nth(sent, 1);
    const asksBeforeLeaving = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
    expect(asksBeforeLeaving()).toBe(true);
    leaveUnasked(true);
    expect(asksBeforeLeaving()).toBe(false);
    leaveUnasked(false);
    first.answer(accepted("a"));
    (await nth(sent, 2)).answer(accepted("b"));
    await waitFor(() => expect(asksBeforeLeaving()).toBe(false));
  });

  it("stop between two sends: what is under way ends, the rest is shown as not sent and can be sent later", async () => {
    const { sent, show } = desk();
    show();
    await runCopies({ from: "1", to: "3", step: "1" }, "Run 3 copies");
    const first = await nth(sent, 1);
    fireEvent.click(screen.getByRole("button", { name: "Stop" }));
    first.answer(accepted("one"));
    expect(await screen.findByText("1 in the queue · 2 not sent")).toBeTruthy();
    expect(sent).toHaveLength(1);
    fireEvent.click(screen.getByRole("button", { name: "Submit the remaining 2 copies" }));
    (await nth(sent, 2)).answer(accepted("two"));
    (await nth(sent, 3)).answer(accepted("three"));
    expect(await screen.findByText("3 in the queue")).toBeTruthy();
    expect(sent.map(({ width }) => width)).toEqual([1, 2, 3]);
  });

  it("wait out a plain rate limit and send the same copy again, under the same key", async () => {
    const { sent, show } = desk();
    show();
    await runCopies({ from: "1", to: "1", step: "1" }, "Run 1 copy");
    (await nth(sent, 1)).answer(refused(429, "RATE_LIMITED", { retryAfterMs: 20 }));
    const again = await nth(sent, 2);
    expect(again.key).toBe(sent[0]?.key);
    again.answer(accepted("one"));
    expect(await screen.findByText("1 in the queue")).toBeTruthy();
  });

  it("end at a refusal of the plan or the queue, which the rest would meet too", async () => {
    const { sent, show } = desk();
    show();
    await runCopies({ from: "1", to: "3", step: "1" }, "Run 3 copies");
    (await nth(sent, 1)).answer(accepted("one"));
    (await nth(sent, 2)).answer(refused(429, "QUEUE_LIMIT", { message: "The queue is full." }));
    expect(await screen.findByText("1 in the queue · 1 refused · 1 not sent")).toBeTruthy();
    expect(screen.getByText("Stopped, because the service would refuse the rest too:")).toBeTruthy();
    expect(sent).toHaveLength(2);
    expect(screen.getByRole("button", { name: "Submit the remaining 2 copies" })).toBeTruthy();
  });

  it("end at a refused key, which the rest would meet too", async () => {
    const { sent, show } = desk();
    show();
    await runCopies({ from: "1", to: "3", step: "1" }, "Run 3 copies");
    (await nth(sent, 1)).answer(refused(502, "UPSTREAM_REFUSED_KEY"));
    expect(await screen.findByText("1 refused · 2 not sent")).toBeTruthy();
    expect(screen.getByText("Enter a valid key for this connection in Settings.")).toBeTruthy();
    expect(sent).toHaveLength(1);
  });

  it("with an unknown outcome are shown as that, never sent again, and the others go on", async () => {
    const { sent, show } = desk();
    show();
    await runCopies({ from: "1", to: "2", step: "1" }, "Run 2 copies");
    (await nth(sent, 1)).answer(refused(504, "UPSTREAM_TIMEOUT"));
    (await nth(sent, 2)).answer(accepted("two"));
    expect(await screen.findByText("1 in the queue · 1 unknown")).toBeTruthy();
    expect(screen.getByText("May have started")).toBeTruthy();
    expect(screen.queryByRole("button", { name: /^Cancel waiting/ })?.textContent).toBe("Cancel waiting");
    expect(sent).toHaveLength(2);
  });

  it("that three times in a row cannot run are not sent to the end", async () => {
    const { sent, show } = desk();
    show();
    await runCopies({ from: "1", to: "9", step: "1" }, "Run 9 copies");
    const nodeErrors = { "1": { class_type: "EmptyImage", dependent_outputs: [], errors: [] } };
    for (const count of [1, 2, 3]) (await nth(sent, count)).answer(refused(400, "prompt_outputs_failed_validation", { nodeErrors }));
    expect(await screen.findByText("3 refused · 6 not sent")).toBeTruthy();
    expect(sent).toHaveLength(3);
  });

  it("are cancelled where they still wait, after a moment to take it back, or at once when the page goes away", async () => {
    const asked: unknown[] = [];
    // Replaces the service that this page calls.
    vi.stubGlobal("fetch", async (_path: string, { body }: { body: string }) => {
      asked.push(JSON.parse(body));
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
    expect(asked).toEqual([]);
    window.dispatchEvent(new Event("pagehide"));
    await waitFor(() => expect(asked).toEqual([{ delete: ["one", "two"] }]));
    page.unmount();
    vi.unstubAllGlobals();
  });

  it("cut off by a reload are asked after, and nothing is sent again", async () => {
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

  it("cut off by a reload can be sent to the end: the rest as it was meant, under the keys it had", async () => {
    const { sent, show } = desk();
    const page = show();
    await runCopies({ from: "64", to: "192", step: "64" }, "Run 3 copies");
    (await nth(sent, 1)).answer(refused(429, "QUEUE_LIMIT"));
    await screen.findByText("1 refused · 2 not sent");
    const kept = sent.map(({ key }) => key);
    page.unmount();
    show(createRunStore());
    fireEvent.click(await screen.findByRole("button", { name: "Submit the remaining 3 copies" }));
    for (const count of [2, 3, 4]) (await nth(sent, count)).answer(accepted(`job-${count}`));
    expect(await screen.findByText("3 in the queue")).toBeTruthy();
    expect(sent.slice(1).map(({ width, label }) => [width, label])).toEqual([
      [64, "1/3 · width 64"],
      [128, "2/3 · width 128"],
      [192, "3/3 · width 192"],
    ]);
    expect(sent[1]?.key).toBe(kept[0]);
  });

  it("sent with extra data of their own are not kept over a reload, and that is shown", async () => {
    const { sent, show } = desk();
    const page = show();
    await openText(sampleText("01-invert"));
    fireEvent.change(screen.getByRole("textbox", { name: "extra_data" }), { target: { value: '{ "token": "s3cret" }' } });
    await runCopies({ from: "1", to: "2", step: "1" }, "Run 2 copies", "open");
    (await nth(sent, 1)).answer(refused(429, "QUEUE_LIMIT"));
    await screen.findByText("1 refused · 1 not sent");
    expect(Object.values({ ...sessionStorage }).join("")).not.toContain("s3cret");
    page.unmount();
    show(createRunStore());
    expect(await screen.findByText(/The values of the remaining copies were not saved/)).toBeTruthy();
    expect(screen.queryByRole("button", { name: /^Send the/ })).toBeNull();
  });

  it("stand in one line beside another workflow, and in full when they are asked for", async () => {
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

  it("of another connection are shown with the way there, and nothing is sent or cancelled from here", async () => {
    const { sent, show } = desk();
    const connections = ["studio", "laptop"].map((id) => ({ id, name: id, embedded: false }));
    const on = (currentId: string, page: ReactNode) => (
      <ConnectionProvider currentId={currentId} connections={connections}>
        {page}
      </ConnectionProvider>
    );
    const page = show(undefined, (page) => on("studio", page));
    await runCopies({ from: "1", to: "2", step: "1" }, "Run 2 copies");
    (await nth(sent, 1)).answer(refused(429, "QUEUE_LIMIT"));
    await screen.findByText("1 refused · 1 not sent");
    page.unmount();
    show(undefined, (page) => on("laptop", page));
    const aside = await screen.findByRole("region", { name: "2 copies of Pasted workflow" });
    expect(aside.textContent).toContain("on studio");
    expect(within(aside).getByRole("link", { name: "Show there" }).getAttribute("href")).toBe("/run?connection=studio");
    expect(screen.queryByRole("button", { name: /^Send the/ })).toBeNull();
  });

  it("of another member are nobody's business after a reload", async () => {
    const { sent, show } = desk();
    const page = show();
    await runCopies({ from: "1", to: "1", step: "1" }, "Run 1 copy");
    (await nth(sent, 1)).answer(accepted("one"));
    await screen.findByText("1 in the queue");
    page.unmount();
    renderPage(<RunScreen canRun memberId="bob" store={createRunStore()} api={apiTo(undefined)} />);
    expect(screen.queryByText("1 in the queue")).toBeNull();
  });
});
