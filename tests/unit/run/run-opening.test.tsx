import { File } from "node:buffer";
import { readFileSync } from "node:fs";
import { act, fireEvent, screen, within } from "@testing-library/react";
import { blake3 } from "hash-wasm";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TabTitle } from "@/components/run/run-split";
import { samplePictures } from "@/components/run/workflow/run-sources";
import { ok } from "@/lib/shared/result";
import { eventually } from "@/tests/support/eventually";
import { catalogue, refusals, sampleText } from "./files";
import { createApi, drop, field, openText, pressRun, type PromptServer, runButton, show } from "./page";
import { startPromptServer } from "./prompt-server";
import { inPage, renderPage } from "./render";

describe("run opening", () => {
  let service: PromptServer;
  beforeEach(async () => void (service = await startPromptServer()));

  describe("opening a workflow", () => {
    it("opens a sample by a press", async () => {
      show(createApi(service));
      fireEvent.click(screen.getByRole("button", { name: /^Poster from a photo/ }));
      expect(await screen.findByRole("heading", { level: 1, name: /Poster from a photo/ })).toBeTruthy();
      expect(field("Picture name").value).toBe("photo.png");
    });

    it("from a sample loads the sample's own picture", async () => {
      show(createApi(service, { shipsPictures: true }));
      fireEvent.click(screen.getByRole("button", { name: /^Poster from a photo/ }));
      await screen.findByRole("heading", { level: 1, name: /Poster from a photo/ });
      expect(field("Picture name").value).toBe("photo.png");
      fireEvent.focus(field("Picture name"));
      expect(field("Picture name").value).toBe(`${samplePictures["photo.png"]}.png`);
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
    ])("refuses %s with the reason and keeps the open workflow", async (name, text, title, reason) => {
      show(createApi(service));
      await openText(sampleText("01-invert"));
      fireEvent.change(field("width"), { target: { value: "640" } });
      await drop(name, text);
      const alert = await screen.findByRole("alert");
      expect(alert.textContent).toMatch(title);
      expect(alert.textContent).toMatch(reason);
      expect(alert.textContent).toContain("The workflow you had open is unchanged.");
      expect(field("width").value).toBe("640");
    });

    it("offers every upload source and reports unreadable files on the page", async () => {
      show(createApi(service));
      await openText(sampleText("05-slow"));
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

    it("names ids that the file uses more than once", async () => {
      show(createApi(service));
      await openText('{"5":{"class_type":"EmptyImage","inputs":{}},"5":{"class_type":"EmptyImage","inputs":{"width":64}}}');
      expect(screen.getByText(/uses this node id more than once, and only the last node counts: 5$/)).toBeTruthy();
    });

    it("opens one file at a time and reports the others", async () => {
      show(createApi(service));
      await openText(sampleText("01-invert"));
      const files = ["a.json", "b.json"].map((name) => new File([sampleText("05-slow")], name, { type: "application/json" }));
      await act(async () => void fireEvent.drop(window, { dataTransfer: { types: ["Files"], files } }));
      const alert = await screen.findByRole("alert");
      expect(alert.textContent).toContain("2 files were dropped and none was opened");
      expect(alert.textContent).toContain("Only one workflow can be open at a time");
      expect(alert.textContent).not.toContain("pasted");
      expect(field("width").value).toBe("512");
    });

    it("leaves a paste into a field to the field", async () => {
      show(createApi(service));
      await openText(sampleText("01-invert"));
      fireEvent.paste(field("width"), { clipboardData: { files: [], getData: () => sampleText("05-slow") } });
      expect(field("width").value).toBe("512");
      expect(screen.queryByText("Slow step")).toBeNull();
    });
  });
});

function desk() {
  let sentCount = 0;
  const ports = createApi(undefined, { sendPrompt: async () => ok({ prompt_id: `job-${++sentCount}`, node_errors: {} }) });
  return { ports, sent: () => sentCount };
}

it("opens a looped workflow, names its nodes and blocks Run", async () => {
  const { ports, sent } = desk();
  show(ports);
  await openText(JSON.stringify(refusals().cycle?.prompt));
  const element = await screen.findByRole("alert");
  expect(element.textContent).toContain("2 nodes prevent this workflow from running");
  expect(within(element).getAllByText(/This node depends on itself through #\d/)).toHaveLength(2);
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
  expect(within(element).queryByRole("button", { name: "Run anyway" })).toBeNull();
  fireEvent.click(within(element).getByRole("button", { name: /^#1/ }));
  expect(document.activeElement?.id).toBe("node-1");
});

it("shows a broken link at its field and forgets it with the file", async () => {
  const { ports } = desk();
  show(ports);
  await openText(JSON.stringify(refusals()["dangling-link"]?.prompt));
  expect((await screen.findAllByText("image is connected to node #9, which is not in the workflow.")).length).toBeGreaterThan(1);
  await drop("good.json", JSON.stringify({ "1": { class_type: "SaveImage", inputs: { filename_prefix: "x" } } }));
  expect(await screen.findByText("good")).toBeTruthy();
  expect(screen.queryByRole("alert")).toBeNull();
});

it("blocks an unknown class until the member sends it anyway", async () => {
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

it("retries the node list on demand and keeps typed values", async () => {
  let isBroken = true;
  vi.stubGlobal("fetch", async (path: unknown) => {
    if (!String(path).includes("object_info")) return Response.json({ code: "NOT_FOUND" }, { status: 404 });
    return isBroken ? Response.json({ code: "UPSTREAM_UNREACHABLE", message: "" }, { status: 502 }) : Response.json(catalogue());
  });
  const { ports } = desk();
  show(ports);
  await openText(JSON.stringify({ "1": { class_type: "EmptyImage", inputs: { width: 64, height: 64, batch_size: 1, color: 0 } } }));
  fireEvent.change(field("width"), { target: { value: "72" } });
  const reloadButton = await screen.findByRole("button", { name: "Reload the list" });
  isBroken = false;
  fireEvent.click(reloadButton);
  expect(await screen.findByText("1 to 4096")).toBeTruthy();
  expect(field("width").value).toBe("72");
  expect(screen.queryByRole("button", { name: "Reload the list" })).toBeNull();
});

describe("tab title", () => {
  afterEach(() => {
    document.head.innerHTML = "";
  });

  /** The framework inserts its title there, before the existing ones. */
  function pageTitle(text: string): HTMLTitleElement {
    const title = document.createElement("title");
    title.textContent = text;
    document.head.prepend(title);
    return title;
  }

  it("starts with the workflow's name and resets on close", async () => {
    pageTitle("Run a workflow · Lightdesk");
    const page = renderPage(<TabTitle name="Poster" />);
    expect(document.title).toBe("Poster · Run a workflow · Lightdesk");
    const title = pageTitle("Run a workflow · Lightdesk");
    await eventually(() => expect(document.title).toBe("Poster · Run a workflow · Lightdesk"));
    page.rerender(inPage(<TabTitle name="Hero" />));
    expect(document.title).toBe("Hero · Run a workflow · Lightdesk");
    title.textContent = "Jobs · Lightdesk";
    page.unmount();
    expect(document.title).toBe("Jobs · Lightdesk");
  });
});
