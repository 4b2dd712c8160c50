import { fireEvent, screen, waitFor } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { RunScreen } from "@/components/run/run-screen";
import { createRunStore } from "@/components/run/run-store";
import { type RunSource } from "@/components/run/workflow/run-sources";
import { ok } from "@/lib/shared/result";
import { renderPage } from "./render";
import { createApi, createByteSource, getField } from "./run-page";
import { readSampleText } from "./workflow-fixtures";

let savedPaths: string[] = [];
beforeEach(() => {
  savedPaths = [];
  window.history.replaceState(null, "", "/run?file=x");
  // Replaces the service that this page calls.
  vi.stubGlobal("fetch", async (path: string) => {
    if (!path.startsWith("/api/userdata/")) return Response.json({ code: "NOT_FOUND" }, { status: 404 });
    savedPaths.push(path);
    return Response.json({ path: "x" });
  });
});

function renderRunPage(source?: RunSource) {
  const ports = createApi(undefined, { readStored: async () => ok(createByteSource(readSampleText("01-invert"))) });
  return renderPage(
    <ConnectionProvider currentId="c1" connections={[{ id: "c1", name: "One", embedded: true }]}>
      <RunScreen canRun memberId="ada" source={source} store={createRunStore()} api={ports} />
    </ConnectionProvider>,
  );
}
const getSaveButtons = () => screen.getAllByRole("button", { name: "Save" });
const openSaveDialog = async () => fireEvent.click((await screen.findAllByRole("button", { name: "Save" }))[0] ?? document.body);
const pressSave = () => fireEvent.click(getSaveButtons()[1] ?? document.body);
const waitForDialogToClose = () => waitFor(() => expect(screen.queryByRole("textbox", { name: "Name" })).toBeNull());

it("saves a stored workflow to its exact path, also after a reload", async () => {
  const page = renderRunPage({ file: "workflows/client A/日本 100% #1.json" });
  await openSaveDialog();
  expect(getField("Name").value).toBe("client A/日本 100% #1");
  pressSave();
  await waitForDialogToClose();
  expect(savedPaths[0]).toContain(`/api/userdata/${encodeURIComponent("workflows/client A/日本 100% #1.json")}?overwrite=false`);
  window.dispatchEvent(new Event("pagehide"));
  page.unmount();
  renderRunPage();
  await openSaveDialog();
  expect(getField("Name").value).toBe("client A/日本 100% #1");
});

it("shows a saved sample's filename and no longer marks it as edited", async () => {
  renderRunPage({ sample: "01-invert" });
  await screen.findAllByRole("button", { name: "Run" });
  fireEvent.change(getField("width"), { target: { value: "640" } });
  expect(screen.getByText(/edited/)).toBeTruthy();
  await openSaveDialog();
  fireEvent.change(getField("Name"), { target: { value: "team/inv2" } });
  pressSave();
  await waitForDialogToClose();
  expect(screen.getByRole("heading", { level: 1 }).textContent).toContain("inv2");
  expect(screen.queryByText(/edited/)).toBeNull();
  await openSaveDialog();
  expect(getField("Name").value).toBe("team/inv2");
});
