// @vitest-environment jsdom
// How the editor opens, and its messages when it does not.
import { act, fireEvent, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { emptyCoverage } from "@/components/mask/drawing/coverage";
import { type OpenRefusal } from "@/components/mask/file/open-mask";
import { failed, ok } from "@/lib/shared/result";
import { click, drawing, prepareEditorPage, show, size } from "./editor-page";

prepareEditorPage();

describe("opening", () => {
  const refusing = (refusal: OpenRefusal) => show({ open: async () => failed(refusal) });

  it.each<[OpenRefusal, RegExp]>([
    [{ kind: "too-large", why: { reason: "bytes", bytes: 60_000_000 } }, /^hero.png is 60 MB. The limit for masks is 52.4 MB.$/],
    [{ kind: "too-large", why: { reason: "edge", width: 17000, height: 2 } }, /is 17,000 × 2. The limit is 16,384 pixels per side/],
    [{ kind: "too-large", why: { reason: "pixels", width: 9000, height: 9000 } }, /is 9,000 × 9,000, 81 megapixels. The limit is 67/],
    [{ kind: "not-picture" }, /Masks can be drawn on PNG/],
    [{ kind: "other-file", bytes: 1500, wanted: 2500 }, /It is 1.5 kB, but the one on the service is 2.5 kB/],
    [{ kind: "broken" }, /cannot read hero.png/],
    [{ kind: "unknown-size" }, /neither the file nor its size/],
  ])("says why not: %o", async (refusal, sentence) => {
    refusing(refusal);
    expect(await screen.findByText(sentence)).toBeTruthy();
    expect(screen.queryByRole("application")).toBeNull();
  });

  it("of what the service does not hand out goes on with the same file from this computer; of an outage it does not", async () => {
    const lacking = { code: "NOT_IMPLEMENTED", message: "", status: 501 };
    const { unmount } = refusing({ kind: "failed", failure: { ...lacking, code: "SERVICE_UNAVAILABLE", status: 503 } });
    await screen.findByRole("alert");
    expect(screen.queryByRole("button", { name: "Open it from this computer" })).toBeNull();
    unmount();
    show({
      open: async (_, { file }) =>
        file?.name === "hero.png"
          ? ok({ coverage: emptyCoverage(size), earlier: "none", refs: [{ filename: "blake3:ab" }], isPreview: false, lacksFile: true })
          : failed({ kind: "failed", failure: lacking }),
    });
    expect(await screen.findByRole("button", { name: "Open it from this computer" })).toBeTruthy();
    fireEvent.change(screen.getByTestId("mask-original"), { target: { files: [new File(["x"], "hero.png")] } });
    await drawing();
  });

  it("that fails is tried again by hand", async () => {
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

  it("tells how far it is, and that a preview is only one", async () => {
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
    expect(await screen.findByText(/you see its preview. The mask is saved in the original size/)).toBeTruthy();
  });
});
