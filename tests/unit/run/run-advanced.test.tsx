// @vitest-environment jsdom
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it } from "vitest";
import { mergedExtra, readExtra } from "@/components/run/workflow/workflow-contents";
import { until } from "@/tests/support/until";
import { sampleText } from "./files";
import { apiTo, openText, pressRun, type PromptServer, show } from "./page";
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

const answered = () => until("an answer is asked for", () => service.answer({ status: 200, body: { prompt_id: "a" } }));
const extraField = () => screen.getByRole<HTMLTextAreaElement>("textbox", { name: "extra_data" });

it("extra_data travels with the run, and is kept nowhere", async () => {
  show(apiTo(service));
  await openText(sampleText("01-invert"));
  fireEvent.change(extraField(), { target: { value: '{"api_key_comfy_org": "very-secret", "extra_pnginfo": {"note": 1}}' } });
  pressRun();
  await answered();
  await screen.findByRole("link", { name: "Open job a" });
  expect(service.received[0]?.extra_data).toMatchObject({
    api_key_comfy_org: "very-secret",
    extra_pnginfo: { note: 1, workflow: { name: "Pasted workflow" } },
  });
  window.dispatchEvent(new Event("pagehide"));
  expect(JSON.stringify({ ...sessionStorage }) + JSON.stringify({ ...localStorage })).not.toContain("very-secret");
});

it("extra_data that is none is reported at its field, and nothing is sent", async () => {
  show(apiTo(service));
  await openText(sampleText("01-invert"));
  fireEvent.change(extraField(), { target: { value: "{ no" } });
  expect(screen.getByText("This is not valid JSON.")).toBeTruthy();
  pressRun();
  expect(document.activeElement).toBe(extraField());
  expect(service.received).toHaveLength(0);
});

it("only the chosen outputs are run; all of them is a run without targets", async () => {
  show(apiTo(service));
  const save = (images: unknown) => ({ class_type: "SaveImage", inputs: { images } });
  const source = { class_type: "EmptyImage", inputs: { width: 8 } };
  await openText(JSON.stringify({ "1": source, "2": save(["1", 0]), "3": save(["1", 0]) }));
  const boxes = screen.getAllByRole<HTMLInputElement>("checkbox", { name: /#/, hidden: true });
  expect(boxes).toHaveLength(2);
  for (const box of boxes) fireEvent.click(box);
  expect(screen.getByText("Select at least one output.")).toBeTruthy();
  pressRun();
  expect(service.received).toHaveLength(0);
  const [first] = boxes;
  if (first) fireEvent.click(first);
  pressRun();
  await answered();
  expect(service.received[0]?.partial_execution_targets).toEqual(["2"]);
});

it("a press with Shift takes or leaves every output from the one before to this one", async () => {
  show(apiTo(service));
  const saves = ["2", "3", "4", "5", "6"].map((id) => [id, { class_type: "SaveImage", inputs: { images: ["1", 0] } }]);
  await openText(JSON.stringify({ "1": { class_type: "EmptyImage", inputs: { width: 8 } }, ...Object.fromEntries(saves) }));
  const box = (id: string) => screen.getByRole<HTMLInputElement>("checkbox", { name: `SaveImage #${id}`, hidden: true });
  fireEvent.click(box("5"));
  fireEvent.click(box("3"), { shiftKey: true });
  expect(saves.map(([id]) => box(String(id)).checked)).toEqual([true, false, false, false, true]);
  fireEvent.click(box("4"));
  fireEvent.click(box("5"), { shiftKey: true });
  pressRun();
  await answered();
  expect(service.received[0]?.partial_execution_targets).toEqual(["2", "4", "5", "6"]);
});

it("a press with Shift counts from none of the workflow that was open before", async () => {
  show(apiTo(service));
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

it("extra_data is bounded, and merged without losing what the workflow has", () => {
  expect(readExtra("")).toEqual({ ok: true, value: {} });
  expect(readExtra("[1]")).toMatchObject({ why: "no_object" });
  expect(readExtra(`"${"x".repeat(100_001)}"`)).toMatchObject({ why: "too_large" });
  expect(readExtra(`{"a":${"[".repeat(60)}${"]".repeat(60)}}`)).toMatchObject({ why: "too_deep" });
  expect(mergedExtra({ a: 1, extra_pnginfo: { workflow: { id: "x" } } }, { b: 2, extra_pnginfo: { note: 3 } })).toEqual({
    a: 1,
    b: 2,
    extra_pnginfo: { workflow: { id: "x" }, note: 3 },
  });
});
