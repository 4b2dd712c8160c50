import { act, cleanup, fireEvent, renderHook, screen, waitFor, within } from "@testing-library/react";
import { Suspense } from "react";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { MoveFile, NewFolder, RemovalLines, useFileRemoval } from "@/components/files/file-dialogs";
import { FilePanel } from "@/components/files/file-panel";
import { FilesScreen } from "@/components/files/files-screen";
import { Breadcrumbs, FilesEmpty } from "@/components/files/files-tool-bar";
import { type FileRow, filesParams, toCrumbs, toFilesView } from "@/components/files/files-view";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { useCapabilities } from "@/components/frame/connection/use-capabilities";
import { type DroppedFiles } from "@/lib/browser/files/dropped-files";
import { parseSearch } from "@/lib/contract/params";
import { ok } from "@/lib/shared/result";
import { createFakeRouter, PageProvider } from "@/tests/support/page-provider";
import { renderInApp, wrapInApp } from "../components/render";

const DEFAULT_QUERY = parseSearch(filesParams, new URLSearchParams()).query;
const press = (name: string) => act(async () => void fireEvent.click(screen.getByRole("button", { name, hidden: true })));

describe("files screen", () => {
  let canReadFiles: boolean;
  let pushedHrefs: string[];
  beforeEach(() => {
    pushedHrefs = [];
    vi.stubGlobal("fetch", async (path: string) =>
      path.includes("/capabilities")
        ? Response.json({ "userdata.read": canReadFiles, "userdata.delete": canReadFiles, "userdata.move": canReadFiles })
        : Response.json([]),
    );
    vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => undefined, removeEventListener: () => undefined }));
  });

  async function renderScreen(id: string) {
    const files = Promise.resolve(
      ok({ value: toFilesView([{ path: "a.json", size: 2, modified: 1_767_225_600_000 }], DEFAULT_QUERY), atMs: Date.now() }),
    );
    await act(async () => {
      renderInApp(
        <PageProvider router={createFakeRouter((href) => void pushedHrefs.push(href))}>
          <ConnectionProvider currentId={id} connections={[{ id, name: "Studio", embedded: false }]}>
            <Suspense>
              <FilesScreen canChange query={DEFAULT_QUERY} files={files} />
            </Suspense>
          </ConnectionProvider>
        </PageProvider>,
      );
    });
  }

  test("shows checkboxes only when files can be deleted", async () => {
    canReadFiles = true;
    await renderScreen("whole");
    expect(screen.getAllByRole("checkbox")).toHaveLength(2);
    cleanup();
    canReadFiles = false;
    await renderScreen("core");
    await waitFor(() => expect(screen.queryAllByRole("checkbox")).toEqual([]));
    expect(screen.getByRole("link", { name: "a.json" })).toBeTruthy();
  });

  test("opens and lists a new folder on Enter, without a checkbox", async () => {
    canReadFiles = true;
    await renderScreen("making");
    await press("New folder");
    const name = screen.getByRole("textbox", { name: "Name", hidden: true });
    await act(async () => void fireEvent.change(name, { target: { value: "drafts" } }));
    await act(async () => void fireEvent.submit(name));
    expect(pushedHrefs.map((href) => new URL(href, "http://desk.test").searchParams.get("dir"))).toEqual(["drafts/"]);
    expect(screen.getByTitle("drafts/").getAttribute("href")).toBe("/files?dir=drafts%2F");
    expect(screen.getByText("empty, not stored until it contains a file")).toBeTruthy();
    expect(screen.queryByRole("checkbox", { name: "Select drafts" })).toBeNull();
    cleanup();
    await renderScreen("other");
    expect(screen.queryByTitle("drafts/")).toBeNull();
  });

  function FolderRemoval() {
    const removal = useFileRemoval({ connection: "c", refresh: async () => undefined });
    return (
      <>
        <button onClick={() => void removal.remove(["drafts/"])}>Delete</button>
        <button onClick={() => void removal.remove(["photos/"])}>Delete photos</button>
        <RemovalLines removal={removal} />
      </>
    );
  }

  test("schedules one deletion per folder when Delete is pressed again", async () => {
    vi.stubGlobal("fetch", async () => Response.json([{ path: "a.json", size: 2, modified: 1 }]));
    renderInApp(<FolderRemoval />);
    const button = screen.getByRole("button", { name: "Delete" });
    fireEvent.click(button);
    fireEvent.click(button);
    fireEvent.click(screen.getByRole("button", { name: "Delete photos" }));
    await waitFor(() => expect(screen.getAllByText("Deleting 1 file")).toHaveLength(2));
  });
});

