import { File as ReadableFile } from "node:buffer";
import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { beforeEach, describe, expect, it, test, vi } from "vitest";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { consumeRunRequest } from "@/components/frame/samples/samples";
import { UploadSources, useWindowFiles } from "@/components/transfers/add-assets";
import { type UploadRequest } from "@/components/transfers/uploads/upload-item";
import { UploadsPanel } from "@/components/transfers/uploads-panel";
import { useCloseWarning } from "@/components/ui/hooks/page-events";
import { toastStore } from "@/components/ui/toast-store";
import { Toasts } from "@/components/ui/toasts";
import { createDroppedFiles, type DroppedFiles, readDroppedFiles, readFileInput } from "@/lib/browser/files/dropped-files";
import { createFakeRouter, PageProvider } from "@/tests/support/page-provider";
import { renderInApp, wrapInApp } from "../components/render";

describe("uploads panel", () => {
  beforeEach(() => {
    vi.stubGlobal("fetch", async () => Response.json({}));
  });

  const dropFiles = (...names: string[]): DroppedFiles =>
    createDroppedFiles(names.map((name) => ({ path: name, file: new File(["x"], name) })));

  async function renderPanel() {
    const requests: UploadRequest[] = [];
    const { rerender } = renderInApp(null);
    const openSource = async (options: { source: "files"; dropped: Promise<DroppedFiles> } | { source: "url"; urls: string }) => {
      requests.push({ id: requests.length + 1, ...options });
      await act(async () => rerender(wrapInApp(<UploadsPanel requests={[...requests]} canAdd />)));
    };
    return { openSource, drop: (files: Promise<DroppedFiles>) => openSource({ source: "files", dropped: files }) };
  }
  function createPendingDrop() {
    let resolveDrop: (dropped: DroppedFiles) => void = () => undefined;
    const promise = new Promise<DroppedFiles>((resolve) => (resolveDrop = resolve));
    return { promise, resolveDrop };
  }
  const findDialog = (name: string) => screen.findByRole("dialog", { name });

  const connection = { id: "c", name: "Studio", embedded: true };
  // jsdom's File can't be read.
  const workflow = new ReadableFile([JSON.stringify({ 1: { class_type: "EmptyImage", inputs: {} } })], "poster.json");
  const otherWorkflow = new ReadableFile([workflow], "other.json");
  async function dropOnPage(dropped: readonly (File | ReadableFile)[], { canUpload = true, isUnsaved = false, drops = 1 } = {}) {
    const openedUrls: string[] = [];
    const Page = () => {
      useCloseWarning(isUnsaved);
      return <Toasts />;
    };
    renderInApp(
      <PageProvider router={createFakeRouter((url) => openedUrls.push(url))} pathname="/jobs">
        <ConnectionProvider currentId="c" connections={[connection]}>
          <UploadSources canUpload={canUpload} canOpenRun />
          <Page />
        </ConnectionProvider>
      </PageProvider>,
    );
    const dataTransfer = { types: ["Files"], items: [], files: dropped };
    const drop = () => window.dispatchEvent(Object.assign(new Event("drop"), { dataTransfer }));
    await act(async () => void Array.from({ length: drops }, drop));
    return openedUrls;
  }

  test("offers to retry dropped files when the panel's messages fail to load", async () => {
    let isOffline = true;
    vi.doMock("@/lib/messages/en/uploads.json", async (loadOriginal) => {
      if (isOffline) throw new Error("offline");
      return loadOriginal();
    });
    await dropOnPage([new File(["x"], "one.bin")]);
    const retryButton = await screen.findByRole("button", { name: "Try again" });
    expect(screen.queryByRole("dialog")).toBeNull();
    isOffline = false;
    fireEvent.click(retryButton);
    await findDialog("Add 1 file");
  });

  test("opens a single dropped workflow in Run, also for viewers", async () => {
    const editorFile = new ReadableFile([JSON.stringify({ nodes: [{ id: 1, type: "EmptyImage" }], links: [] })], "editor.JSON");
    for (const file of [workflow, editorFile]) {
      const openedUrls = await dropOnPage([file], { canUpload: file === workflow });
      await waitFor(() => expect(openedUrls).toEqual(["/run"]));
      expect(consumeRunRequest()).toEqual({ files: [file] });
      expect(screen.queryByRole("dialog")).toBeNull();
      cleanup();
    }
    await dropOnPage([new ReadableFile([JSON.stringify({ nodes: [{ id: 1 }] })], "graph.json")]);
    await findDialog("Add 1 file");
  });

  test("offers to open a workflow dropped with other files", async () => {
    const openedUrls = await dropOnPage([new File(["x"], "one.bin"), workflow, otherWorkflow]);
    await findDialog("Add 3 files");
    fireEvent.click(screen.getAllByRole("button", { name: "Open in Run" })[0] ?? document.body);
    await findDialog("Add 2 files");
    expect(openedUrls).toEqual(["/run"]);
    expect(consumeRunRequest()).toEqual({ files: [workflow] });
    expect(screen.getByText("other.json")).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Open in Run" })).toBeNull();
  });

  test("asks before opening a dropped workflow when the page has unsaved work", async () => {
    for (const canUpload of [true, false]) {
      const openedUrls = await dropOnPage([workflow], { canUpload, isUnsaved: true });
      fireEvent.click(await screen.findByRole("button", { name: "Open in Run" }));
      expect(openedUrls).toEqual(["/run"]);
      expect(consumeRunRequest()).toEqual({ files: [workflow] });
      cleanup();
    }
  });

  test("shows viewers an error when other files are dropped with a workflow", async () => {
    const openedUrls = await dropOnPage([workflow, new File(["x"], "photo.png")], { canUpload: false });
    await screen.findByText("Viewers can't add files");
    expect(openedUrls).toEqual(["/run"]);
    expect(consumeRunRequest()).toEqual({ files: [workflow] });
    act(() => toastStore.setState([], true));
    cleanup();
    expect(await dropOnPage([workflow, otherWorkflow], { canUpload: false })).toEqual([]);
    await screen.findByText("Viewers can't add files");
    expect(consumeRunRequest()).toBeUndefined();
  });

  test.each([
    [true, true, "Drop a workflow to open it, or other files to add to Studio"],
    [true, false, "Drop to add to Studio"],
    [false, true, "Drop a workflow to open it"],
    [false, false, "Viewers can't add files"],
  ])("shows what a drop does when uploads are %s and workflows %s", (canUpload, canOpenRun, text) => {
    renderInApp(
      <ConnectionProvider currentId="c" connections={[connection]}>
        <UploadSources canUpload={canUpload} canOpenRun={canOpenRun} />
      </ConnectionProvider>,
    );
    act(() => void window.dispatchEvent(Object.assign(new Event("dragover"), { dataTransfer: { types: ["Files"] } })));
    expect(screen.getByText(text)).toBeTruthy();
  });

  test("keeps every drop when several arrive while the panel loads", async () => {
    await dropOnPage([new File(["x"], "one.bin")], { drops: 3 });
    await findDialog("Add 3 files");
  });

  test("adds files dropped while the dialog is open", async () => {
    const { drop } = await renderPanel();
    await drop(Promise.resolve(dropFiles("one.bin")));
    await findDialog("Add 1 file");
    await drop(Promise.resolve({ ...dropFiles("two.bin", "three.bin"), unreadableCount: 1 }));
    await findDialog("Add 3 files");
    expect(screen.getByText("one.bin")).toBeTruthy();
    expect(screen.getByText("1 file could not be read and will be skipped.")).toBeTruthy();
  });

  test("keeps a folder scan on a second drop and ignores a cancelled scan", async () => {
    const { drop } = await renderPanel();
    const folder = createPendingDrop();
    await drop(folder.promise);
    await findDialog("Reading files…");
    await drop(Promise.resolve(dropFiles("two.bin")));
    await findDialog("Add 1 file");
    await act(async () => folder.resolveDrop(dropFiles("shots/one.bin")));
    await findDialog("Add 2 files");
    fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
    const otherDrop = createPendingDrop();
    await drop(otherDrop.promise);
    await findDialog("Reading files…");
    fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
    await act(async () => otherDrop.resolveDrop(dropFiles("late.bin")));
    expect(screen.queryByRole("dialog")).toBeNull();
  });

  test("keeps typed URLs when another one is pasted or files are dropped", async () => {
    const { openSource, drop } = await renderPanel();
    await openSource({ source: "url", urls: "https://example.com/a.bin" });
    const urlField = await screen.findByLabelText<HTMLTextAreaElement>("URLs, one per line");
    expect(urlField.value).toBe("https://example.com/a.bin");
    fireEvent.change(urlField, { target: { value: "https://example.com/b.bin" } });
    await openSource({ source: "url", urls: "https://example.com/c.bin" });
    expect(urlField.value).toBe("https://example.com/b.bin\nhttps://example.com/c.bin");
    await drop(Promise.resolve(dropFiles("one.bin")));
    await findDialog("Add 1 file");
    expect(urlField.value).toBe("https://example.com/b.bin\nhttps://example.com/c.bin");
    expect(urlField.isConnected).toBe(true);
  });
});

