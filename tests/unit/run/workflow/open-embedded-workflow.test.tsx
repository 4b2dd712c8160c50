// Opening files with embedded workflows: format choice, missing classes and other connections.
import { readFileSync } from "node:fs";
import { act, cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { type RunApi } from "@/components/run/run-actions";
import { RunScreen } from "@/components/run/run-screen";
import { createRunStore } from "@/components/run/run-store";
import { type RunSource } from "@/components/run/workflow/run-sources";
import { assetSchema } from "@/lib/contract/schemas/asset";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { failed, ok } from "@/lib/shared/result";
import { renderPage, wrapInProviders } from "../render";
import { createAcceptingApi, createByteSource, dropFile, getField, getRunButton, openText, pressRun } from "../run-page";

const readPairFile = (name: string) => readFileSync(`tests/fixtures/editor-pairs/${name}`, "utf8");
const catalogue = JSON.parse(readPairFile("object-info.json"));
const readCarrierFile = (name: string) => readFileSync(`tests/fixtures/carriers/${name}`);
const readCatalogue = async () => ok(objectInfoSchema.parse(catalogue));

/** The missing classes of each connection. Undefined means unresponsive. */
let missingClasses: Record<string, string[] | undefined> = {};
beforeEach(() => {
  vi.stubGlobal("fetch", async (path: string) => {
    const { pathname, searchParams } = new URL(path, "http://desk");
    if (pathname === "/api/object_info") return Response.json(catalogue);
    const missingNames = missingClasses[searchParams.get("connection") ?? ""];
    if (pathname !== "/api/console/lacking-classes" || !missingNames) return Response.json({ code: "UPSTREAM_TIMEOUT" }, { status: 504 });
    return Response.json({ lacking: searchParams.getAll("names").filter((name) => missingNames.includes(name)) });
  });
});

const connections = ["Here", "Studio", "Lab", "Attic"].map((name) => ({ id: name.toLowerCase(), name, embedded: false }));

function openPage(overrides: Partial<RunApi> = {}, source?: RunSource) {
  if (source) window.history.replaceState(null, "", "/run?job=x");
  const { submissions, api } = createAcceptingApi({ readCatalogue, ...overrides });
  const page = (currentId: string) => (
    <ConnectionProvider currentId={currentId} connections={connections}>
      <RunScreen canRun memberId="ada" store={store} source={source} api={api} />
    </ConnectionProvider>
  );
  const store = createRunStore();
  const { rerender } = renderPage(page("here"));
  return { submissions, store, switchTo: (connection: string) => rerender(wrapInProviders(page(connection))) };
}
const dropBothFlac = () => dropFile("both.flac", readCarrierFile("both.flac"), "audio/flac");
const findFormatDialog = () => screen.findByRole("dialog", { name: /contains two workflows/ });
const chooseFormat = async (name: RegExp) => fireEvent.click(within(await findFormatDialog()).getByRole("button", { name }));

it("asks for a file's format once and submits the shown workflow", async () => {
  const { submissions } = openPage();
  await dropBothFlac();
  const dialog = await findFormatDialog();
  expect(await within(dialog).findByText("EmptyImage #1, width: 48 when executed, 64 in the editor")).toBeTruthy();
  await chooseFormat(/^Editor workflow/);
  await waitFor(() => expect(getField("width").value).toBe("64"));
  pressRun();
  await waitFor(() => expect(submissions).toMatchObject([{ prompt: { "1": { inputs: { width: 64 } } } }]));
  // The choice is remembered for the same file.
  await dropBothFlac();
  await waitFor(() => expect(screen.getByText(/The editor workflow is open/)).toBeTruthy());
  expect(screen.queryByRole("dialog", { name: /contains two workflows/ })).toBeNull();
  fireEvent.click(screen.getByRole("button", { name: "Open executed workflow" }));
  await waitFor(() => expect(getField("width").value).toBe("48"));
  // A different file with both formats.
  await dropFile("both.mp4", Buffer.concat([readCarrierFile("both.mp4"), Buffer.alloc(8)]), "video/mp4");
  fireEvent.click(screen.getByRole("button", { name: "Open editor workflow" }));
  await waitFor(() => expect(getField("width").value).toBe("64"));
});

it("offers the other format after a reload", async () => {
  openPage();
  await dropBothFlac();
  await chooseFormat(/^Editor workflow/);
  await screen.findByText(/The editor workflow is open/);
  window.dispatchEvent(new Event("pagehide"));
  cleanup();
  openPage();
  expect(await screen.findByText(/The editor workflow is open/)).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "Open executed workflow" }));
  await waitFor(() => expect(getField("width").value).toBe("48"));
});

