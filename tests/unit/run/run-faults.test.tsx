// @vitest-environment jsdom
import { cleanup, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { ok } from "@/lib/shared/result";
import { catalogue, refusals } from "./files";
import { apiTo, drop, field, openText, pressRun, runButton, show } from "./page";

afterEach(() => {
  cleanup();
  sessionStorage.clear();
  vi.unstubAllGlobals();
});

function desk() {
  let sent = 0;
  const ports = apiTo(undefined, { sendPrompt: async () => ok({ prompt_id: `job-${++sent}`, node_errors: {} }) });
  return { ports, sent: () => sent };
}

it("a workflow with a loop opens, names each node of it, and cannot be run by button or key", async () => {
  const { ports, sent } = desk();
  show(ports);
  await openText(JSON.stringify(refusals().cycle?.prompt));
  const note = await screen.findByRole("alert");
  expect(note.textContent).toContain("2 nodes prevent this workflow from running");
  expect(within(note).getAllByText(/This node depends on itself through #\d/)).toHaveLength(2);
  expect(runButton().getAttribute("aria-disabled")).toBe("true");
  expect(document.getElementById(runButton().getAttribute("aria-describedby") ?? "")?.textContent).toContain("prevent this workflow");
  const [copies] = screen.getAllByRole("button", { name: "Copies" });
  expect([copies?.getAttribute("aria-disabled"), copies?.getAttribute("aria-describedby")]).toEqual([
    "true",
    runButton().getAttribute("aria-describedby"),
  ]);
  pressRun();
  fireEvent.keyDown(window, { key: "Enter", ctrlKey: true });
  expect(sent()).toBe(0);
  expect(within(note).queryByRole("button", { name: "Run anyway" })).toBeNull();
  fireEvent.click(within(note).getByRole("button", { name: /^#1/ }));
  expect(document.activeElement?.id).toBe("node-1");
});

it("a link to nothing is shown at its field, and opening another file forgets it", async () => {
  const { ports } = desk();
  show(ports);
  await openText(JSON.stringify(refusals()["dangling-link"]?.prompt));
  expect((await screen.findAllByText("image is connected to node #9, which is not in the workflow.")).length).toBeGreaterThan(1);
  await drop("good.json", JSON.stringify({ "1": { class_type: "SaveImage", inputs: { filename_prefix: "x" } } }));
  expect(await screen.findByText("good")).toBeTruthy();
  expect(screen.queryByRole("alert")).toBeNull();
});

it("a class that the service's list lacks blocks too, until somebody who may run and knows better sends it all the same", async () => {
  vi.stubGlobal("fetch", async (path: unknown) =>
    String(path).includes("object_info") ? Response.json(catalogue()) : Response.json({ code: "NOT_FOUND" }, { status: 404 }),
  );
  const { ports, sent } = desk();
  const text = JSON.stringify({
    "1": { class_type: "KSamplerDeluxe", inputs: { steps: 5 } },
    "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "x" } },
  });
  const viewer = show(ports, false);
  await openText(text);
  await screen.findByText(/prevents this workflow from running/);
  expect(screen.queryByRole("button", { name: "Run anyway" })).toBeNull();
  viewer.unmount();
  sessionStorage.clear();
  show(ports);
  await openText(text);
  const anyway = await screen.findByRole("button", { name: "Run anyway" });
  pressRun();
  expect(sent()).toBe(0);
  fireEvent.click(anyway);
  expect(await screen.findByRole("link", { name: "Open job job-1" })).toBeTruthy();
});

it("a list of nodes that could not be read is read again by a press, and what was typed stays", async () => {
  let isBroken = true;
  vi.stubGlobal("fetch", async (path: unknown) => {
    if (!String(path).includes("object_info")) return Response.json({ code: "NOT_FOUND" }, { status: 404 });
    return isBroken ? Response.json({ code: "UPSTREAM_UNREACHABLE", message: "" }, { status: 502 }) : Response.json(catalogue());
  });
  const { ports } = desk();
  show(ports);
  await openText(JSON.stringify({ "1": { class_type: "EmptyImage", inputs: { width: 64, height: 64, batch_size: 1, color: 0 } } }));
  fireEvent.change(field("width"), { target: { value: "72" } });
  const again = await screen.findByRole("button", { name: "Load the list again" });
  isBroken = false;
  fireEvent.click(again);
  expect(await screen.findByText("1 to 4096")).toBeTruthy();
  expect(field("width").value).toBe("72");
  expect(screen.queryByRole("button", { name: "Load the list again" })).toBeNull();
});
