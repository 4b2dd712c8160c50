// Files with a workflow on the Run page: format choice, missing classes and other connections.
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
import { createApi, createByteSource, drop, field, openText, pressRun, runButton } from "../page";
import { inPage, renderPage } from "../render";

const pair = (name: string) => readFileSync(`tests/fixtures/editor-pairs/${name}`, "utf8");
const catalogue = JSON.parse(pair("object-info.json"));
const carrier = (name: string) => readFileSync(`tests/fixtures/carriers/${name}`);
const readCatalogue = async () => ok(objectInfoSchema.parse(catalogue));

/** The classes that each connection lacks; undefined: unresponsive. */
let lacking: Record<string, string[] | undefined> = {};
beforeEach(() => {
  vi.stubGlobal("fetch", async (path: string) => {
    const { pathname, searchParams } = new URL(path, "http://desk");
    if (pathname === "/api/object_info") return Response.json(catalogue);
    const lacks = lacking[searchParams.get("connection") ?? ""];
    if (pathname !== "/api/console/lacking-classes" || !lacks) return Response.json({ code: "UPSTREAM_TIMEOUT" }, { status: 504 });
    return Response.json({ lacking: searchParams.getAll("names").filter((name) => lacks.includes(name)) });
  });
});

const connections = ["Here", "Studio", "Lab", "Attic"].map((name) => ({ id: name.toLowerCase(), name, embedded: false }));

function open(ports: Partial<RunApi> = {}, source?: RunSource) {
  const bodies: unknown[] = [];
  const sendPrompt: RunApi["sendPrompt"] = async (submission) => {
    bodies.push(submission);
    return ok({ prompt_id: "job-1", node_errors: {} });
  };
  if (source) window.history.replaceState(null, "", "/run?job=x");
  const all = createApi(undefined, { readCatalogue, sendPrompt, ...ports });
  const page = (currentId: string) => (
    <ConnectionProvider currentId={currentId} connections={connections}>
      <RunScreen canRun memberId="ada" store={store} source={source} api={all} />
    </ConnectionProvider>
  );
  const store = createRunStore();
  const { rerender } = renderPage(page("here"));
  return { sent: bodies, store, switchTo: (connection: string) => rerender(inPage(page(connection))) };
}
const question = () => screen.findByRole("dialog", { name: /contains two workflows/ });
const choose = async (name: RegExp) => fireEvent.click(within(await question()).getByRole("button", { name }));

it("asks once for audio with both formats and sends the shown one", async () => {
  const { sent } = open();
  await drop("both.flac", carrier("both.flac"), "audio/flac");
  const dialog = await question();
  expect(await within(dialog).findByText("EmptyImage #1, width: 48 when executed, 64 in the editor")).toBeTruthy();
  await choose(/^Editor workflow/);
  await waitFor(() => expect(field("width").value).toBe("64"));
  pressRun();
  await waitFor(() => expect(sent).toMatchObject([{ prompt: { "1": { inputs: { width: 64 } } } }]));
  // The same file again: the choice is remembered.
  await drop("both.flac", carrier("both.flac"), "audio/flac");
  await waitFor(() => expect(screen.getByText(/The editor workflow is open/)).toBeTruthy());
  expect(screen.queryByRole("dialog", { name: /contains two workflows/ })).toBeNull();
  fireEvent.click(screen.getByRole("button", { name: "Open executed workflow" }));
  await waitFor(() => expect(field("width").value).toBe("48"));
  // Another file: the page asks again, and closing the dialog opens nothing.
  await drop("both.mp4", Buffer.concat([carrier("both.mp4"), Buffer.alloc(8)]), "video/mp4");
  fireEvent.click(screen.getByRole("button", { name: "Open editor workflow" }));
  await waitFor(() => expect(field("width").value).toBe("64"));
});

