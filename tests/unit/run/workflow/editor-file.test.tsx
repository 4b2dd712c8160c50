// Editor files on the Run page: displayed and sent values.
import { readFileSync } from "node:fs";
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { toApiWorkflow } from "@/lib/contract/editor-workflow";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { failed, ok } from "@/lib/shared/result";
import { toComparable } from "@/tests/unit/contract/editor-workflow/comparable";
import { createApi, drop, pressRun, show } from "../page";
import { startPromptServer } from "../prompt-server";

const pair = (name: string) => readFileSync(`tests/fixtures/editor-pairs/${name}`, "utf8");
const info = objectInfoSchema.parse(JSON.parse(pair("object-info.json")));
const readCatalogue = async () => ok(info);

/** The content of the files that the page saves, by their addresses. */
function savedFiles() {
  const savedTexts: { path: string; text: string }[] = [];
  const { fetch } = globalThis;
  vi.stubGlobal("fetch", async (path: string | URL, init: RequestInit = {}) => {
    if (typeof path !== "string" || !path.startsWith("/")) return fetch(path, init);
    if (path.startsWith("/api/object_info")) return Response.json(info);
    if (!path.startsWith("/api/userdata/")) return Response.json({ code: "NOT_FOUND" }, { status: 404 });
    savedTexts.push({ path, text: String(init.body) });
    return Response.json({ path: "x" });
  });
  return savedTexts;
}
const press = (name: string, at = 0) => fireEvent.click(screen.getAllByRole("button", { name })[at] ?? document.body);
const type = (name: string, value: string, at = 0) => {
  const input = screen.getAllByRole("textbox", { name })[at] ?? document.body;
  fireEvent.change(input, { target: { value } });
  fireEvent.blur(input);
};

test("opens a dropped file and sends the editor's own graph and drawing", async () => {
  const service = await startPromptServer();
  show(createApi(service, { readCatalogue }));
  await drop("two.json", pair("20-subgraph-linked-widget.editor.json"));
  await screen.findAllByRole("button", { name: "Run" });
  expect(screen.getAllByRole("textbox", { name: "width" }).map((field) => field.getAttribute("value"))).toEqual(["21", "55"]);
  pressRun();
  await waitFor(() => expect(service.submissions).toHaveLength(1));
  const [body] = service.submissions;
  expect(toComparable(body?.prompt, info)).toEqual(toComparable(JSON.parse(pair("20-subgraph-linked-widget.api.json")), info));
  expect(body?.extra_data).toMatchObject({ extra_pnginfo: { workflow: { id: "a44465e7-edb3-4671-b9aa-dbc89af122ee", version: 0.4 } } });
  service.respond({ status: 200, body: { prompt_id: "11111111-1111-4111-8111-111111111111", number: 1, node_errors: {} } });
});

test("shows a file's oddities by node, also after a reload", async () => {
  savedFiles();
  show(createApi(undefined, { readCatalogue }));
  await drop("old.json", pair("06-bypass-no-match.editor.json"));
  const note = async () => within(await screen.findByRole("region", { name: /Opened from the editor's format/ }));
  expect((await note()).getByText(/bypassed node before \w+ has no value to pass on/)).toBeTruthy();
  window.dispatchEvent(new Event("pagehide"));
  cleanup();
  show(createApi(undefined, { readCatalogue }));
  expect((await note()).getByText(/bypassed node before \w+ has no value to pass on/)).toBeTruthy();
});

test("refuses a file without the node list and keeps the open one", async () => {
  show(createApi(undefined, { readCatalogue: async () => failed({ code: "UPSTREAM_TIMEOUT", message: "", status: 504 }) }));
  await drop("one.json", pair("01-basic-image.editor.json"));
  expect(await screen.findByText(/Couldn't load the service's node list/)).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "Dismiss" }));
});

