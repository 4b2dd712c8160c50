import { File } from "node:buffer";
import { readFileSync } from "node:fs";
import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { blake3 } from "hash-wasm";
import { afterEach, describe, expect, it } from "vitest";
import { TabTitle } from "@/components/run/run-split";
import { samplePictures } from "@/components/run/workflow/run-sources";
import { eventually } from "@/tests/support/eventually";
import { renderPage, wrapInProviders } from "./render";
import {
  createAcceptingApi,
  createApi,
  dropFile,
  getDescription,
  getField,
  getRunButton,
  openText,
  pressRun,
  showRunPage,
  showSample,
  stubNodeList,
} from "./run-page";
import { readCatalogueFixture, readRecordedRefusals, readSampleText } from "./workflow-fixtures";

describe("opening a workflow", () => {
  it("loads a sample with its own picture on click", async () => {
    showRunPage(createApi(undefined, { shipsPictures: true }));
    fireEvent.click(screen.getByRole("button", { name: /^Poster from a photo/ }));
    await screen.findByRole("heading", { level: 1, name: /Poster from a photo/ });
    expect(getField("Image name").value).toBe("photo.png");
    fireEvent.focus(getField("Image name"));
    expect(getField("Image name").value).toBe(`${samplePictures["photo.png"]}.png`);
    for (const [name, digest] of Object.entries(samplePictures)) expect(await blake3(readFileSync(`public/samples/${name}`))).toBe(digest);
  });

  it("rejects an unreadable file with the reason and keeps the open workflow", async () => {
    await showSample(createApi(undefined));
    fireEvent.change(getField("width"), { target: { value: "640" } });
    for (const [name, text, reason] of [
      ["broken.json", '{ "1": ', /not valid JSON\. The error is at line 1, column 8/],
      ["list.json", "[1]", /a list/],
      ["photo.png", "", /The file is empty/],
      ["editor.json", '{"nodes": [], "links": []}', /has no nodes/],
      ["ui.json", '{"nodes": [{}], "links": []}', /Couldn't load the service's node list/],
    ] as const) {
      await dropFile(name, text);
      await waitFor(() => expect(screen.getByRole("alert").textContent).toMatch(reason));
      expect(screen.getByRole("alert").textContent).toContain(`${name} was not opened`);
      expect(screen.getByRole("alert").textContent).toContain("The workflow you had open is unchanged.");
    }
    expect(getField("width").value).toBe("640");
  });

  it("offers every workflow source and reports unreadable files on the page", async () => {
    await showSample(createApi(undefined), "05-slow");
    const clickOpen = () => fireEvent.click(screen.getByRole("button", { name: "Open another" }));
    clickOpen();
    const dialog = within(screen.getByRole("dialog", { name: "Open another workflow" }));
    expect(dialog.getByRole("button", { name: "Show saved files" })).toBeTruthy();
    fireEvent.change(dialog.getByRole("textbox", { name: "Or paste its text" }), { target: { value: "[1]" } });
    fireEvent.click(dialog.getByRole("button", { name: "Open pasted text" }));
    expect((await screen.findByRole("alert")).textContent).toContain("The workflow you had open is unchanged.");
    expect(screen.queryByRole("dialog")).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: "Dismiss" }));
    expect(screen.queryByRole("dialog")).toBeNull();
    clickOpen();
    fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
    expect(screen.queryByRole("dialog")).toBeNull();
    clickOpen();
    fireEvent.click(screen.getByRole("button", { name: /^Invert/ }));
    expect(await screen.findByRole("heading", { level: 1, name: /Invert/ })).toBeTruthy();
    expect(screen.queryByRole("dialog")).toBeNull();
    expect(screen.getByRole("button", { name: "Back to Pasted workflow" })).toBeTruthy();
  });

  it("reports duplicate node ids of the file", async () => {
    showRunPage(createApi(undefined));
    await openText('{"5":{"class_type":"EmptyImage","inputs":{}},"5":{"class_type":"EmptyImage","inputs":{"width":64}}}');
    expect(screen.getByText(/uses this node id more than once, and only the last node is used: 5$/)).toBeTruthy();
  });

  it("opens neither several dropped files nor text pasted into a field", async () => {
    await showSample(createApi(undefined));
    const files = ["a.json", "b.json"].map((name) => new File([readSampleText("05-slow")], name, { type: "application/json" }));
    await act(async () => void fireEvent.drop(window, { dataTransfer: { types: ["Files"], files } }));
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("You dropped 2 files, and none was opened");
    expect(alert.textContent).toContain("Only one workflow can be open at a time");
    expect(alert.textContent).not.toContain("pasted");
    fireEvent.paste(getField("width"), { clipboardData: { files: [], getData: () => readSampleText("05-slow") } });
    expect(getField("width").value).toBe("512");
    expect(screen.queryByText("Slow step")).toBeNull();
  });
});

