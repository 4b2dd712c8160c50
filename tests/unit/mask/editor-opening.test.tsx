// How the editor opens, and its messages when it does not.
import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { emptyCoverage } from "@/components/mask/drawing/coverage";
import { createSession, storeSession, takeSession } from "@/components/mask/file/mask-session";
import { type OpenRefusal } from "@/components/mask/file/open-mask";
import { allowLeaving } from "@/components/ui/hooks/page-events";
import { failed, ok } from "@/lib/shared/result";
import { click, drawing, prepareEditorPage, press, show, size } from "./editor-page";

describe("editor opening", () => {
  prepareEditorPage();

  describe("opening", () => {
    const refusing = (refusal: OpenRefusal) => show({ open: async () => failed(refusal) });

    it.each<[OpenRefusal, RegExp]>([
      [{ kind: "too-large", why: { reason: "bytes", bytes: 60_000_000 } }, /^hero.png is 60 MB. The limit for masks is 52.4 MB.$/],
      [{ kind: "too-large", why: { reason: "edge", width: 17000, height: 2 } }, /is 17,000 × 2. The limit is 16,384 pixels per side/],
      [{ kind: "too-large", why: { reason: "pixels", width: 9000, height: 9000 } }, /is 9,000 × 9,000, 81 megapixels. The limit is 67/],
      [{ kind: "not-picture" }, /Masks can be drawn on PNG/],
      [{ kind: "other-file", bytes: 1500, expectedBytes: 2500 }, /It is 1.5 kB, but the one on the service is 2.5 kB/],
      [{ kind: "broken" }, /cannot read hero.png/],
      [{ kind: "unknown-size" }, /neither the file nor its size/],
    ])("explains why not: %o", async (refusal, sentence) => {
      refusing(refusal);
      expect(await screen.findByText(sentence)).toBeTruthy();
      expect(screen.queryByRole("application")).toBeNull();
    });

    it("continues with the local file when reading is unsupported, not in an outage", async () => {
      const lacking = { code: "NOT_IMPLEMENTED", message: "", status: 501 };
      const { unmount } = refusing({ kind: "failed", failure: { ...lacking, code: "SERVICE_UNAVAILABLE", status: 503 } });
      await screen.findByRole("alert");
      expect(screen.queryByRole("button", { name: "Open local file" })).toBeNull();
      unmount();
      show({
        open: async (_, { file }) =>
          file?.name === "hero.png"
            ? ok({ coverage: emptyCoverage(size), earlier: "none", refs: [{ filename: "blake3:ab" }], isPreview: false, lacksFile: true })
            : failed({ kind: "failed", failure: lacking }),
      });
      expect(await screen.findByRole("button", { name: "Open local file" })).toBeTruthy();
      fireEvent.change(screen.getByTestId("mask-original"), { target: { files: [new File(["x"], "hero.png")] } });
      await drawing();
    });

    it("retries by hand after a failure", async () => {
      let tries = 0;
      show({
        open: async () => {
          tries += 1;
          return tries === 1
            ? failed({ kind: "failed", failure: { code: "UPSTREAM_UNREACHABLE", message: "", status: 502 } })
            : ok({ coverage: emptyCoverage(size), earlier: "unread", refs: [], isPreview: false });
        },
      });
      await screen.findByRole("alert");
      await click("Try again");
      await drawing();
      expect(screen.getByText(/The earlier mask could not be loaded/)).toBeTruthy();
    });

    it("shows progress and marks a preview as such", async () => {
      let arrive = () => undefined as void;
      show({
        open: async (_, { onProgress }) => {
          onProgress?.(0.25);
          await new Promise<void>((resolve) => (arrive = resolve));
          return ok({ coverage: emptyCoverage(size), earlier: "none", refs: [], isPreview: true });
        },
      });
      expect(await screen.findByText("Loading the picture: 25%")).toBeTruthy();
      await act(async () => arrive());
      expect(await screen.findByText(/the service doesn't provide the file. The mask is saved at full size/)).toBeTruthy();
    });
  });
});

describe("mask session", () => {
  const sessions = ["a", "b", "c", "d"].map((name) => ({
    name,
    session: createSession({ coverage: emptyCoverage({ width: 100, height: 100 }), earlier: "none", refs: [], isPreview: false }),
  }));
  const warns = () => {
    const event = new Event("beforeunload", { cancelable: true });
    window.dispatchEvent(event);
    return event.defaultPrevented;
  };

  afterEach(() => sessions.forEach(({ name }) => takeSession(name)));

  it("keeps drafts that fit, lists dropped ones and warns while any remain", () => {
    const lostPerSession = sessions.slice(0, 3).map((work) => storeSession(work.name, work));
    expect(lostPerSession).toEqual([[], [], []]);
    const [first, , third, last] = sessions;
    if (!first || !third || !last) throw new Error("there are four");
    expect(storeSession(last.name, last, 20_000)).toEqual(["a", "b"]);
    expect(warns()).toBe(true);
    expect([takeSession("a"), takeSession("b"), takeSession("c"), takeSession("d")]).toEqual([
      undefined,
      undefined,
      third.session,
      last.session,
    ]);
    expect(warns()).toBe(false);
  });

  it("keeps the latest of any size", () => {
    const [first, second] = sessions;
    if (!first || !second) throw new Error("there are four");
    expect([storeSession("a", first, 1), storeSession("b", second, 1)]).toEqual([[], ["a"]]);
    expect(takeSession("b")).toBe(second.session);
  });
});

describe("allow leaving", () => {
  prepareEditorPage();
  afterEach(() => allowLeaving(false));

  it("lets a member leave despite an unsaved mask", async () => {
    const asksBeforeLeaving = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
    const { key, unmount } = show();
    await drawing();
    await press("i");
    await waitFor(() => expect(asksBeforeLeaving()).toBe(true));
    allowLeaving(true);
    expect(asksBeforeLeaving()).toBe(false);
    allowLeaving(false);
    unmount();
    expect(asksBeforeLeaving()).toBe(true);
    allowLeaving(true);
    expect(asksBeforeLeaving()).toBe(false);
    takeSession(key);
  });
});