/** The used properties of a browser's file system entry. */
type Entry = { fullPath: string; isFile: boolean; isDirectory: boolean };
const createFile = (fullPath: string, isLocked = false): Entry => ({
  fullPath,
  isFile: true,
  isDirectory: false,
  ...{
    file: (resolve: (file: File) => void, reject: (cause: Error) => void) =>
      isLocked ? reject(new Error("locked")) : resolve(new File(["x"], fullPath.split("/").at(-1) ?? "")),
  },
});
const createFolder = (fullPath: string, children: Entry[]): Entry => ({
  fullPath,
  isFile: false,
  isDirectory: true,
  ...{
    createReader() {
      const remainingEntries = [...children];
      // Browsers return at most 100 entries at a time.
      return { readEntries: (resolve: (nodes: Entry[]) => void) => resolve(remainingEntries.splice(0, 100)) };
    },
  },
});
const createDrop = (...entries: Entry[]) =>
  readDroppedFiles({
    items: entries.map((entry) => ({ kind: "file", webkitGetAsEntry: () => entry })),
    files: [],
  } as unknown as DataTransfer); // jsdom has no DataTransfer

describe("dropped files", () => {
  it("are read recursively with their paths", async () => {
    const manyFiles = Array.from({ length: 250 }, (_, index) => createFile(`/shots/night/${index}.png`));
    const dropped = await createDrop(
      createFile("/loose.txt"),
      createFolder("/shots", [createFolder("/shots/night", manyFiles), createFile("/shots/day.png")]),
    );
    expect(dropped.files.map(({ path }) => path).sort()).toEqual(
      ["loose.txt", "shots/day.png", ...manyFiles.map(({ fullPath }) => fullPath.slice(1))].sort(),
    );
    expect([dropped.unreadableCount, dropped.isTruncated]).toEqual([0, false]);
  });

  it("exclude and count system files unless dropped directly", async () => {
    const fileNames = ["a.png", "Thumbs.db.png", "x.ini"];
    const systemFiles = [".DS_Store", "Thumbs.db", "ehthumbs.db", "desktop.ini", "Desktop.ini", "._a.png"];
    const dropped = await createDrop(
      createFile("/.DS_Store"),
      createFolder(
        "/shots",
        [...fileNames, ...systemFiles].map((name) => createFile(`/shots/${name}`)),
      ),
    );
    expect(dropped).toMatchObject({ skippedCount: systemFiles.length, unreadableCount: 0, isTruncated: false });
    expect(dropped.files.map(({ path }) => path).sort()).toEqual([".DS_Store", ...fileNames.map((name) => `shots/${name}`)].sort());
    const createFolderFile = (name: string) => Object.assign(new File([], name), { webkitRelativePath: `shots/${name}` });
    const picked = readFileInput([...fileNames, ...systemFiles].map(createFolderFile));
    expect([picked.files.length, picked.skippedCount]).toEqual([fileNames.length, systemFiles.length]);
  });

  it("are counted when unreadable and truncated when too many", async () => {
    expect(await createDrop(createFile("/a"), createFile("/b", true))).toMatchObject({
      files: [{ path: "a" }],
      unreadableCount: 1,
      isTruncated: false,
    });
    const folders = Array.from({ length: 120 }, (_, folderIndex) =>
      createFolder(
        `/${folderIndex}`,
        Array.from({ length: 90 }, (__, fileIndex) => createFile(`/${folderIndex}/${fileIndex}`)),
      ),
    );
    const dropped = await createDrop(...folders);
    expect([dropped.files.length, dropped.isTruncated]).toEqual([10_000, true]);
    const picked = readFileInput(Array.from({ length: 10_001 }, () => new File([], "x")));
    expect([picked.files.length, picked.isTruncated]).toEqual([10_000, true]);
  });
});