it("explains an unreadable editor workflow in the dialog", async () => {
  openPage({ readCatalogue: async () => failed({ code: "UPSTREAM_TIMEOUT", message: "", status: 504 }) });
  await dropBothFlac();
  expect(await within(await findFormatDialog()).findByText(/Couldn't load the service's node list/)).toBeTruthy();
});

it("keeps typed and saved values when reloaded on another connection", async () => {
  const { store, switchTo } = openPage();
  await dropFile("one.json", readPairFile("01-basic-image.editor.json"));
  await waitFor(() => expect(store.get().openWorkflow?.readFor).toBe("here"));
  fireEvent.change(getField("width"), { target: { value: "72" } });
  fireEvent.blur(getField("width"));
  const { openWorkflow } = store.get();
  act(() => store.markStored(openWorkflow?.serial ?? 0, "workflows/one.json", openWorkflow?.graph ?? {}));
  switchTo("studio");
  await waitFor(() => expect(store.get().openWorkflow?.readFor).toBe("studio"));
  expect(getField("width").value).toBe("72");
});

it("keeps edits made while another connection's node list loads", async () => {
  let releaseCatalogue: () => void = () => undefined;
  const catalogueGate = new Promise<void>((resolve) => (releaseCatalogue = resolve));
  let readCount = 0;
  const { store, switchTo } = openPage({
    readCatalogue: async () => {
      readCount += 1;
      if (readCount > 1) await catalogueGate;
      return readCatalogue();
    },
  });
  await dropFile("one.json", readPairFile("01-basic-image.editor.json"));
  await waitFor(() => expect(store.get().openWorkflow?.readFor).toBe("here"));
  switchTo("studio");
  await waitFor(() => expect(readCount).toBe(2));
  fireEvent.change(getField("width"), { target: { value: "72" } });
  fireEvent.change(getField("extra_data"), { target: { value: '{"a":1}' } });
  await act(async () => releaseCatalogue());
  await waitFor(() => expect(store.get().incoming).toBeUndefined());
  expect([getField("width").value, getField("extra_data").value]).toEqual(["72", '{"a":1}']);
  // Switches again with only extra data edited.
  act(() => store.markStored(store.get().openWorkflow?.serial ?? 0, "workflows/one.json", store.get().openWorkflow?.graph ?? {}));
  switchTo("lab");
  await act(async () => undefined);
  expect([readCount, getField("extra_data").value]).toEqual([2, '{"a":1}']);
});

it("keeps the open workflow when the dialog is closed without a choice", async () => {
  openPage();
  await openText('{"1":{"class_type":"EmptyImage","inputs":{"width":7,"height":7,"batch_size":1,"color":0}}}');
  await dropFile("both.webm", readCarrierFile("both.webm"), "video/webm");
  fireEvent.click(within(await findFormatDialog()).getByRole("button", { name: "Cancel" }));
  expect(getField("width").value).toBe("7");
  await dropFile("both.webm", readCarrierFile("both.webm"), "video/webm");
  expect(await findFormatDialog()).toBeTruthy();
});

it.each<[string, RunSource, Partial<RunApi>]>([
  ["a stored file", { file: "out/both.opus" }, { readStored: async () => ok(createByteSource(readCarrierFile("both.opus"))) }],
  [
    "an asset",
    { carrier: "a" },
    {
      readAsset: async () => ok(assetSchema.parse({ id: "a", name: "both.mp3", mime_type: "audio/mpeg", tags: ["output"] })),
      readFile: async () => ok(createByteSource(readCarrierFile("both.mp3"))),
    },
  ],
  ["a past job", { job: "j" }, { readJob: async () => ok({ id: "j", status: "completed", workflow: readJobWorkflow() }) }],
])("prompts for the format of %s", async (_, source, overrides) => {
  openPage(overrides, source);
  await chooseFormat(/^Executed workflow/);
  await waitFor(() => expect(getField("width").value).toBe("48"));
});

const readJobWorkflow = () => ({
  prompt: { "1": { class_type: "EmptyImage", inputs: { width: 48 } } },
  extra_data: { extra_pnginfo: { workflow: JSON.parse(readPairFile("01-basic-image.editor.json")) } },
});

it.each([
  ["photo.jpg", new Uint8Array([255, 216, 255, 217]), "image/jpeg", /This image contains no workflow/],
  ["film.mp4", readCarrierFile("both.mp4").subarray(0, 600), "video/mp4", /damaged or incomplete/],
  ["sound.wav", new Uint8Array([82, 73, 70, 70]), "audio/wav", /This file contains no workflow/],
])("rejects %s with the reason", async (name, bytes, type, sentence) => {
  openPage();
  await dropFile(name, bytes, type);
  expect((await screen.findByRole("alert")).textContent).toMatch(sentence);
});

