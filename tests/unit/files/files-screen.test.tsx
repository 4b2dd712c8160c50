// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { Suspense } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FilesScreen } from "@/components/files/files-screen";
import { filesParams, toFilesView } from "@/components/files/files-view";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { readAddress } from "@/lib/contract/params";
import { ok } from "@/lib/shared/result";
import { AtPage, plainRouter } from "@/tests/support/at-page";
import { standInForDialogs } from "@/tests/support/jsdom-parts";
import { renderInApp } from "../components/render";

const usualQuery = readAddress(filesParams, new URLSearchParams()).query;

let reads: boolean;
let pushed: string[];
beforeEach(() => {
  pushed = [];
  vi.stubGlobal("fetch", async (path: string) =>
    path.includes("/capabilities")
      ? Response.json({ "userdata.read": reads, "userdata.delete": reads, "userdata.move": reads })
      : Response.json([]),
  );
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => undefined, removeEventListener: () => undefined }));
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

async function show(id: string) {
  const files = Promise.resolve(
    ok({ value: toFilesView([{ path: "a.json", size: 2, modified: 1_767_225_600_000 }], usualQuery), atMs: Date.now() }),
  );
  await act(async () => {
    renderInApp(
      <AtPage router={plainRouter((href) => void pushed.push(href))}>
        <ConnectionProvider currentId={id} connections={[{ id, name: "Studio", embedded: false }]}>
          <Suspense>
            <FilesScreen canChange query={usualQuery} files={files} />
          </Suspense>
        </ConnectionProvider>
      </AtPage>,
    );
  });
}

test("files are chosen where they can be deleted, and where the service does nothing with them there is nothing to choose", async () => {
  reads = true;
  await show("whole");
  expect(screen.getAllByRole("checkbox")).toHaveLength(2);
  cleanup();
  reads = false;
  await show("core");
  await waitFor(() => expect(screen.queryAllByRole("checkbox")).toEqual([]));
  expect(screen.getByRole("link", { name: "a.json" })).toBeTruthy();
});

test("Enter in New folder opens it, and the list shows it from then on, without a box to delete it", async () => {
  reads = true;
  standInForDialogs();
  await show("making");
  await act(async () => void fireEvent.click(screen.getByRole("button", { name: "New folder" })));
  const name = screen.getByRole("textbox", { name: "Name", hidden: true });
  await act(async () => void fireEvent.change(name, { target: { value: "drafts" } }));
  await act(async () => void fireEvent.submit(name));
  expect(pushed.map((href) => new URL(href, "http://desk.test").searchParams.get("dir"))).toEqual(["drafts/"]);
  expect(screen.getByTitle("drafts/").getAttribute("href")).toBe("/files?dir=drafts%2F");
  expect(screen.getByText("empty, kept with its first file")).toBeTruthy();
  expect(screen.queryByRole("checkbox", { name: "Select drafts" })).toBeNull();
  cleanup();
  await show("other");
  expect(screen.queryByTitle("drafts/")).toBeNull();
});
