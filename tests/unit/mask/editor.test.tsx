// @vitest-environment jsdom
// The editor as people use it: keys, pointer, numbers, saving, leaving. jsdom draws nothing, so the saved PNG says what was drawn.
import { act, cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import sharp from "sharp";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { emptyCoverage } from "@/components/mask/drawing/coverage";
import { encodeMask } from "@/components/mask/file/encode-png";
import { takeWork } from "@/components/mask/file/kept-work";
import { type MaskSource } from "@/components/mask/file/mask-source";
import { type OpenMask, type OpenRefusal } from "@/components/mask/file/open-mask";
import { type SavePorts } from "@/components/mask/file/save-mask";
import { MaskOpening } from "@/components/mask/mask-opening";
import { failed, ok } from "@/lib/shared/result";
import { renderPage } from "@/tests/unit/run/render";

const size = { width: 400, height: 300 };
let lastKey = 0;

beforeEach(() => {
  // A frame of twice the picture's size and its margins: one step of the cursor is four pixels.
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(size.width * 2 + 32);
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(size.height * 2 + 32);
  vi.stubGlobal("PointerEvent", TestPointerEvent);
  HTMLDialogElement.prototype.showModal = function showModal() {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function close() {
    this.open = false;
  };
});
afterEach(() => {
  cleanup();
  // What a test left unsaved is kept in the tab; the next one begins without.
  for (let key = 1; key <= lastKey; key += 1) takeWork(`test ${key}`);
});

/** jsdom has none. */
class TestPointerEvent extends MouseEvent {
  readonly pointerId: number;
  readonly pointerType: string;
  readonly pressure: number;
  constructor(type: string, { pointerId = 0, pointerType = "mouse", pressure = 0.5, ...rest }: PointerEventInit) {
    super(type, rest);
    this.pressure = pressure;
    this.pointerId = pointerId;
    this.pointerType = pointerType;
  }
}

type Shown = { canSave?: boolean; key?: string; open?: OpenMask; send?: SavePorts["send"]; onKept?: () => void };

function show({ canSave = true, key = `test ${(lastKey += 1)}`, open, send, onKept }: Shown = {}) {
  const sent: { file: Blob; name: string }[] = [];
  const source: MaskSource = { key, title: "hero.png", files: [{ filename: "blake3:ab" }], known: {} };
  const opens: OpenMask = async () =>
    ok({ coverage: emptyCoverage(size), earlier: "none", refs: [{ filename: "blake3:ab" }], isPreview: false });
  const sends: SavePorts["send"] = async (file, { filename }, options) => {
    sent.push({ file, name: filename });
    return send ? send(file, { filename }, options) : ok({ name: "cd.png", display_name: "hero-masked.png" });
  };
  const page = (
    <MaskOpening source={source} open={open ?? opens} ports={{ encode: encodeMask, send: sends }} canSave={canSave} onKept={onKept} />
  );
  return { sent, key, ...renderPage(page) };
}

/** It has the focus once it hears keys. */
const drawing = async () => {
  const canvas = await screen.findByRole("application", { name: "Mask of hero.png" });
  await waitFor(() => expect(document.activeElement).toBe(canvas));
  return canvas;
};
const press = (key: string, more: object = {}) =>
  act(async () => void fireEvent.keyDown(document.activeElement ?? document.body, { key, ...more }));
const click = async (name: string | RegExp) => {
  // A step that takes longer than a slice keeps the buttons from a second one meanwhile.
  await waitFor(() => expect(screen.queryByText("Working…")).toBeNull());
  const button = await screen.findByRole("button", { name });
  await act(async () => void fireEvent.click(button));
};
const save = () => click("Save mask");

/** jsdom's blobs are read the old way only. */
const bytesOf = (file: Blob) =>
  new Promise<ArrayBuffer>((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result instanceof ArrayBuffer ? reader.result : new ArrayBuffer(0));
    reader.readAsArrayBuffer(file);
  });

/** Alpha at places of the last file that was sent. */
async function alpha(sent: readonly { file: Blob }[], ...places: [number, number][]): Promise<number[]> {
  await waitFor(() => expect(sent).not.toHaveLength(0));
  const bytes = Buffer.from(await bytesOf(sent.at(-1)?.file ?? new Blob()));
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
  expect([info.width, info.height]).toEqual([400, 300]);
  return places.map(([x, y]) => data[(y * info.width + x) * 4 + 3] ?? -1);
}

describe("drawing", () => {
  it("with keys alone begins in the middle of what is seen, and reaches pixels by steps, leaps and one by one", async () => {
    const { sent } = show();
    await drawing();
    await press("r");
    await press("ArrowRight");
    expect(screen.getByText("204, 150")).toBeTruthy();
    await press("Enter");
    await press("ArrowDown", { shiftKey: true });
    await press("ArrowRight", { altKey: true });
    expect(screen.getByText("205, 182")).toBeTruthy();
    await press("Enter");
    await save();
    expect(await alpha(sent, [204, 150], [205, 182], [203, 150], [206, 182], [205, 183])).toEqual([0, 0, 255, 255, 255]);
  });

  it("goes on while Space is held, and Escape takes it back", async () => {
    const { sent } = show();
    await drawing();
    await press("ArrowLeft");
    await press(" ");
    await press("ArrowLeft", { shiftKey: true });
    fireEvent.keyUp(document.body, { key: " " });
    expect(screen.getByRole("button", { name: "Undo: brush stroke (Ctrl Z)" })).toBeTruthy();
    await press("ArrowDown", { shiftKey: true });
    await press("ArrowDown", { shiftKey: true });
    await press("Enter");
    await press("ArrowRight", { shiftKey: true });
    await press("Escape");
    await save();
    expect(await alpha(sent, [196, 150], [164, 150], [180, 150], [190, 214])).toEqual([0, 0, 0, 255]);
  });

  it("with a pointer follows it from press to release, and a finger's second contact takes the stroke back", async () => {
    const { sent } = show();
    const canvas = await drawing();
    // A pixel of the picture is two of the screen, and it stands 16 from the edge.
    const at = (x: number, y: number) => ({ clientX: 16 + x * 2, clientY: 16 + y * 2, pointerId: 1, button: 0 });
    fireEvent.pointerDown(canvas, at(50, 60));
    fireEvent.pointerMove(canvas, at(120, 60));
    fireEvent.pointerUp(canvas, at(120, 60));
    fireEvent.pointerDown(canvas, { ...at(300, 200), pointerType: "touch", pointerId: 5 });
    fireEvent.pointerDown(canvas, { ...at(350, 200), pointerType: "touch", pointerId: 6 });
    await save();
    expect(await alpha(sent, [50, 60], [85, 60], [120, 60], [300, 200], [350, 200])).toEqual([0, 0, 0, 255, 255]);
  });

  it("is as thick as the pen presses, not so with a mouse or where that is switched off; a pen's other end erases", async () => {
    const { sent } = show();
    const canvas = await drawing();
    for (const _ of [1, 2]) await press("}");
    const dab = (x: number, y: number, more: object) => {
      const where = { clientX: 16 + x * 2, clientY: 16 + y * 2, pointerId: 1, button: 0, ...more };
      fireEvent.pointerDown(canvas, where);
      fireEvent.pointerUp(canvas, where);
    };
    // The brush is 17 pixels wide.
    dab(50, 50, { pointerType: "pen", pressure: 0.5 });
    dab(100, 50, { pressure: 0.5 });
    fireEvent.click(screen.getByRole("checkbox", { name: "Pen pressure changes the size" }));
    dab(150, 50, { pointerType: "pen", pressure: 0.1 });
    dab(150, 50, { pointerType: "pen", pressure: 0.1, button: 5 });
    dab(200, 50, { pointerType: "pen", pressure: 0.1 });
    await save();
    expect(await alpha(sent, [50, 50], [56, 50], [100, 50], [106, 50], [150, 50], [206, 50])).toEqual([0, 255, 0, 0, 255, 0]);
  });

  it("by numbers, inverted, undone and redone", async () => {
    const { sent } = show();
    await drawing();
    for (const [name, value] of Object.entries({ Left: "10", Top: "20", Width: "30", Height: "9000" }))
      fireEvent.change(screen.getByRole("spinbutton", { name }), { target: { value } });
    await click("Paint it");
    await click(/^Invert/);
    await click(/^Undo: invert/);
    await click(/^Redo: invert/);
    await save();
    expect(await alpha(sent, [10, 20], [39, 299], [9, 20], [10, 19])).toEqual([255, 255, 0, 0]);
    fireEvent.change(screen.getByRole("spinbutton", { name: "Left" }), { target: { value: "400" } });
    await click("Paint it");
    expect(screen.getByText("This rectangle lies outside the picture.")).toBeTruthy();
  });

  it("takes letters as tools, but not those that are typed into a field; ? lists the editor's own keys", async () => {
    show();
    await drawing();
    const isOn = (name: RegExp) => screen.getByRole("button", { name }).getAttribute("aria-pressed");
    await press("l");
    expect(isOn(/^Lasso/)).toBe("true");
    fireEvent.keyDown(screen.getByRole("spinbutton", { name: "Left" }), { key: "e" });
    expect(isOn(/^Lasso/)).toBe("true");
    await press("x");
    expect(screen.getByRole("button", { name: "Erase" }).getAttribute("aria-pressed")).toBe("true");
    await press("?");
    expect(screen.getByRole("dialog", { name: "Keys of the mask editor" })).toBeTruthy();
    await press("b");
    expect(isOn(/^Lasso/)).toBe("true");
  });
});

describe("saving", () => {
  it("says what the result is called, and that nothing is unsaved any more", async () => {
    const { sent } = show();
    await drawing();
    await press("i");
    expect(await screen.findByText("Not saved")).toBeTruthy();
    await save();
    expect(await screen.findByText("Saved as hero-masked.png")).toBeTruthy();
    expect(await screen.findByText("Saved")).toBeTruthy();
    expect(sent.map(({ name }) => name)).toEqual(["blake3:ab"]);
    await press("z", { ctrlKey: true });
    expect(await screen.findByText("Not saved")).toBeTruthy();
  });

  it("that fails keeps the drawing and is tried again by hand", async () => {
    let isUp = false;
    const { sent } = show({
      send: async () => (isUp ? ok({ name: "cd.png" }) : failed({ code: "CONSOLE_UNREACHABLE", message: "", status: 0 })),
    });
    await drawing();
    await press("i");
    await save();
    expect(await screen.findByText("The mask was not saved. Your drawing is still here.")).toBeTruthy();
    expect(await screen.findByText("Not saved")).toBeTruthy();
    isUp = true;
    await click("Save again");
    expect(await screen.findByText("Saved as cd.png")).toBeTruthy();
    expect(await alpha(sent, [5, 5])).toEqual([0]);
    expect(sent).toHaveLength(2);
  });

  it("is not offered to who may only look", async () => {
    const { sent } = show({ canSave: false });
    await drawing();
    expect(screen.getByText("Your role may look and try, but not save.")).toBeTruthy();
    await press("s", { ctrlKey: true });
    for (const name of ["Save mask", "Stop"]) expect(screen.queryByRole("button", { name })).toBeNull();
    expect(sent).toEqual([]);
  });
});

describe("leaving", () => {
  const asksBeforeLeaving = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));

  it("with something unsaved warns before the tab closes, and keeps the drawing with its history for the way back", async () => {
    const onKept = vi.fn();
    const { key, unmount } = show({ onKept });
    await drawing();
    expect(asksBeforeLeaving()).toBe(false);
    await press("i");
    await waitFor(() => expect(asksBeforeLeaving()).toBe(true));
    unmount();
    expect(onKept).toHaveBeenCalledOnce();
    expect(asksBeforeLeaving()).toBe(true);
    show({ key });
    expect(await screen.findByText("Your drawing from before is here again.")).toBeTruthy();
    await click(/^Undo: invert/);
    await waitFor(() => expect(asksBeforeLeaving()).toBe(false));
  });

  it("without anything unsaved asks and keeps nothing", async () => {
    const onKept = vi.fn();
    const { unmount } = show({ onKept });
    await drawing();
    unmount();
    expect(onKept).not.toHaveBeenCalled();
    expect(asksBeforeLeaving()).toBe(false);
  });
});