it("opens a file with missing classes read-only and lists packs and services", async () => {
  missingClasses = { studio: [], lab: ["SharpenDeluxe"], attic: undefined };
  const { submissions } = openPage();
  await dropFile("missing.json", readPairFile("13-missing-class.editor.json"));
  const missingList = await screen.findByRole("list", { name: "Missing nodes" });
  expect(missingList.textContent).toBe("SharpenDeluxe one node · from sharpen-pack");
  expect((await screen.findByRole("link", { name: "Studio" })).getAttribute("href")).toBe("/run?connection=studio");
  expect(screen.queryByRole("link", { name: "Lab" })).toBeNull();
  expect(screen.queryByText(/None of/)).toBeNull();
  expect(screen.getByText("No response from: Attic")).toBeTruthy();
  const inputs = screen.getByRole("group", { name: "Inputs, read-only" });
  expect(inputs.matches(":disabled")).toBe(true);
  // Values of an unknown class are shown as stored in the file.
  const { nodes } = JSON.parse(readPairFile("13-missing-class.editor.json"));
  const node = nodes.find(({ type }: { type: string }) => type === "SharpenDeluxe");
  const valuesElement = within(inputs).getByText("Values in the file").closest("[data-node-id]");
  expect(valuesElement?.textContent).toContain(JSON.stringify(node.widgets_values));
  pressRun();
  expect([getRunButton().getAttribute("aria-disabled"), submissions.length]).toEqual(["true", 0]);
});

it("lists missing classes with their packs, and replaced nodes", async () => {
  const createNode = (id: number, type: string, overrides: object = {}) => ({ id, type, inputs: [], outputs: [], ...overrides });
  const groupedNode = { type: "Unheard", inputs: [], outputs: [], properties: { cnr_id: "grouped-pack" } };
  const createLoader = (id: number, type: string, link: number, overrides = {}) =>
    createNode(id, type, { inputs: [{ name: "image", link }], ...overrides });
  openPage();
  await openText(
    JSON.stringify({
      nodes: [
        createNode(4, "workflow>Parts"),
        createLoader(1, "SetNode", 1, { widgets_values: ["mask"] }),
        createNode(2, "GetNode", { widgets_values: ["mask"] }),
        createLoader(3, "PreviewImage", 2),
        createNode(5, "Label (rgthree)", { title: "Step 1" }),
      ],
      links: [
        [1, 4, 0, 1, 0, "IMAGE"],
        [2, 2, 0, 3, 0, "IMAGE"],
      ],
      extra: { groupNodes: { Parts: { nodes: [{ ...groupedNode, outputs: [{ name: "a", type: "IMAGE" }] }], links: [] } } },
    }),
  );
  const missingList = await screen.findByRole("list", { name: "Missing nodes" });
  const items = within(missingList).getAllByRole("listitem");
  expect(items.map(({ textContent }) => textContent)).toEqual(["Unheard one node · from grouped-pack"]);
  const summary = screen.getByText("Replaced one Get node with the input of the Set node of the same name. Left out one editor-only node.");
  fireEvent.click(summary);
  expect(screen.getByText("#2 Get mask: replaced")).toBeTruthy();
  expect(screen.getByText("#5 Label (rgthree) Step 1: left out")).toBeTruthy();
});

it("reloads the file on a connection that has the classes", async () => {
  missingClasses = { studio: [] };
  const required = { image: ["IMAGE"], amount: ["FLOAT", {}], how: [["weak", "strong"], {}], edges: ["BOOLEAN", {}] };
  const SharpenDeluxe = { input: { required }, output: ["IMAGE"], display_name: "Sharpen Deluxe" };
  let hasClass = false;
  const { switchTo } = openPage({
    readCatalogue: async () => ok(objectInfoSchema.parse(hasClass ? { ...catalogue, SharpenDeluxe } : catalogue)),
  });
  await dropFile("missing.json", readPairFile("13-missing-class.editor.json"));
  await screen.findByRole("link", { name: "Studio" });
  expect(screen.queryByRole("textbox", { name: "amount" })).toBeNull();
  hasClass = true;
  switchTo("studio");
  expect(await screen.findByRole("textbox", { name: "amount" })).toBeTruthy();
});

it("suggests the nearest value for an unavailable one", async () => {
  const { submissions } = openPage();
  const scale = { image: ["1", 0], upscale_method: "bicubik", width: 8, height: 8, crop: "disabled" };
  const graph = {
    "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 0 } },
    "2": { class_type: "ImageScale", inputs: scale },
    "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "x" } },
  };
  await openText(JSON.stringify(graph));
  fireEvent.click(await screen.findByRole("button", { name: "Use bicubic" }));
  expect(screen.queryByRole("button", { name: "Use bicubic" })).toBeNull();
  pressRun();
  await waitFor(() => expect(submissions).toMatchObject([{ prompt: { "2": { inputs: { upscale_method: "bicubic" } } } }]));
});
