// Editor files on the Run page: displayed, submitted and saved values.
import { readFileSync } from "node:fs";
import { fireEvent, renderHook, screen, waitFor, within } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { readCatalogue as readServiceCatalogue, useCatalogue } from "@/components/run/workflow/catalogue";
import { toApiWorkflow } from "@/lib/contract/editor-workflow";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { failed, ok } from "@/lib/shared/result";
import { toComparable } from "@/tests/unit/contract/editor-workflow/to-comparable";
import { runCopies } from "../copies/copies-page";
import { createAcceptingApi, createApi, dropFile, pressRun, reloadPage, showRunPage, stubNodeList } from "../run-page";

const readFixture = (name: string) => readFileSync(`tests/fixtures/editor-pairs/${name}`, "utf8");
const info = objectInfoSchema.parse(JSON.parse(readFixture("object-info.json")));
const readCatalogue = async () => ok(info);

/** Records the path and content of every file that the page saves. */
function recordSavedFiles() {
  const savedFiles: { path: string; text: string }[] = [];
  vi.stubGlobal("fetch", async (path: string, init: RequestInit = {}) => {
    if (path.startsWith("/api/object_info")) return Response.json(info);
    if (!path.startsWith("/api/userdata/")) return Response.json({ code: "NOT_FOUND" }, { status: 404 });
    savedFiles.push({ path, text: String(init.body) });
    return Response.json({ path: "x" });
  });
  return savedFiles;
}
const press = (name: string, index = 0) => fireEvent.click(screen.getAllByRole("button", { name })[index] ?? document.body);
async function openDroppedFile(name: string, content: string) {
  await dropFile(name, content);
  await screen.findAllByRole("button", { name: "Run" });
}
/** Saves in the open dialog. */
async function save() {
  press("Save", 1);
  await waitFor(() => expect(screen.queryByRole("textbox", { name: "Name" })).toBeNull());
}
const typeText = (name: string, value: string, index = 0) => {
  const input = screen.getAllByRole("textbox", { name })[index] ?? document.body;
  fireEvent.change(input, { target: { value } });
  fireEvent.blur(input);
};

test("opens a dropped file and submits its graph and editor workflow", async () => {
  const { submissions, api } = createAcceptingApi({ readCatalogue });
  showRunPage(api);
  await openDroppedFile("two.json", readFixture("20-subgraph-linked-widget.editor.json"));
  expect(screen.getAllByRole("textbox", { name: "width" }).map((field) => field.getAttribute("value"))).toEqual(["21", "55"]);
  pressRun();
  await waitFor(() => expect(submissions).toHaveLength(1));
  const [body] = submissions;
  expect(toComparable(body?.prompt, info)).toEqual(toComparable(JSON.parse(readFixture("20-subgraph-linked-widget.api.json")), info));
  expect(body?.extra_data).toMatchObject({ extra_pnginfo: { workflow: { id: "a44465e7-edb3-4671-b9aa-dbc89af122ee", version: 0.4 } } });
});