it("offers the other format after a reload", async () => {
  open();
  await drop("both.flac", carrier("both.flac"), "audio/flac");
  await choose(/^Editor workflow/);
  await screen.findByText(/The editor workflow is open/);
  window.dispatchEvent(new Event("pagehide"));
  cleanup();
  open();
  expect(await screen.findByText(/The editor workflow is open/)).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "Open executed workflow" }));
  await waitFor(() => expect(field("width").value).toBe("48"));
});

it("explains an unreadable drawing in the question", async () => {
  open({ readCatalogue: async () => failed({ code: "UPSTREAM_TIMEOUT", message: "", status: 504 }) });
  await drop("both.flac", carrier("both.flac"), "audio/flac");
  expect(await within(await question()).findByText(/Couldn't load the service's node list/)).toBeTruthy();
});

it("keeps typed and saved values when reread on another connection", async () => {
  const { store, switchTo } = open();
  await drop("one.json", pair("01-basic-image.editor.json"));
  await waitFor(() => expect(store.get().openWorkflow?.readFor).toBe("here"));
  fireEvent.change(field("width"), { target: { value: "72" } });
  fireEvent.blur(field("width"));
  const { openWorkflow } = store.get();
  act(() => store.setStored(openWorkflow?.serial ?? 0, "workflows/one.json", openWorkflow?.graph ?? {}));
  switchTo("studio");
  await waitFor(() => expect(store.get().openWorkflow?.readFor).toBe("studio"));
  expect(field("width").value).toBe("72");
});

it("keeps the open workflow when closed without a choice", async () => {
  open();
  await openText('{"1":{"class_type":"EmptyImage","inputs":{"width":7,"height":7,"batch_size":1,"color":0}}}');
  await drop("both.webm", carrier("both.webm"), "video/webm");
  fireEvent.click(within(await question()).getByRole("button", { name: "Cancel" }));
  expect(field("width").value).toBe("7");
  await drop("both.webm", carrier("both.webm"), "video/webm");
  expect(await question()).toBeTruthy();
});

it.each<[string, RunSource, Partial<RunApi>]>([
  ["a stored file", { file: "out/both.opus" }, { readStored: async () => ok(createByteSource(carrier("both.opus"))) }],
  [
    "an asset",
    { carrier: "a" },
    {
      readAsset: async () => ok(assetSchema.parse({ id: "a", name: "both.mp3", mime_type: "audio/mpeg", tags: ["output"] })),
      readFile: async () => ok(createByteSource(carrier("both.mp3"))),
    },
  ],
  [
    "a past job",
    { job: "j" },
    {
      readJob: async () =>
        ok({
          id: "j",
          status: "completed",
          workflow: {
            prompt: { "1": { class_type: "EmptyImage", inputs: { width: 48 } } },
            extra_data: { extra_pnginfo: { workflow: JSON.parse(pair("01-basic-image.editor.json")) } },
          },
        }),
    },
  ],
])("%s is opened the same way", async (_, arrival, ports) => {
  open(ports, arrival);
  await choose(/^Executed workflow/);
  await waitFor(() => expect(field("width").value).toBe("48"));
});

it.each([
  ["photo.jpg", new Uint8Array([255, 216, 255, 217]), "image/jpeg", /This picture contains no workflow/],
  ["film.mp4", carrier("both.mp4").subarray(0, 600), "video/mp4", /damaged or incomplete/],
  ["sound.wav", new Uint8Array([82, 73, 70, 70]), "audio/wav", /This file contains no workflow/],
])("%s is refused with the reason", async (name, bytes, type, sentence) => {
  open();
  await drop(name, bytes, type);
  expect((await screen.findByRole("alert")).textContent).toMatch(sentence);
});

