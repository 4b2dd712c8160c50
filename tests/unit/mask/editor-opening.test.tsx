// Opening the mask editor, and its messages when opening fails.
import { act, fireEvent, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { createCoverage } from "@/components/mask/drawing/coverage";
import { createSession, removeSession, storeSession } from "@/components/mask/file/mask-session";
import { type OpenError } from "@/components/mask/file/open-mask";
import { failed } from "@/lib/shared/result";
import { clickButton, createOpenResult, prepareEditorPage, renderEditor, waitForCanvas } from "./editor-page";

prepareEditorPage();

describe("opening", () => {
  const renderWithFailure = (refusal: OpenError) => renderEditor({ open: async () => failed(refusal) });

  it.each<[OpenError, RegExp]>([
    [{ kind: "too-large", why: { reason: "bytes", bytes: 60_000_000 } }, /^hero.png is 60 MB. The limit for masks is 52.4 MB.$/],
    [{ kind: "too-large", why: { reason: "edge", width: 17000, height: 2 } }, /is 17,000 × 2. The limit is 16,384 pixels per side/],
    [{ kind: "too-large", why: { reason: "pixels", width: 9000, height: 9000 } }, /is 9,000 × 9,000, 81 megapixels. The limit is 67/],
    [{ kind: "not-picture" }, /You can draw masks on PNG/],
    [{ kind: "other-file", bytes: 1500, expectedBytes: 2500 }, /It is 1.5 kB, but the one on the service is 2.5 kB/],
    [{ kind: "broken" }, /can't read hero.png/],
    [{ kind: "unknown-size" }, /neither the file nor its size/],
  ])("explains the failure %o", async (refusal, message) => {
    renderWithFailure(refusal);
    expect(await screen.findByText(message)).toBeTruthy();
    expect(screen.queryByRole("application")).toBeNull();
  });

  it("offers a local file when reading is unsupported, but not in an outage", async () => {
    const notImplemented = { code: "NOT_IMPLEMENTED", message: "", status: 501 };
    const { unmount } = renderWithFailure({ kind: "failed", failure: { ...notImplemented, code: "SERVICE_UNAVAILABLE", status: 503 } });
    await screen.findByRole("alert");
    expect(screen.queryByRole("button", { name: "Open local file" })).toBeNull();
    unmount();
    renderEditor({
      open: async (_, { file }) =>
        file?.name === "hero.png" ? createOpenResult({ lacksFile: true }) : failed({ kind: "failed", failure: notImplemented }),
    });
    expect(await screen.findByRole("button", { name: "Open local file" })).toBeTruthy();
    fireEvent.change(screen.getByTestId("mask-original"), { target: { files: [new File(["x"], "hero.png")] } });
    await waitForCanvas();
  });

  it("retries on click after a failure", async () => {
    let attempts = 0;
    renderEditor({
      open: async () => {
        attempts += 1;
        return attempts === 1
          ? failed({ kind: "failed", failure: { code: "UPSTREAM_UNREACHABLE", message: "", status: 502 } })
          : createOpenResult({ earlier: "unread" });
      },
    });
    await screen.findByRole("alert");
    await clickButton("Try again");
    await waitForCanvas();
    expect(screen.getByText(/Couldn't load the earlier mask/)).toBeTruthy();
  });

  it("shows progress and labels a preview", async () => {
    let finishLoading = () => undefined as void;
    renderEditor({
      open: async (_, { onProgress }) => {
        onProgress?.(0.25);
        await new Promise<void>((resolve) => (finishLoading = resolve));
        return createOpenResult({ isPreview: true });
      },
    });
    expect(await screen.findByText("Loading the image: 25%")).toBeTruthy();
    await act(async () => finishLoading());
    expect(await screen.findByText(/the service doesn't provide the file. The mask is saved at full size/)).toBeTruthy();
  });
});

describe("mask session", () => {
  const sessions = ["a", "b", "c", "d"].map((name) => ({
    name,
    session: createSession({ coverage: createCoverage({ width: 100, height: 100 }), earlier: "none", refs: [], isPreview: false }),
  }));
  const isUnloadBlocked = () => {
    const event = new Event("beforeunload", { cancelable: true });
    window.dispatchEvent(event);
    return event.defaultPrevented;
  };

  afterEach(() => sessions.forEach(({ name }) => removeSession(name)));

  it("keeps drafts that fit, lists dropped ones and warns while any remain", () => {
    const lostPerSession = sessions.slice(0, 3).map((work) => storeSession(work.name, work));
    expect(lostPerSession).toEqual([[], [], []]);
    const [first, , third, last] = sessions;
    if (!first || !third || !last) throw new Error("expected four sessions");
    expect(storeSession(last.name, last, 20_000)).toEqual(["a", "b"]);
    expect(isUnloadBlocked()).toBe(true);
    expect([removeSession("a"), removeSession("b"), removeSession("c"), removeSession("d")]).toEqual([
      undefined,
      undefined,
      third.session,
      last.session,
    ]);
    expect(isUnloadBlocked()).toBe(false);
  });

  it("keeps the latest draft of any size", () => {
    const [first, second] = sessions;
    if (!first || !second) throw new Error("expected four sessions");
    expect([storeSession("a", first, 1), storeSession("b", second, 1)]).toEqual([[], ["a"]]);
    expect(removeSession("b")).toBe(second.session);
  });
});
