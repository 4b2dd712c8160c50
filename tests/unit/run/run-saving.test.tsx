import { fireEvent, screen, waitFor } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { RunScreen } from "@/components/run/run-screen";
import { createRunStore } from "@/components/run/run-store";
import { type RunSource } from "@/components/run/workflow/run-sources";
import { ok } from "@/lib/shared/result";
import { sampleText } from "./files";
import { createApi, createByteSource, field } from "./page";
import { renderPage } from "./render";

let savedNames: string[] = [];
beforeEach(() => {
  savedNames = [];
  window.history.replaceState(null, "", "/run?file=x");
  // Replaces the service that this page calls.
  vi.stubGlobal("fetch", async (path: string) => {
    if (!path.startsWith("/api/userdata/")) return Response.json({ code: "NOT_FOUND" }, { status: 404 });
    savedNames.push(path);
    return Response.json({ path: "x" });
  });
});

function renderRunPage(source?: RunSource) {
  const ports = createApi(undefined, { readStored: async () => ok(createByteSource(sampleText("01-invert"))) });
  return renderPage(
    <ConnectionProvider currentId="c1" connections={[{ id: "c1", name: "One", embedded: true }]}>
      <RunScreen canRun memberId="ada" source={source} store={createRunStore()} api={ports} />
    </ConnectionProvider>,
  );
}
const saveButtons = () => screen.getAllByRole("button", { name: "Save" });
const askSave = async () => fireEvent.click((await screen.findAllByRole("button", { name: "Save" }))[0] ?? document.body);
const pressSave = () => fireEvent.click(saveButtons()[1] ?? document.body);
const isClosed = () => waitFor(() => expect(screen.queryByRole("textbox", { name: "Name" })).toBeNull());

it("saves a stored workflow to its exact path, also after a reload", async () => {
  const page = renderRunPage({ file: "workflows/client A/日本 100% #1.json" });
  await askSave();
  expect(field("Name").value).toBe("client A/日本 100% #1");
  pressSave();
  await isClosed();
  expect(savedNames[0]).toContain(`/api/userdata/${encodeURIComponent("workflows/client A/日本 100% #1.json")}?overwrite=false`);
  window.dispatchEvent(new Event("pagehide"));
  page.unmount();
  renderRunPage();
  await askSave();
  expect(field("Name").value).toBe("client A/日本 100% #1");
});

it("uses a saved sample's filename and clears its changed mark", async () => {
  renderRunPage({ sample: "01-invert" });
  await screen.findAllByRole("button", { name: "Run" });
  fireEvent.change(field("width"), { target: { value: "640" } });
  expect(screen.getByText(/edited/)).toBeTruthy();
  await askSave();
  fireEvent.change(field("Name"), { target: { value: "team/inv2" } });
  pressSave();
  await isClosed();
  expect(screen.getByRole("heading", { level: 1 }).textContent).toContain("inv2");
  expect(screen.queryByText(/edited/)).toBeNull();
  await askSave();
  expect(field("Name").value).toBe("team/inv2");
});