type WindowProps = { onFiles?: (files: Promise<DroppedFiles>) => void; onAddress?: (address: string) => void };
const nothing = () => undefined;
function TestWindow({ onFiles = nothing, onAddress = nothing }: WindowProps) {
  return <input aria-label={String(useWindowFiles({ isEnabled: true, onFiles, onUrls: onAddress }))} />;
}

describe("pasted files", () => {
  it("are accepted anywhere except in a focused field", () => {
    const drops: Promise<DroppedFiles>[] = [];
    const { getByRole } = render(<TestWindow onFiles={(files) => drops.push(files)} />);
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

describe("useWindowFiles", () => {
  function renderWindow() {
    const addresses: string[] = [];
    const { getByRole } = render(<TestWindow onAddress={(address) => addresses.push(address)} />);
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
    const { addresses, send, field } = renderWindow();
    expect(send(document.body, "paste", { "text/plain": " https://a.example/x.bin\n\nhttps://b.example/y.bin\n" })).toBe(true);
    expect(addresses).toEqual(["https://a.example/x.bin\nhttps://b.example/y.bin"]);
    for (const text of ["see https://a.example/x.bin", "a.example/x.bin", "mailto:a@b.example", ""])
      expect(send(document.body, "paste", { "text/plain": text })).toBe(false);
    expect(send(field, "paste", { "text/plain": "https://a.example/x.bin" })).toBe(false);
    expect(addresses).toHaveLength(1);
  });

  it("accepts a link dragged from another page, but not from its own", () => {
    const { addresses, send, field } = renderWindow();
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
