// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { AssetPreview } from "@/components/assets/detail/asset-preview";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { standInForSizes } from "@/tests/support/jsdom-parts";
import { renderInApp } from "../components/render";

beforeEach(standInForSizes);
afterEach(cleanup);
afterEach(() => vi.unstubAllGlobals());

let connections = 0;
function show(name: string, kind: AssetView["kind"], { files = true } = {}) {
  vi.stubGlobal("fetch", async (input: string) => {
    if (input.includes("/capabilities")) return Response.json({ "tags.list": files });
    return files ? new Response("some words") : Response.json({ code: "NOT_FOUND", message: "Not Found" }, { status: 404 });
  });
  const asset: AssetView = { id: "a", name, kind, tags: [], immutable: false, metadata: {}, sizeBytes: 10, hash: "blake3:00" };
  renderInApp(<AssetPreview asset={asset} connectionId={`c${++connections}`} isLarge />);
}

it("a text is read; where the service hands out no files it is named with its size, and nobody is told that it does not exist", async () => {
  show("note.txt", "text");
  expect(await screen.findByText("some words")).toBeDefined();
  cleanup();
  show("note.txt", "text", { files: false });
  expect(await screen.findByText("10 bytes", {}, { timeout: 10_000 })).toBeDefined();
  await waitFor(() => expect(screen.queryByRole("alert")).toBeNull());
});

it.each(["video", "audio"] as const)(
  "a player of %s gives way to a sentence where it cannot play, also where it failed before the page was alive",
  async (kind) => {
    show(`it.${kind}`, kind);
    const player = () => document.querySelector<HTMLMediaElement>(kind);
    expect(player()?.preload).toBe("metadata");
    fireEvent.error(player() ?? document.body);
    expect(screen.getByText(/^This cannot be played here/)).toBeDefined();
    expect(player()).toBeNull();
    cleanup();
    // jsdom plays no media and so reports no error.
    Object.defineProperty(HTMLMediaElement.prototype, "error", { configurable: true, value: { code: 4 } });
    show(`it.${kind}`, kind);
    Reflect.deleteProperty(HTMLMediaElement.prototype, "error");
    expect(screen.getByText(/^This cannot be played here/)).toBeDefined();
  },
);
