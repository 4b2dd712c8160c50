import { File } from "node:buffer";
import { readFileSync } from "node:fs";
import { act, fireEvent, screen, within } from "@testing-library/react";
import { blake3 } from "hash-wasm";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TabTitle } from "@/components/run/run-split";
import { samplePictures } from "@/components/run/workflow/run-sources";
import { ok } from "@/lib/shared/result";
import { eventually } from "@/tests/support/eventually";
import { startPromptServer } from "./prompt-server";
import { renderPage, wrapInProviders } from "./render";
import { createApi, dropFile, getField, getRunButton, openText, pressRun, type PromptServer, showRunPage } from "./run-page";
import { readCatalogueFixture, readRecordedRefusals, readSampleText } from "./workflow-fixtures";

describe("run opening", () => {
  let service: PromptServer;
  beforeEach(async () => void (service = await startPromptServer()));

  describe("opening a workflow", () => {
    it("opens a sample on click", async () => {
      showRunPage(createApi(service));
      fireEvent.click(screen.getByRole("button", { name: /^Poster from a photo/ }));
      expect(await screen.findByRole("heading", { level: 1, name: /Poster from a photo/ })).toBeTruthy();
      expect(getField("Picture name").value).toBe("photo.png");
    });

    it("loads a sample's own picture", async () => {
      showRunPage(createApi(service, { shipsPictures: true }));
      fireEvent.click(screen.getByRole("button", { name: /^Poster from a photo/ }));
      await screen.findByRole("heading", { level: 1, name: /Poster from a photo/ });
      expect(getField("Picture name").value).toBe("photo.png");
      fireEvent.focus(getField("Picture name"));
      expect(getField("Picture name").value).toBe(`${samplePictures["photo.png"]}.png`);
      for (const [name, digest] of Object.entries(samplePictures))
        expect(await blake3(readFileSync(`public/samples/${name}`))).toBe(digest);
    });

    it.each([
      ["broken.json", '{ "1": ', /was not opened/, /not valid JSON\. The error is at line 1, column 8/],
      ["list.json", "[1]", /was not opened/, /a list/],
      ["nothing.json", "", /was not opened/, /The file is empty/],
      ["photo.png", "", /was not opened/, /The file is empty/],
      ["editor.json", '{"nodes": [], "links": []}', /was not opened/, /has no nodes/],
      ["ui.json", '{"nodes": [{}], "links": []}', /was not opened/, /Couldn't load the service's node list/],
    ])("rejects %s with the reason and keeps the open workflow", async (name, text, title, reason) => {
      showRunPage(createApi(service));
      await openText(readSampleText("01-invert"));
      fireEvent.change(getField("width"), { target: { value: "640" } });
      await dropFile(name, text);
      const alert = await screen.findByRole("alert");
      expect(alert.textContent).toMatch(title);
      expect(alert.textContent).toMatch(reason);
      expect(alert.textContent).toContain("The workflow you had open is unchanged.");
      expect(getField("width").value).toBe("640");
    });

    it("offers every workflow source and reports unreadable files on the page", async () => {
      showRunPage(createApi(service));
      await openText(readSampleText("05-slow"));
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
      showRunPage(createApi(service));
      await openText('{"5":{"class_type":"EmptyImage","inputs":{}},"5":{"class_type":"EmptyImage","inputs":{"width":64}}}');
      expect(screen.getByText(/uses this node id more than once, and only the last node is used: 5$/)).toBeTruthy();
    });

    it("opens no file when several are dropped", async () => {
      showRunPage(createApi(service));
      await openText(readSampleText("01-invert"));
      const files = ["a.json", "b.json"].map((name) => new File([readSampleText("05-slow")], name, { type: "application/json" }));
      await act(async () => void fireEvent.drop(window, { dataTransfer: { types: ["Files"], files } }));
      const alert = await screen.findByRole("alert");
      expect(alert.textContent).toContain("2 files were dropped and none was opened");
      expect(alert.textContent).toContain("Only one workflow can be open at a time");
      expect(alert.textContent).not.toContain("pasted");
      expect(getField("width").value).toBe("512");
    });

    it("doesn't open text that is pasted into a field", async () => {
      showRunPage(createApi(service));
      await openText(readSampleText("01-invert"));
      fireEvent.paste(getField("width"), { clipboardData: { files: [], getData: () => readSampleText("05-slow") } });
      expect(getField("width").value).toBe("512");
      expect(screen.queryByText("Slow step")).toBeNull();
    });
  });
});

