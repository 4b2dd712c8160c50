import { act, fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, test, vi } from "vitest";
import { useWindowFiles } from "@/components/transfers/add-assets";
import { type UploadRequest } from "@/components/transfers/uploads/upload-item";
import { UploadsPanel } from "@/components/transfers/uploads-panel";
import { createDropped, type DroppedFiles, readDrop, readFileInput } from "@/lib/browser/files/dropped-files";
import { inApp, renderInApp } from "../components/render";

describe("uploads panel", () => {
  beforeEach(() => {
    vi.stubGlobal("fetch", async () => Response.json({}));
    // jsdom does not implement modal dialogs.
  });

  const dropFiles = (...names: string[]): DroppedFiles => createDropped(names.map((name) => ({ path: name, file: new File(["x"], name) })));

  async function desk() {
    let id = 0;
    const panel = (request: UploadRequest) => inApp(<UploadsPanel request={request} canAdd />);
    const { rerender } = renderInApp(null);
    const openSource = (wish: { source: "files"; dropped: Promise<DroppedFiles> } | { source: "url"; address?: string }) =>
      act(async () => rerender(panel({ id: ++id, ...wish })));
    return { openSource, drop: (files: Promise<DroppedFiles>) => openSource({ source: "files", dropped: files }) };
  }
  function later() {
    let arrive: (dropped: DroppedFiles) => void = () => undefined;
    const promise = new Promise<DroppedFiles>((resolve) => (arrive = resolve));
    return { promise, arrive };
  }
  const question = (name: string) => screen.findByRole("dialog", { name });

  test("adds files dropped while others wait", async () => {
    const { drop } = await desk();
    await drop(Promise.resolve(dropFiles("one.bin")));
    await question("Add 1 file");
    await drop(Promise.resolve({ ...dropFiles("two.bin", "three.bin"), unreadable: 1 }));
    await question("Add 3 files");
    expect(screen.getByText("one.bin")).toBeTruthy();
    expect(screen.getByText("1 file could not be read and will be skipped.")).toBeTruthy();
  });

  test("keeps a scanning folder on a second drop and a cancelled one away", async () => {
    const { drop } = await desk();
    const folder = later();
    await drop(folder.promise);
    await question("Reading files…");
    await drop(Promise.resolve(dropFiles("two.bin")));
    await question("Add 1 file");
    await act(async () => folder.arrive(dropFiles("shots/one.bin")));
    await question("Add 2 files");
    fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
    const otherDrop = later();
    await drop(otherDrop.promise);
    await question("Reading files…");
    fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
    await act(async () => otherDrop.arrive(dropFiles("late.bin")));
    expect(screen.queryByRole("dialog")).toBeNull();
  });

  test("keeps typed URLs when files are dropped", async () => {
    const { openSource, drop } = await desk();
    await openSource({ source: "url" });
    const box = await screen.findByLabelText<HTMLTextAreaElement>("URLs, one per line");
    fireEvent.change(box, { target: { value: "https://example.com/a.bin" } });
    await drop(Promise.resolve(dropFiles("one.bin")));
    await question("Add 1 file");
    expect(box.value).toBe("https://example.com/a.bin");
    expect(box.isConnected).toBe(true);
  });

  test("adds a pasted URL to the downloads, another below it", async () => {
    const { openSource } = await desk();
    await openSource({ source: "url", address: "https://example.com/a.bin" });
    const box = await screen.findByLabelText<HTMLTextAreaElement>("URLs, one per line");
    expect(box.value).toBe("https://example.com/a.bin");
    fireEvent.change(box, { target: { value: "https://example.com/b.bin" } });
    await openSource({ source: "url", address: "https://example.com/c.bin" });
    expect(box.value).toBe("https://example.com/b.bin\nhttps://example.com/c.bin");
  });
});

/** The parts that are used of a browser's drop data. */
type Node = { fullPath: string; isFile: boolean; isDirectory: boolean };
const createFile = (fullPath: string, isLocked = false): Node => ({
  fullPath,
  isFile: true,
  isDirectory: false,
  ...{
    file: (resolve: (file: File) => void, reject: (cause: Error) => void) =>
      isLocked ? reject(new Error("locked")) : resolve(new File(["x"], fullPath.split("/").at(-1) ?? "")),
  },
});
const createFolder = (fullPath: string, children: Node[]): Node => ({
  fullPath,
  isFile: false,
  isDirectory: true,
  ...{
    createReader() {
      const waiting = [...children];
      // A hundred entries at a time, as in browsers.
      return { readEntries: (resolve: (nodes: Node[]) => void) => resolve(waiting.splice(0, 100)) };
    },
  },
});
const createDrop = (...entries: Node[]) =>
  readDrop({ items: entries.map((entry) => ({ kind: "file", webkitGetAsEntry: () => entry })), files: [] } as unknown as DataTransfer); // jsdom has no drops