describe("file panel", () => {
  let requests: string[];
  let storedText: string | undefined;
  beforeEach(() => {
    requests = [];
    storedText = undefined;
    vi.stubGlobal("fetch", async (path: string) => {
      requests.push(path);
      if (storedText !== undefined) return new Response(storedText);
      return Response.json({ code: "NOT_FOUND", message: "", request_id: "r" }, { status: 404 });
    });
  });

  const abilities = { has: () => true, isRefused: () => false, isLoading: false, failure: undefined };
  const createPanel = (path: string, row?: FileRow) => (
    <FilePanel
      path={path}
      row={row}
      connection="c"
      canChange
      capabilities={abilities}
      onClose={() => undefined}
      onRemove={() => undefined}
      onMoved={() => undefined}
    />
  );
  const getButtonTexts = () => screen.queryAllByRole("button").map(({ textContent }) => textContent);

  test("offers no actions for a removed file", async () => {
    renderInApp(createPanel("removed.json"));
    expect(await screen.findByText("The file no longer exists.")).toBeTruthy();
    expect(getButtonTexts()).not.toContain("Delete");
    expect(screen.queryByText("Open in Run")).toBeNull();
    expect(screen.queryByText("Download")).toBeNull();
  });

  test("shows an empty file without a request", () => {
    renderInApp(createPanel("empty.txt", { kind: "file", path: "empty.txt", name: "empty.txt", bytes: 0, modifiedMs: 1, fileCount: 1 }));
    expect(screen.getByText("The file is empty.")).toBeTruthy();
    expect([requests, getButtonTexts().includes("Delete")]).toEqual([[], true]);
  });

  test("reloads a changed file and reports a removed one", async () => {
    const row = { kind: "file", path: "a.json", name: "a.json", bytes: 2, modifiedMs: 1, fileCount: 1 } as const;
    storedText = "{}";
    const { rerender } = renderInApp(createPanel("a.json", row));
    expect(await screen.findByText("{}")).toBeTruthy();
    storedText = "[]";
    rerender(wrapInApp(createPanel("a.json", { ...row, modifiedMs: 2 })));
    expect(await screen.findByText("[]")).toBeTruthy();
    storedText = undefined;
    rerender(wrapInApp(createPanel("a.json")));
    expect(await screen.findByText("The file no longer exists.")).toBeTruthy();
    expect(getButtonTexts()).not.toContain("Delete");
  });

  test("shows the last two folders of a path and expands the others", () => {
    const deepPath = `${Array.from({ length: 40 }, (_, index) => `d${index}`).join("/")}/`;
    const { container } = renderInApp(<Breadcrumbs title="Files" crumbs={toCrumbs(deepPath)} getHref={(dir) => `/files?dir=${dir}`} />);
    expect(container.textContent).toBe("Files/…/d38/d39");
    act(() => void fireEvent.click(screen.getByRole("button", { name: "Show 38 more folders" })));
    expect(within(container).getAllByRole("link")).toHaveLength(40);
    expect(container.textContent).toContain("d37/d38/d39");
    // The button is removed, so the focus moves to the first folder that appeared.
    expect(document.activeElement?.textContent).toBe("d0");
  });
});