function createCountingApi() {
  let sentCount = 0;
  const ports = createApi(undefined, { sendPrompt: async () => ok({ prompt_id: `job-${++sentCount}`, node_errors: {} }) });
  return { ports, getSentCount: () => sentCount };
}

it("opens a cyclic workflow, reports its nodes and blocks Run", async () => {
  const { ports, getSentCount } = createCountingApi();
  showRunPage(ports);
  await openText(JSON.stringify(readRecordedRefusals().cycle?.prompt));
  const alert = await screen.findByRole("alert");
  expect(alert.textContent).toContain("2 nodes prevent this workflow from running");
  expect(within(alert).getAllByText(/This node depends on itself through #\d/)).toHaveLength(2);
  expect(getRunButton().getAttribute("aria-disabled")).toBe("true");
  expect(document.getElementById(getRunButton().getAttribute("aria-describedby") ?? "")?.textContent).toContain("prevent this workflow");
  const [copiesButton] = screen.getAllByRole("button", { name: "Copies" });
  expect([copiesButton?.getAttribute("aria-disabled"), copiesButton?.getAttribute("aria-describedby")]).toEqual([
    "true",
    getRunButton().getAttribute("aria-describedby"),
  ]);
  pressRun();
  fireEvent.keyDown(window, { key: "Enter", ctrlKey: true });
  expect(getSentCount()).toBe(0);
  expect(within(alert).queryByRole("button", { name: "Run anyway" })).toBeNull();
  fireEvent.click(within(alert).getByRole("button", { name: /^#1/ }));
  expect(document.activeElement?.id).toBe("node-1");
});

it("shows a broken link at its field until another file opens", async () => {
  const { ports } = createCountingApi();
  showRunPage(ports);
  await openText(JSON.stringify(readRecordedRefusals()["dangling-link"]?.prompt));
  expect((await screen.findAllByText("image is connected to node #9, which is not in the workflow.")).length).toBeGreaterThan(1);
  await dropFile("good.json", JSON.stringify({ "1": { class_type: "SaveImage", inputs: { filename_prefix: "x" } } }));
  expect(await screen.findByText("good")).toBeTruthy();
  expect(screen.queryByRole("alert")).toBeNull();
});

it("blocks an unknown class until the member runs it anyway", async () => {
  vi.stubGlobal("fetch", async (path: unknown) =>
    String(path).includes("object_info") ? Response.json(readCatalogueFixture()) : Response.json({ code: "NOT_FOUND" }, { status: 404 }),
  );
  const { ports, getSentCount } = createCountingApi();
  const text = JSON.stringify({
    "1": { class_type: "KSamplerDeluxe", inputs: { steps: 5 } },
    "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "x" } },
  });
  const viewerPage = showRunPage(ports, false);
  await openText(text);
  await screen.findByText(/prevents this workflow from running/);
  expect(screen.queryByRole("button", { name: "Run anyway" })).toBeNull();
  viewerPage.unmount();
  sessionStorage.clear();
  showRunPage(ports);
  await openText(text);
  const runAnywayButton = await screen.findByRole("button", { name: "Run anyway" });
  pressRun();
  expect(getSentCount()).toBe(0);
  fireEvent.click(runAnywayButton);
  expect(await screen.findByRole("link", { name: "Open job job-1" })).toBeTruthy();
});

it("reloads the node list on demand and keeps typed values", async () => {
  let isBroken = true;
  vi.stubGlobal("fetch", async (path: unknown) => {
    if (!String(path).includes("object_info")) return Response.json({ code: "NOT_FOUND" }, { status: 404 });
    return isBroken ? Response.json({ code: "UPSTREAM_UNREACHABLE", message: "" }, { status: 502 }) : Response.json(readCatalogueFixture());
  });
  const { ports } = createCountingApi();
  showRunPage(ports);
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