describe("dropped files", () => {
  it("is read to the last nested file with paths", async () => {
    const manyFiles = Array.from({ length: 250 }, (_, at) => createFile(`/shots/night/${at}.png`));
    const dropped = await createDrop(
      createFile("/loose.txt"),
      createFolder("/shots", [createFolder("/shots/night", manyFiles), createFile("/shots/day.png")]),
    );
    expect(dropped.files.map(({ path }) => path).sort()).toEqual(
      ["loose.txt", "shots/day.png", ...manyFiles.map(({ fullPath }) => fullPath.slice(1))].sort(),
    );
    expect([dropped.unreadable, dropped.isCut]).toEqual([0, false]);
  });

  it("skips and counts system files unless chosen directly", async () => {
    const fileNames = ["a.png", "Thumbs.db.png", "x.ini"];
    const systemFiles = [".DS_Store", "Thumbs.db", "ehthumbs.db", "desktop.ini", "Desktop.ini", "._a.png"];
    const dropped = await createDrop(
      createFile("/.DS_Store"),
      createFolder(
        "/shots",
        [...fileNames, ...systemFiles].map((name) => createFile(`/shots/${name}`)),
      ),
    );
    expect(dropped).toMatchObject({ leftOut: systemFiles.length, unreadable: 0, isCut: false });
    expect(dropped.files.map(({ path }) => path).sort()).toEqual([".DS_Store", ...fileNames.map((name) => `shots/${name}`)].sort());
    const inFolder = (name: string) => Object.assign(new File([], name), { webkitRelativePath: `shots/${name}` });
    const picked = readFileInput([...fileNames, ...systemFiles].map(inFolder));
    expect([picked.files.length, picked.leftOut]).toEqual([fileNames.length, systemFiles.length]);
  });

  it("is counted when unreadable and shown as truncated when too large", async () => {
    expect(await createDrop(createFile("/a"), createFile("/b", true))).toMatchObject({
      files: [{ path: "a" }],
      unreadable: 1,
      isCut: false,
    });
    const folders = Array.from({ length: 120 }, (_, at) =>
      createFolder(
        `/${at}`,
        Array.from({ length: 90 }, (__, of) => createFile(`/${at}/${of}`)),
      ),
    );
    const dropped = await createDrop(...folders);
    expect([dropped.files.length, dropped.isCut]).toEqual([10_000, true]);
    const picked = readFileInput(Array.from({ length: 10_001 }, () => new File([], "x")));
    expect([picked.files.length, picked.isCut]).toEqual([10_000, true]);
  });
});

type WindowProps = { onFiles?: (files: Promise<DroppedFiles>) => void; onAddress?: (address: string) => void };
const nothing = () => undefined;
function Window({ onFiles = nothing, onAddress = nothing }: WindowProps) {
  return <input aria-label={String(useWindowFiles({ isEnabled: true, onFiles, onAddress }))} />;
}

describe("pasted files", () => {
  it("accepts files anywhere except in a focused field", () => {
    const drops: Promise<DroppedFiles>[] = [];
    const { getByRole } = render(<Window onFiles={(files) => drops.push(files)} />);
    const paste = (target: Element, files: File[]) => {
      const event = new Event("paste", { bubbles: true, cancelable: true });
      target.dispatchEvent(Object.assign(event, { clipboardData: { files, getData: () => "" } }));
      return event.defaultPrevented;
    };
    const picture = new File(["x"], "a.png");
    expect(paste(getByRole("textbox"), [picture])).toBe(false);
    expect(paste(document.body, [])).toBe(false);
    expect(drops).toHaveLength(0);
    expect(paste(document.body, [picture])).toBe(true);
    expect(drops).toHaveLength(1);
  });
});

describe("an address", () => {
  function desk() {
    const addresses: string[] = [];
    const { getByRole } = render(<Window onAddress={(address) => addresses.push(address)} />);
    /** True if the handler prevented the browser's default action. */
    const send = (target: Element, type: string, data: Record<string, string> = {}) => {
      const event = new Event(type, { bubbles: true, cancelable: true });
      const transfer = { files: [], items: [], types: Object.keys(data), getData: (kind: string) => data[kind] ?? "" };
      act(() => void target.dispatchEvent(Object.assign(event, { dataTransfer: transfer, clipboardData: transfer })));
      return event.defaultPrevented;
    };
    return { addresses, send, field: getByRole("textbox") };
  }

  it("accepts a pasted URL list and no other text", () => {
    const { addresses, send, field } = desk();
    expect(send(document.body, "paste", { "text/plain": " https://a.example/x.bin\n\nhttps://b.example/y.bin\n" })).toBe(true);
    expect(addresses).toEqual(["https://a.example/x.bin\nhttps://b.example/y.bin"]);
    for (const text of ["see https://a.example/x.bin", "a.example/x.bin", "mailto:a@b.example", ""])
      expect(send(document.body, "paste", { "text/plain": text })).toBe(false);
    expect(send(field, "paste", { "text/plain": "https://a.example/x.bin" })).toBe(false);
    expect(addresses).toHaveLength(1);
  });

  it("accepts a link dragged from another page, not one of its own", () => {
    const { addresses, send, field } = desk();
    const link = { "text/uri-list": "# a comment\r\nhttps://a.example/x.bin\r\n", "text/html": "<a>" };
    expect(send(document.body, "dragover", link)).toBe(true);
    expect(field.getAttribute("aria-label")).toBe("addresses");
    expect(send(document.body, "drop", link)).toBe(true);
    expect(field.getAttribute("aria-label")).toBe("undefined");
    expect(addresses).toEqual(["https://a.example/x.bin"]);
    send(document.body, "dragstart");
    expect([send(document.body, "dragover", link), send(document.body, "drop", link)]).toEqual([false, false]);
    send(document.body, "dragend");
    expect([send(field, "dragover", link), send(field, "drop", link)]).toEqual([false, false]);
    expect(addresses).toHaveLength(1);
  });
});
