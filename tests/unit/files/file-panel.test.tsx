// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FilePanel } from "@/components/files/file-panel";
import { Trail } from "@/components/files/files-tool-bar";
import { crumbsOf, type FileRow } from "@/components/files/files-view";
import { inApp, renderInApp } from "../components/render";

let asked: string[];
let stored: string | undefined;
beforeEach(() => {
  asked = [];
  stored = undefined;
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path);
    if (stored !== undefined) return new Response(stored);
    return Response.json({ code: "NOT_FOUND", message: "", request_id: "r" }, { status: 404 });
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const abilities = { has: () => true, isRefused: () => false, isAsking: false, failure: undefined };
const panelOf = (path: string, row?: FileRow) => (
  <FilePanel
    path={path}
    row={row}
    connection="c"
    linked={undefined}
    canChange
    abilities={abilities}
    onClose={() => undefined}
    onRemove={() => undefined}
    onMoved={() => undefined}
  />
);
const acts = () => screen.queryAllByRole("button").map(({ textContent }) => textContent);

test("a file that is gone says so and offers nothing that could be done with it", async () => {
  renderInApp(panelOf("gone.json"));
  expect(await screen.findByText("The file no longer exists.")).toBeTruthy();
  expect(acts()).not.toContain("Delete");
  expect(screen.queryByText("Open in Run")).toBeNull();
  expect(screen.queryByText("Download")).toBeNull();
});

test("a file without a byte is empty without being asked for", () => {
  renderInApp(panelOf("empty.txt", { kind: "file", path: "empty.txt", name: "empty.txt", bytes: 0, modifiedMs: 1, files: 1 }));
  expect(screen.getByText("The file is empty.")).toBeTruthy();
  expect([asked, acts().includes("Delete")]).toEqual([[], true]);
});

test("what somebody else wrote is read anew, and what they took away is gone", async () => {
  const row = { kind: "file", path: "a.json", name: "a.json", bytes: 2, modifiedMs: 1, files: 1 } as const;
  stored = "{}";
  const { rerender } = renderInApp(panelOf("a.json", row));
  expect(await screen.findByText("{}")).toBeTruthy();
  stored = "[]";
  rerender(inApp(panelOf("a.json", { ...row, modifiedMs: 2 })));
  expect(await screen.findByText("[]")).toBeTruthy();
  stored = undefined;
  rerender(inApp(panelOf("a.json")));
  expect(await screen.findByText("The file no longer exists.")).toBeTruthy();
  expect(acts()).not.toContain("Delete");
});

test("of a deep folder the last two are named, and the rest by one press", () => {
  const deep = `${Array.from({ length: 40 }, (_, at) => `d${at}`).join("/")}/`;
  const { container } = renderInApp(<Trail title="Files" crumbs={crumbsOf(deep)} hrefOf={(dir) => `/files?dir=${dir}`} />);
  expect(container.textContent).toBe("Files/…/d38/d39");
  act(() => void fireEvent.click(screen.getByRole("button", { name: "Show 38 more folders" })));
  expect(within(container).getAllByRole("link")).toHaveLength(40);
  expect(container.textContent).toContain("d37/d38/d39");
  // The button is gone, so the focus moves to the first folder that appeared.
  expect(document.activeElement?.textContent).toBe("d0");
});