describe("opening", () => {
  const refusing = (refusal: OpenRefusal) => show({ open: async () => failed(refusal) });

  it.each<[OpenRefusal, RegExp]>([
    [
      { kind: "too-large", why: { reason: "bytes", bytes: 60_000_000 } },
      /^hero.png is 60 MB; a mask is drawn over a file of 52.4 MB at most.$/,
    ],
    [{ kind: "too-large", why: { reason: "edge", width: 17000, height: 2 } }, /is 17,000 × 2; an edge has 16,384 pixels at most/],
    [{ kind: "too-large", why: { reason: "pixels", width: 9000, height: 9000 } }, /is 9,000 × 9,000, 81 megapixels; 67 are taken at most/],
    [{ kind: "not-picture" }, /A mask is drawn over a picture made of pixels/],
    [{ kind: "other-file", bytes: 1500, wanted: 2500 }, /It is 1.5 kB, and the one at the service is 2.5 kB/],
    [{ kind: "broken" }, /cannot decode hero.png/],
    [{ kind: "unknown-size" }, /neither the file nor its size/],
  ])("says why not: %o", async (refusal, sentence) => {
    refusing(refusal);
    expect(await screen.findByText(sentence)).toBeTruthy();
    expect(screen.queryByRole("application")).toBeNull();
  });

  it("of what the service does not hand out goes on with the same file from this computer; of an outage it does not", async () => {
    const lacking = { code: "NOT_IMPLEMENTED", message: "", status: 501 };
    const { unmount } = refusing({ kind: "failed", failure: { ...lacking, status: 503 } });
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
    expect(screen.getByText(/There is an earlier mask, but it could not be read/)).toBeTruthy();
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
    expect(await screen.findByText(/you see its preview. The mask has the original's size/)).toBeTruthy();
  });
});
