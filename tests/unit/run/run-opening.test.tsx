// @vitest-environment jsdom
import { File } from "node:buffer";
import { readFileSync } from "node:fs";
import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { blake3 } from "hash-wasm";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { samplePictures } from "@/components/run/workflow/arrivals";
import { sampleText } from "./files";
import { apiTo, drop, field, openText, type PromptServer, show } from "./page";
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

describe("opening a workflow", () => {
  it("from a sample, by a press", async () => {
    show(apiTo(service));
    fireEvent.click(screen.getByRole("button", { name: /^Poster from a photo/ }));
    expect(await screen.findByRole("heading", { level: 1, name: /Poster from a photo/ })).toBeTruthy();
    expect(field("Picture name").value).toBe("photo.png");
  });

  it("from a sample brings the sample's own picture, whatever picture of that name was uploaded since", async () => {
    show(apiTo(service, { shipsPictures: true }));
    fireEvent.click(screen.getByRole("button", { name: /^Poster from a photo/ }));
    await screen.findByRole("heading", { level: 1, name: /Poster from a photo/ });
    expect(field("Picture name").value).toBe("photo.png");
    fireEvent.focus(field("Picture name"));
    expect(field("Picture name").value).toBe(`${samplePictures["photo.png"]}.png`);
    for (const [name, digest] of Object.entries(samplePictures)) expect(await blake3(readFileSync(`public/samples/${name}`))).toBe(digest);
  });

  it.each([
    ["broken.json", '{ "1": ', /was not opened/, /not valid JSON\. The error is at line 1, column 8/],
    ["list.json", "[1]", /was not opened/, /a list/],
    ["nothing.json", "", /was not opened/, /The file is empty/],
    ["photo.png", "", /was not opened/, /The file is empty/],
    ["editor.json", '{"nodes": [], "links": []}', /was not opened/, /has no nodes/],
    ["ui.json", '{"nodes": [{}], "links": []}', /was not opened/, /needs the service's list of nodes/],
  ])("of %s is refused with the reason, and what was open and typed stays", async (name, text, title, reason) => {
    show(apiTo(service));
    await openText(sampleText("01-invert"));
    fireEvent.change(field("width"), { target: { value: "640" } });
    await drop(name, text);
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toMatch(title);
    expect(alert.textContent).toMatch(reason);
    expect(alert.textContent).toContain("The workflow you had open is unchanged.");
    expect(field("width").value).toBe("640");
  });

  it("beside one that is open offers every way in that the empty page has, and tells on the page what cannot be opened", async () => {
    show(apiTo(service));
    await openText(sampleText("05-slow"));
    const ask = () => fireEvent.click(screen.getByRole("button", { name: "Open another" }));
    ask();
    const dialog = within(screen.getByRole("dialog", { name: "Open another workflow" }));
    expect(dialog.getByRole("button", { name: "Show saved files" })).toBeTruthy();
    fireEvent.change(dialog.getByRole("textbox", { name: "Or paste its text" }), { target: { value: "[1]" } });
    fireEvent.click(dialog.getByRole("button", { name: "Open pasted text" }));
    expect((await screen.findByRole("alert")).textContent).toContain("The workflow you had open is unchanged.");
    expect(screen.queryByRole("dialog")).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: "Dismiss" }));
    expect(screen.queryByRole("dialog")).toBeNull();
    ask();
    fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
    expect(screen.queryByRole("dialog")).toBeNull();
    ask();
    fireEvent.click(screen.getByRole("button", { name: /^Invert/ }));
    expect(await screen.findByRole("heading", { level: 1, name: /Invert/ })).toBeTruthy();
    expect(screen.queryByRole("dialog")).toBeNull();
    expect(screen.getByRole("button", { name: "Back to Pasted workflow" })).toBeTruthy();
  });

  it("names ids that the file uses more than once", async () => {
    show(apiTo(service));
    await openText('{"5":{"class_type":"EmptyImage","inputs":{}},"5":{"class_type":"EmptyImage","inputs":{"width":64}}}');
    expect(screen.getByText(/uses this node id more than once, and only the last node counts: 5$/)).toBeTruthy();
  });

  it("takes one file at a time, and says that none of several was opened", async () => {
    show(apiTo(service));
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
    show(apiTo(service));
    await openText(sampleText("01-invert"));
    fireEvent.paste(field("width"), { clipboardData: { files: [], getData: () => sampleText("05-slow") } });
    expect(field("width").value).toBe("512");
    expect(screen.queryByText("Slow step")).toBeNull();
  });
});