it("opens a cyclic workflow, reports its nodes and blocks Run", async () => {
  const { submissions, api } = createAcceptingApi();
  showRunPage(api);
  await openText(JSON.stringify(readRecordedRefusals().cycle?.prompt));
  const alert = await screen.findByRole("alert");
  expect(alert.textContent).toContain("2 nodes prevent this workflow from running");
  expect(within(alert).getAllByText(/This node depends on itself through #\d/)).toHaveLength(2);
  const [copiesButton] = screen.getAllByRole("button", { name: "Copies" });
  for (const button of [getRunButton(), copiesButton]) {
    expect(button?.getAttribute("aria-disabled")).toBe("true");
    expect(getDescription(button)).toContain("prevent this workflow");
  }
  pressRun();
  fireEvent.keyDown(window, { key: "Enter", ctrlKey: true });
  expect(submissions).toEqual([]);
  expect(within(alert).queryByRole("button", { name: "Run anyway" })).toBeNull();
  fireEvent.click(within(alert).getByRole("button", { name: /^#1/ }));
  expect(document.activeElement?.id).toBe("node-1");
});

it("shows a broken link at its field until another file opens", async () => {
  showRunPage(createApi(undefined));
  await openText(JSON.stringify(readRecordedRefusals()["dangling-link"]?.prompt));
  expect((await screen.findAllByText("image is connected to node #9, which is not in the workflow.")).length).toBeGreaterThan(1);
  await dropFile("good.json", JSON.stringify({ "1": { class_type: "SaveImage", inputs: { filename_prefix: "x" } } }));
  expect(await screen.findByText("good")).toBeTruthy();
  expect(screen.queryByRole("alert")).toBeNull();
});

it("blocks an unknown class until the member runs it anyway", async () => {
  stubNodeList(() => Response.json(readCatalogueFixture()));
  const { submissions, api } = createAcceptingApi();
  const text = JSON.stringify({
    "1": { class_type: "KSamplerDeluxe", inputs: { steps: 5 } },
    "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "x" } },
  });
  const viewerPage = showRunPage(api, { canRun: false });
  await openText(text);
  await screen.findByText(/prevents this workflow from running/);
  expect(screen.queryByRole("button", { name: "Run anyway" })).toBeNull();
  viewerPage.unmount();
  sessionStorage.clear();
  showRunPage(api);
  await openText(text);
  const runAnywayButton = await screen.findByRole("button", { name: "Run anyway" });
  pressRun();
  expect(submissions).toEqual([]);
  fireEvent.click(runAnywayButton);
  expect(await screen.findByRole("link", { name: "Open job job-1" })).toBeTruthy();
});

it("reloads the node list on demand and keeps typed values", async () => {
  let isBroken = true;
  stubNodeList(() =>
    isBroken ? Response.json({ code: "UPSTREAM_UNREACHABLE", message: "" }, { status: 502 }) : Response.json(readCatalogueFixture()),
  );
  showRunPage(createApi(undefined));
  await openText(JSON.stringify({ "1": { class_type: "EmptyImage", inputs: { width: 64, height: 64, batch_size: 1, color: 0 } } }));
  fireEvent.change(getField("width"), { target: { value: "72" } });
  const reloadButton = await screen.findByRole("button", { name: "Reload the list" });
  isBroken = false;
  fireEvent.click(reloadButton);
  expect(await screen.findByText("1 to 4096")).toBeTruthy();
  expect(getField("width").value).toBe("72");
  expect(screen.queryByRole("button", { name: "Reload the list" })).toBeNull();
});

describe("tab title", () => {
  afterEach(() => {
    document.head.innerHTML = "";
  });

  /** Inserts a title before the existing ones, as Next.js does. */
  function insertPageTitle(text: string): HTMLTitleElement {
    const title = document.createElement("title");
    title.textContent = text;
    document.head.prepend(title);
    return title;
  }

  it("starts with the workflow's name and resets on close", async () => {
    insertPageTitle("Run a workflow · Lightdesk");
    const page = renderPage(<TabTitle name="Poster" />);
    expect(document.title).toBe("Poster · Run a workflow · Lightdesk");
    const title = insertPageTitle("Run a workflow · Lightdesk");
    await eventually(() => expect(document.title).toBe("Poster · Run a workflow · Lightdesk"));
    page.rerender(wrapInProviders(<TabTitle name="Hero" />));
    expect(document.title).toBe("Hero · Run a workflow · Lightdesk");
    title.textContent = "Jobs · Lightdesk";
    page.unmount();
    expect(document.title).toBe("Jobs · Lightdesk");
  });
});