it("opens a file with missing classes read-only and names packs and services", async () => {
  lacking = { studio: [], lab: ["SharpenDeluxe"], attic: undefined };
  const { sent } = open();
  await drop("missing.json", pair("13-missing-class.editor.json"));
  const missing = await screen.findByRole("list", { name: "Missing nodes" });
  expect(missing.textContent).toBe("SharpenDeluxe one node · from sharpen-pack");
  expect((await screen.findByRole("link", { name: "Studio" })).getAttribute("href")).toBe("/run?connection=studio");
  expect(screen.queryByRole("link", { name: "Lab" })).toBeNull();
  expect(screen.queryByText(/None of/)).toBeNull();
  expect(screen.getByText("No response from: Attic")).toBeTruthy();
  const inputs = screen.getByRole("group", { name: "Inputs, read-only" });
  expect(inputs.matches(":disabled")).toBe(true);
  // Values for which the class has no names are shown as the file has them.
  const values = JSON.stringify(
    JSON.parse(pair("13-missing-class.editor.json")).nodes.find(({ type }: { type: string }) => type === "SharpenDeluxe").widgets_values,
  );
  expect(within(inputs).getByText("Values in the file").closest("[data-node-id]")?.textContent).toContain(values);
  pressRun();
  expect([runButton().getAttribute("aria-disabled"), sent.length]).toEqual(["true", 0]);
});

it("names missing classes by pack, also in groups, and replacements", async () => {
  const node = (id: number, type: string, overrides: object = {}) => ({ id, type, inputs: [], outputs: [], ...overrides });
  const inGroup = { type: "Unheard", inputs: [], outputs: [], properties: { cnr_id: "grouped-pack" } };
  const createLoader = (id: number, type: string, link: number, overrides = {}) =>
    node(id, type, { inputs: [{ name: "image", link }], ...overrides });
  open();
  await openText(
    JSON.stringify({
      nodes: [
        node(4, "workflow>Parts"),
        createLoader(1, "SetNode", 1, { widgets_values: ["mask"] }),
        node(2, "GetNode", { widgets_values: ["mask"] }),
        createLoader(3, "PreviewImage", 2),
        node(5, "Label (rgthree)", { title: "Step 1" }),
      ],
      links: [
        [1, 4, 0, 1, 0, "IMAGE"],
        [2, 2, 0, 3, 0, "IMAGE"],
      ],
      extra: { groupNodes: { Parts: { nodes: [{ ...inGroup, outputs: [{ name: "a", type: "IMAGE" }] }], links: [] } } },
    }),
  );
  const missing = await screen.findByRole("list", { name: "Missing nodes" });
  const items = within(missing).getAllByRole("listitem");
  expect(items.map(({ textContent }) => textContent)).toEqual(["Unheard one node · from grouped-pack"]);
  const element = screen.getByText("Replaced one Get node with the input of the Set node of the same name. Left out one editor-only node.");
  fireEvent.click(element);
  expect(screen.getByText("#2 Get mask: replaced")).toBeTruthy();
  expect(screen.getByText("#5 Label (rgthree) Step 1: left out")).toBeTruthy();
});

it("rereads the file with its values on a connection that has the classes", async () => {
  lacking = { studio: [] };
  const required = { image: ["IMAGE"], amount: ["FLOAT", {}], how: [["weak", "strong"], {}], edges: ["BOOLEAN", {}] };
  const SharpenDeluxe = { input: { required }, output: ["IMAGE"], display_name: "Sharpen Deluxe" };
  let has = false;
  const { switchTo } = open({ readCatalogue: async () => ok(objectInfoSchema.parse(has ? { ...catalogue, SharpenDeluxe } : catalogue)) });
  await drop("missing.json", pair("13-missing-class.editor.json"));
  await screen.findByRole("link", { name: "Studio" });
  expect(screen.queryByRole("textbox", { name: "amount" })).toBeNull();
  has = true;
  switchTo("studio");
  expect(await screen.findByRole("textbox", { name: "amount" })).toBeTruthy();
});

it("suggests the nearest value for one the service does not offer", async () => {
  const { sent } = open();
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
  await waitFor(() => expect(sent).toMatchObject([{ prompt: { "2": { inputs: { upscale_method: "bicubic" } } } }]));
});
