import { act, fireEvent, screen, within } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { type Submission } from "@/components/run/submit/submission";
import { mergeExtra, readExtra } from "@/components/run/workflow/workflow-contents";
import { ok } from "@/lib/shared/result";
import { until } from "@/tests/support/until";
import { sampleText } from "./files";
import { createApi, field, openText, pressRun, type PromptServer, show } from "./page";
import { startPromptServer } from "./prompt-server";

describe("run advanced", () => {
  let service: PromptServer;
  beforeEach(async () => void (service = await startPromptServer()));

  const respond = () => until("an answer is asked for", () => service.respond({ status: 200, body: { prompt_id: "a" } }));
  const extraField = () => screen.getByRole<HTMLTextAreaElement>("textbox", { name: "extra_data" });

  it("sends extra_data with the run and stores it nowhere", async () => {
    show(createApi(service));
    await openText(sampleText("01-invert"));
    fireEvent.change(extraField(), { target: { value: '{"api_key_comfy_org": "very-secret", "extra_pnginfo": {"note": 1}}' } });
    pressRun();
    await respond();
    await screen.findByRole("link", { name: "Open job a" });
    expect(service.submissions[0]?.extra_data).toMatchObject({
      api_key_comfy_org: "very-secret",
      extra_pnginfo: { note: 1, workflow: { name: "Pasted workflow" } },
    });
    window.dispatchEvent(new Event("pagehide"));
    expect(JSON.stringify({ ...sessionStorage }) + JSON.stringify({ ...localStorage })).not.toContain("very-secret");
  });

  it("reports invalid extra_data at its field and sends nothing", async () => {
    show(createApi(service));
    await openText(sampleText("01-invert"));
    fireEvent.change(extraField(), { target: { value: "{ no" } });
    expect(screen.getByText("This is not valid JSON.")).toBeTruthy();
    pressRun();
    expect(document.activeElement).toBe(extraField());
    expect(service.submissions).toHaveLength(0);
  });

  it("runs only the chosen outputs, or all without targets", async () => {
    show(createApi(service));
    const save = (images: unknown) => ({ class_type: "SaveImage", inputs: { images } });
    const source = { class_type: "EmptyImage", inputs: { width: 8 } };
    await openText(JSON.stringify({ "1": source, "2": save(["1", 0]), "3": save(["1", 0]) }));
    const boxes = screen.getAllByRole<HTMLInputElement>("checkbox", { name: /#/, hidden: true });
    expect(boxes).toHaveLength(2);
    for (const box of boxes) fireEvent.click(box);
    expect(screen.getByText("Select at least one output.")).toBeTruthy();
    pressRun();
    expect(service.submissions).toHaveLength(0);
    const [first] = boxes;
    if (first) fireEvent.click(first);
    pressRun();
    await respond();
    expect(service.submissions[0]?.partial_execution_targets).toEqual(["2"]);
  });

  it("selects a range of outputs with Shift", async () => {
    show(createApi(service));
    const saves = ["2", "3", "4", "5", "6"].map((id) => [id, { class_type: "SaveImage", inputs: { images: ["1", 0] } }]);
    await openText(JSON.stringify({ "1": { class_type: "EmptyImage", inputs: { width: 8 } }, ...Object.fromEntries(saves) }));
    const box = (id: string) => screen.getByRole<HTMLInputElement>("checkbox", { name: `SaveImage #${id}`, hidden: true });
    fireEvent.click(box("5"));
    fireEvent.click(box("3"), { shiftKey: true });
    expect(saves.map(([id]) => box(String(id)).checked)).toEqual([true, false, false, false, true]);
    fireEvent.click(box("4"));
    fireEvent.click(box("5"), { shiftKey: true });
    pressRun();
    await respond();
    expect(service.submissions[0]?.partial_execution_targets).toEqual(["2", "4", "5", "6"]);
  });

  it("resets a Shift range in another workflow", async () => {
    show(createApi(service));
    const saves = ["2", "3", "4", "5"].map((id) => [id, { class_type: "SaveImage", inputs: { images: ["1", 0] } }]);
    const text = JSON.stringify({ "1": { class_type: "EmptyImage", inputs: { width: 8 } }, ...Object.fromEntries(saves) });
    const box = (id: string) => screen.getByRole<HTMLInputElement>("checkbox", { name: `SaveImage #${id}`, hidden: true });
    await openText(text);
    fireEvent.click(box("5"));
    await openText(text);
    expect(box("5").checked).toBe(true);
    fireEvent.click(box("3"), { shiftKey: true });
    expect(saves.map(([id]) => box(String(id)).checked)).toEqual([true, false, true, true]);
  });

  it("bounds extra_data and merges it with the workflow's own", () => {
    expect(readExtra("")).toEqual({ ok: true, value: {} });
    expect(readExtra("[1]")).toMatchObject({ why: "no_object" });
    expect(readExtra(`"${"x".repeat(100_001)}"`)).toMatchObject({ why: "too_large" });
    expect(readExtra(`{"a":${"[".repeat(60)}${"]".repeat(60)}}`)).toMatchObject({ why: "too_deep" });
    expect(mergeExtra({ a: 1, extra_pnginfo: { workflow: { id: "x" } } }, { b: 2, extra_pnginfo: { note: 3 } })).toEqual({
      a: 1,
      b: 2,
      extra_pnginfo: { workflow: { id: "x" }, note: 3 },
    });
  });
});

// Values filled in on sending (a new seed, the time, values of other nodes) are shown before they are sent, and sent as shown.
describe("run filled", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"], now: new Date(2026, 2, 5, 7, 8, 9) });
  });

  const workflow = (prefix: string) =>
    JSON.stringify({
      "1": { class_type: "Sampler", inputs: { seed: 7, steps: 20 } },
      "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: prefix } },
    });

  /** Opens a workflow whose seed is new for every run. */
  async function open(prefix: string) {
    const submissions: Submission[] = [];
    show(createApi({ send: async (submission) => ok({ prompt_id: `job-${submissions.push(submission)}`, node_errors: {} }) }));
    await openText(workflow(prefix));
    fireEvent.click(screen.getByRole("checkbox", { name: "new seed on every run" }));
    const sentAs = () => submissions.map(({ prompt }) => [prompt["1"]?.inputs.seed, prompt["2"]?.inputs.filename_prefix].map(String));
    return { sentAs };
  }
  /** Shown below the seed and below the file name. */
  const readNotes = () => screen.getAllByText(/^Next run uses: /).map(({ textContent }) => textContent?.replace("Next run uses: ", ""));
  const later = () => vi.setSystemTime(new Date(2026, 2, 5, 7, 10, 11));

  it("sends the seed and time shown at the press", async () => {
    const { sentAs } = await open("%Sampler.seed%-%date:hhmmss%");
    const before = readNotes();
    expect(before[1]).toBe(`${before[0]}-070809`);
    // Time advances, but the page has not updated yet.
    later();
    pressRun();
    await screen.findByRole("link", { name: "Open job job-1" });
    expect(sentAs()).toEqual([before]);
    expect(field("seed").value).toBe(before[0]);
    const next = readNotes();
    expect(next[0]).not.toBe(before[0]);
    pressRun();
    await screen.findByRole("link", { name: "Open job job-2" });
    expect(sentAs()[1]).toEqual(next);
  });

  it("updates the shown time", async () => {
    await open("%date:hh:mm:ss%");
    expect(readNotes()[1]).toBe("07:08:09");
    await act(() => vi.advanceTimersByTimeAsync(2_000));
    expect(readNotes()[1]).toBe("07:08:11");
  });

  it.each([
    ["steps", { From: "20", to: "21", "in steps of": "1" }],
    ["seed", { "Number of copies": "2" }],
  ])("sends the seed and time shown for each copy of %s", async (varied, typed) => {
    const { sentAs } = await open("%Sampler.seed%-%date:hhmmss%");
    fireEvent.click(screen.getAllByRole("button", { name: "Copies" })[0] ?? document.body);
    const dialog = await screen.findByRole("dialog");
    fireEvent.change(within(dialog).getByLabelText("Input"), {
      target: { value: within(dialog).getByRole<HTMLOptionElement>("option", { name: new RegExp(`^${varied} `) }).value },
    });
    for (const [label, value] of Object.entries(typed)) fireEvent.change(within(dialog).getByLabelText(label), { target: { value } });
    const filled = within(dialog)
      .getAllByText(/^#2 filename_prefix: /)
      .map(({ textContent }) => textContent?.replace("#2 filename_prefix: ", ""));
    expect(new Set(filled).size).toBe(2);
    later();
    fireEvent.click(within(dialog).getByRole("button", { name: "Run 2 copies" }));
    await screen.findByText("2 in the queue");
    expect(sentAs().map(([, prefix]) => prefix)).toEqual(filled);
    for (const [seed, prefix] of sentAs()) expect(prefix).toBe(`${seed}-070809`);
  });
});