test("shows a file's conversion notices by node, also after a reload", async () => {
  recordSavedFiles();
  showRunPage(createApi(undefined, { readCatalogue }));
  await dropFile("old.json", readFixture("06-bypass-no-match.editor.json"));
  const findNotice = async () => within(await screen.findByRole("region", { name: /Opened from the editor's format/ }));
  expect((await findNotice()).getByText(/bypassed node before \w+ has no value to pass on/)).toBeTruthy();
  reloadPage(createApi(undefined, { readCatalogue }));
  expect((await findNotice()).getByText(/bypassed node before \w+ has no value to pass on/)).toBeTruthy();
});

test("saves typed values to the editor file and submits them", async () => {
  const files = recordSavedFiles();
  const { submissions, api } = createAcceptingApi({ readCatalogue });
  showRunPage(api);
  await openDroppedFile("two.json", readFixture("20-subgraph-linked-widget.editor.json"));
  typeText("width", "77", 1);
  pressRun();
  await screen.findByRole("link", { name: "Open job job-1" });
  press("Save");
  expect((await screen.findByRole("radio", { name: /^Editor file/ })).matches(":checked")).toBe(true);
  await save();
  const [file] = files;
  const [body] = submissions;
  expect(file?.path).toContain(encodeURIComponent("workflows/two.json"));
  const expectedFile = JSON.parse(readFixture("20-subgraph-linked-widget.editor.json"));
  expectedFile.definitions.subgraphs[0].nodes[1].widgets_values[1] = 77;
  expect(JSON.parse(file?.text ?? "")).toEqual(expectedFile);
  expect(toComparable(toApiWorkflow(file?.text, info).graph, info)).toEqual(toComparable(body?.prompt, info));
  expect(body?.extra_data).toMatchObject({ extra_pnginfo: { workflow: { definitions: expectedFile.definitions } } });
});

test("saves an API graph as an API graph or an editor file", async () => {
  const files = recordSavedFiles();
  showRunPage(createApi(undefined, { readCatalogue }));
  await openDroppedFile("plain.json", readFixture("01-basic-image.api.json"));
  press("Save");
  expect((await screen.findByRole("radio", { name: /^API graph/ })).matches(":checked")).toBe(true);
  fireEvent.click(screen.getByRole("radio", { name: /^Editor file/ }));
  await save();
  expect(files[0]?.path).toContain(encodeURIComponent("workflows/plain.json"));
  const { graph } = toApiWorkflow(files[0]?.text, info);
  expect(toComparable(graph, info)).toEqual(toComparable(JSON.parse(readFixture("01-basic-image.api.json")), info));
});

const readEditorWorkflow = () => JSON.parse(readFixture("01-basic-image.editor.json"));
const readApiGraph = () => JSON.parse(readFixture("01-basic-image.api.json"));
async function openExecutedWorkflow(prompt: object) {
  await dropFile("two.json", JSON.stringify({ prompt, extra_data: { extra_pnginfo: { workflow: readEditorWorkflow() } } }));
  fireEvent.click(await screen.findByRole("button", { name: /^Executed workflow/ }));
  await screen.findByText(/The executed workflow is open/);
  press("Save");
  fireEvent.click(await screen.findByRole("radio", { name: /^Editor file/ }));
}

test("saves a run to its editor workflow", async () => {
  recordSavedFiles();
  showRunPage(createApi(undefined, { readCatalogue }));
  await openExecutedWorkflow({ ...readApiGraph(), "1": { ...readApiGraph()["1"], inputs: { ...readApiGraph()["1"].inputs, width: 7 } } });
  expect(await screen.findByText(/unchanged except for the values you edited/)).toBeTruthy();
});

test("neither saves nor submits the editor workflow of a different graph", async () => {
  recordSavedFiles();
  const { submissions, api } = createAcceptingApi({ readCatalogue });
  showRunPage(api);
  await openExecutedWorkflow({ ...readApiGraph(), "99": { class_type: "EmptyImage", inputs: {} } });
  expect(await screen.findByText(/with a new layout/)).toBeTruthy();
  press("Cancel");
  pressRun();
  await waitFor(() => expect(submissions).toHaveLength(1));
  // The submission doesn't use that editor workflow's id either.
  expect(submissions[0]?.extra_data).toEqual({ extra_pnginfo: { workflow: { id: expect.any(String), name: "two" } } });
  expect(JSON.stringify(submissions[0]?.extra_data)).not.toContain(readEditorWorkflow().id);
});

test("shows the node list when a retry succeeds", async () => {
  const responses = [Response.json({}, { status: 502 }), Response.json({ SaveImage: {} })];
  stubNodeList(() => responses.shift() ?? Response.json({}, { status: 500 }));
  expect((await readServiceCatalogue("lab")).ok).toBe(false);
  expect((await readServiceCatalogue("lab")).ok).toBe(true);
  const { result } = renderHook(() => useCatalogue("lab"));
  await waitFor(() => expect(result.current.isLoaded).toBe(true));
  expect(result.current).toMatchObject({ info: { SaveImage: {} }, error: undefined });
});

test("writes values to the editor file when copies resume after a reload and an outage", async () => {
  recordSavedFiles();
  const { submissions, api } = createAcceptingApi({ readCatalogue });
  const refuse = async () => failed({ code: "QUEUE_LIMIT", message: "", status: 429 });
  const resume = async () => fireEvent.click(await screen.findByRole("button", { name: "Submit 2 more" }));
  showRunPage({ ...api, sendPrompt: refuse });
  await openDroppedFile("one.json", readFixture("01-basic-image.editor.json"));
  await runCopies(2, "open");
  await screen.findByText("1 refused · 1 not sent");
  const sendPrompt = vi.fn<typeof api.sendPrompt>(refuse);
  const readList = vi.fn<typeof api.readCatalogue>(refuse);
  reloadPage({ ...api, sendPrompt, readCatalogue: readList });
  await resume();
  await waitFor(() => expect(sendPrompt).toHaveBeenCalled());
  sendPrompt.mockImplementation(api.sendPrompt);
  readList.mockImplementation(readCatalogue);
  await resume();
  await screen.findByText("2 in the queue");
  const readWidth = ({ extra_data }: (typeof submissions)[number]) =>
    toApiWorkflow(extra_data.extra_pnginfo.workflow, info).graph["1"]?.inputs.width;
  expect(submissions.map(readWidth)).toEqual([1, 2]);
});