test("saves typed values into the editor file and sends them", async () => {
  const files = savedFiles();
  const service = await startPromptServer();
  show(createApi(service, { readCatalogue }));
  await drop("two.json", pair("20-subgraph-linked-widget.editor.json"));
  await screen.findAllByRole("button", { name: "Run" });
  type("width", "77", 1);
  pressRun();
  await waitFor(() => expect(service.submissions).toHaveLength(1));
  const [body] = service.submissions;
  service.respond({ status: 200, body: { prompt_id: "11111111-1111-4111-8111-111111111111", number: 1, node_errors: {} } });
  press("Save");
  expect((await screen.findByRole("radio", { name: /^Editor file/ })).matches(":checked")).toBe(true);
  press("Save", 1);
  await waitFor(() => expect(screen.queryByRole("textbox", { name: "Name" })).toBeNull());
  expect(files[0]?.path).toContain(encodeURIComponent("workflows/two.json"));
  const [file] = files;
  const before = JSON.parse(pair("20-subgraph-linked-widget.editor.json"));
  before.definitions.subgraphs[0].nodes[1].widgets_values[1] = 77;
  expect(JSON.parse(file?.text ?? "")).toEqual(before);
  expect(toComparable(toApiWorkflow(file?.text, info).graph, info)).toEqual(toComparable(body?.prompt, info));
  expect(body?.extra_data).toMatchObject({ extra_pnginfo: { workflow: { definitions: before.definitions } } });
});

test("saves an API graph as such or as an editor file", async () => {
  const files = savedFiles();
  show(createApi(undefined, { readCatalogue }));
  await drop("plain.json", pair("01-basic-image.api.json"));
  await screen.findAllByRole("button", { name: "Run" });
  press("Save");
  expect((await screen.findByRole("radio", { name: /^API graph/ })).matches(":checked")).toBe(true);
  fireEvent.click(screen.getByRole("radio", { name: /^Editor file/ }));
  press("Save", 1);
  await waitFor(() => expect(screen.queryByRole("textbox", { name: "Name" })).toBeNull());
  expect(files[0]?.path).toContain(encodeURIComponent("workflows/plain.json"));
  const { graph } = toApiWorkflow(files[0]?.text, info);
  expect(toComparable(graph, info)).toEqual(toComparable(JSON.parse(pair("01-basic-image.api.json")), info));
});

const drawing = () => JSON.parse(pair("01-basic-image.editor.json"));
const readPair = () => JSON.parse(pair("01-basic-image.api.json"));
async function openAsRun(prompt: object) {
  await drop("two.json", JSON.stringify({ prompt, extra_data: { extra_pnginfo: { workflow: drawing() } } }));
  fireEvent.click(await screen.findByRole("button", { name: /^Executed workflow/ }));
  await screen.findByText(/The executed workflow is open/);
  press("Save");
  fireEvent.click(await screen.findByRole("radio", { name: /^Editor file/ }));
}

test("saves a run into its drawing", async () => {
  savedFiles();
  show(createApi(undefined, { readCatalogue }));
  await openAsRun({ ...readPair(), "1": { ...readPair()["1"], inputs: { ...readPair()["1"].inputs, width: 7 } } });
  expect(await screen.findByText(/unchanged except for the values you edited/)).toBeTruthy();
});

test("neither saves nor sends a foreign drawing", async () => {
  savedFiles();
  const service = await startPromptServer();
  show(createApi(service, { readCatalogue }));
  await openAsRun({ ...readPair(), "99": { class_type: "EmptyImage", inputs: {} } });
  expect(await screen.findByText(/with a new layout/)).toBeTruthy();
  press("Cancel");
  pressRun();
  await waitFor(() => expect(service.submissions).toHaveLength(1));
  // Its runs do not count as runs of that drawing either.
  expect(service.submissions[0]?.extra_data).toEqual({ extra_pnginfo: { workflow: { id: expect.any(String), name: "two" } } });
  expect(JSON.stringify(service.submissions[0]?.extra_data)).not.toContain(drawing().id);
  service.respond({ status: 200, body: { prompt_id: "11111111-1111-4111-8111-111111111111", number: 1, node_errors: {} } });
});