describe("move file", () => {
  let responses: Response[];
  let requests: URL[];
  beforeEach(() => {
    requests = [];
    vi.stubGlobal("fetch", async (path: string) => {
      requests.push(new URL(path, "http://desk.test"));
      return responses.shift() ?? new Response("{}", { status: 500 });
    });
  });

  const createErrorResponse = (status: number, code: string, details?: object) =>
    Response.json({ code, message: "", details, request_id: "r" }, { status });
  async function openMoveDialog(path: string) {
    const calls: string[] = [];
    renderInApp(<MoveFile path="a.json" connection="c" onMoved={(to) => calls.push(`moved to ${to}`)} />);
    await press("Rename or move");
    act(() => void fireEvent.change(screen.getByRole("textbox", { hidden: true }), { target: { value: path } }));
    return calls;
  }
  /** Returns whether the connection is recorded as unable to move files. */
  function isMoveRefused(): boolean {
    const { result } = renderHook(() => useCapabilities("c", []));
    return result.current.isRefused("userdata.move") && result.current.has("userdata.move") === false;
  }
  const getOverwriteParams = () =>
    requests.filter(({ pathname }) => pathname.includes("/move/")).map(({ searchParams }) => searchParams.get("overwrite"));

  test("replaces an existing file only on a second press for the same path", async () => {
    responses = [createErrorResponse(409, "CONFLICT"), createErrorResponse(409, "CONFLICT"), Response.json({ path: "c.json" })];
    const calls = await openMoveDialog("b.json");
    await press("Move");
    expect(screen.getByText("A file with this path already exists. Replacing it can't be undone.")).toBeTruthy();
    act(() => void fireEvent.change(screen.getByRole("textbox", { hidden: true }), { target: { value: "c.json" } }));
    await press("Move");
    expect([getOverwriteParams(), calls]).toEqual([["false", "false"], []]);
    await press("Replace");
    expect([getOverwriteParams().at(-1), calls]).toEqual(["true", ["moved to c.json"]]);
  });

  test("opens the file at the path the service reports", async () => {
    responses = [Response.json({ path: "\u00fc.json" })];
    const calls = await openMoveDialog("u\u0308.json");
    await press("Move");
    expect(calls).toEqual(["moved to \u00fc.json"]);
  });

  test("distinguishes missing move support from a missing file", async () => {
    responses = [createErrorResponse(501, "NOT_IMPLEMENTED", { capability: "userdata.move" })];
    await openMoveDialog("b.json");
    await press("Move");
    expect(screen.queryByText("Not found")).toBeNull();
    expect(isMoveRefused()).toBe(true);
    cleanup();
    responses = [createErrorResponse(404, "NOT_FOUND")];
    const secondCalls = await openMoveDialog("b.json");
    await press("Move");
    expect(secondCalls).toEqual([]);
    expect(screen.getByText("Not found")).toBeTruthy();
  });
});

describe("an empty or new folder", () => {
  let inputElements: HTMLInputElement[];
  beforeEach(() => {
    inputElements = [];
    // A browser would open its file chooser here.
    vi.spyOn(HTMLInputElement.prototype, "click").mockImplementation(function (this: HTMLInputElement) {
      inputElements.push(this);
    });
  });

  function chooseFiles(...names: string[]) {
    const files = names.map((name) => new File(["x"], name));
    act(() => void fireEvent.change(inputElements.at(-1) ?? document.body, { target: { files } }));
  }
  const getNameField = () => screen.getByRole<HTMLInputElement>("textbox", { hidden: true });

  test("puts chosen files into the new folder and clears a cancelled name", async () => {
    const calls: string[] = [];
    const collectFiles = (name: string, { files }: DroppedFiles) => calls.push(`${files.map(({ path }) => path).join()} into ${name}`);
    renderInApp(<NewFolder onCreate={() => undefined} onFiles={collectFiles} />);
    await press("New folder");
    expect(screen.getByText("Empty folders are not stored: the folder appears once it contains a file.")).toBeTruthy();
    fireEvent.change(getNameField(), { target: { value: "half a na" } });
    await press("Cancel");
    await press("New folder");
    expect(getNameField().value).toBe("");
    fireEvent.change(getNameField(), { target: { value: "a b/100%" } });
    await press("Choose files…");
    expect(calls).toEqual([]);
    chooseFiles("one.json", "two.json");
    expect(calls).toEqual(["one.json,two.json into a b/100%"]);
  });

  function renderEmpty(dir: string, canChange: boolean, offset = 0) {
    const calls: string[] = [];
    const query = { ...DEFAULT_QUERY, dir };
    const collectFiles = ({ files }: DroppedFiles) => calls.push(...files.map(({ path }) => path));
    const handlers = { onOpen: (dir: string) => calls.push(dir), onClear: () => undefined, onFiles: collectFiles };
    const onFirstPage = () => calls.push("first page");
    renderInApp(
      <FilesEmpty query={{ ...query, offset }} hasFiles={offset > 0} canChange={canChange} onFirstPage={onFirstPage} {...handlers} />,
    );
    return calls;
  }

  test("links to the first page when the current page is past the end", async () => {
    const calls = renderEmpty("/", true, 500);
    expect(screen.getByText("No files on this page")).toBeTruthy();
    await press("Go to first page");
    expect(calls).toEqual(["first page"]);
  });

  test("offers the first upload in a folder that does not exist", async () => {
    const calls = renderEmpty("new/", true);
    expect(screen.getByText(/Empty folders are not stored/)).toBeTruthy();
    await press("Upload files");
    chooseFiles("first.txt");
    expect(calls).toEqual(["first.txt"]);
  });

  test("shows no drop area to read-only members and links to existing files", async () => {
    const calls = renderEmpty("/", false);
    expect(screen.queryByText(/Drop/)).toBeNull();
    await press("Open workflows/");
    expect(calls).toEqual(["workflows/"]);
  });
});
