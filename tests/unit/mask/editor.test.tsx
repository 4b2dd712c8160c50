import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { setLeavingAllowed } from "@/components/ui/hooks/page-events";
import { failed, ok } from "@/lib/shared/result";
import { clickButton, clickSave, prepareEditorPage, pressKey, readAlpha, renderEditor, waitForCanvas } from "./editor-page";

prepareEditorPage();

describe("drawing", () => {
  it("draws by keyboard from the middle of the view with fine and large steps", async () => {
    const { sent } = renderEditor();
    await waitForCanvas();
    await pressKey("r");
    await pressKey("ArrowRight");
    expect(screen.getByText("204, 150")).toBeTruthy();
    await pressKey("Enter");
    await pressKey("ArrowDown", { shiftKey: true });
    await pressKey("ArrowRight", { altKey: true });
    expect(screen.getByText("205, 182")).toBeTruthy();
    await pressKey("Enter");
    await clickSave();
    expect(await readAlpha(sent, [204, 150], [205, 182], [203, 150], [206, 182], [205, 183])).toEqual([0, 0, 255, 255, 255]);
  });

  it("continues a stroke while Space is held and cancels it on Escape", async () => {
    const { sent } = renderEditor();
    await waitForCanvas();
    await pressKey("ArrowLeft");
    await pressKey(" ");
    await pressKey("ArrowLeft", { shiftKey: true });
    fireEvent.keyUp(document.body, { key: " " });
    expect(screen.getByRole("button", { name: "Undo: brush stroke (Ctrl Z)" })).toBeTruthy();
    await pressKey("ArrowDown", { shiftKey: true });
    await pressKey("ArrowDown", { shiftKey: true });
    await pressKey("Enter");
    await pressKey("ArrowRight", { shiftKey: true });
    await pressKey("Escape");
    await clickSave();
    expect(await readAlpha(sent, [196, 150], [164, 150], [180, 150], [190, 214])).toEqual([0, 0, 0, 255]);
  });

  it("follows a pointer and undoes a stroke on a second touch", async () => {
    const { sent } = renderEditor();
    const canvas = await waitForCanvas();
    // An image pixel is two screen pixels wide, and the image starts 16 pixels from the edge.
    const toPointer = (x: number, y: number) => ({ clientX: 16 + x * 2, clientY: 16 + y * 2, pointerId: 1, button: 0 });
    fireEvent.pointerDown(canvas, toPointer(50, 60));
    fireEvent.pointerMove(canvas, toPointer(120, 60));
    fireEvent.pointerUp(canvas, toPointer(120, 60));
    fireEvent.pointerDown(canvas, { ...toPointer(300, 200), pointerType: "touch", pointerId: 5 });
    fireEvent.pointerDown(canvas, { ...toPointer(350, 200), pointerType: "touch", pointerId: 6 });
    await clickSave();
    expect(await readAlpha(sent, [50, 60], [85, 60], [120, 60], [300, 200], [350, 200])).toEqual([0, 0, 0, 255, 255]);
  });

  it("uses pen pressure unless disabled and erases with the pen's eraser end", async () => {
    const { sent } = renderEditor();
    const canvas = await waitForCanvas();
    for (const _ of [1, 2]) await pressKey("}");
    const tapPointer = (x: number, y: number, overrides: object) => {
      const pointer = { clientX: 16 + x * 2, clientY: 16 + y * 2, pointerId: 1, button: 0, ...overrides };
      fireEvent.pointerDown(canvas, pointer);
      fireEvent.pointerUp(canvas, pointer);
    };
    // The brush is 17 pixels wide.
    tapPointer(50, 50, { pointerType: "pen", pressure: 0.5 });
    tapPointer(100, 50, { pressure: 0.5 });
    // A pen that barely touches reports pressure 0.
    tapPointer(250, 50, { pointerType: "pen", pressure: 0 });
    fireEvent.click(screen.getByRole("checkbox", { name: "Pen pressure changes the size" }));
    tapPointer(150, 50, { pointerType: "pen", pressure: 0.1 });
    tapPointer(150, 50, { pointerType: "pen", pressure: 0.1, button: 5 });
    tapPointer(200, 50, { pointerType: "pen", pressure: 0.1 });
    await clickSave();
    expect(await readAlpha(sent, [50, 50], [56, 50], [100, 50], [106, 50], [150, 50], [206, 50], [254, 50])).toEqual([
      0, 255, 0, 0, 255, 0, 255,
    ]);
  });

  it("paints a rectangle from typed whole numbers, inverts, undoes and redoes", async () => {
    const { sent } = renderEditor();
    await waitForCanvas();
    for (const value of ["0.5", ""]) {
      fireEvent.change(screen.getByRole("spinbutton", { name: "Left" }), { target: { value } });
      for (const name of ["Paint rectangle", "Erase rectangle"]) await clickButton(name);
    }
    expect(screen.getByRole("button", { name: /^Undo/ }).getAttribute("aria-disabled")).toBe("true");
    for (const [name, value] of Object.entries({ Left: "10", Top: "20", Width: "30", Height: "9000" }))
      fireEvent.change(screen.getByRole("spinbutton", { name }), { target: { value } });
    await clickButton("Paint rectangle");
    await clickButton(/^Invert/);
    await clickButton(/^Undo: invert/);
    await clickButton(/^Redo: invert/);
    await clickSave();
    expect(await readAlpha(sent, [10, 20], [39, 299], [9, 20], [10, 19])).toEqual([255, 255, 0, 0]);
    fireEvent.change(screen.getByRole("spinbutton", { name: "Left" }), { target: { value: "400" } });
    await clickButton("Paint rectangle");
    expect(screen.getByText("This rectangle is outside the image.")).toBeTruthy();
  });

  it("shows each control's key in its tooltip", async () => {
    renderEditor();
    await waitForCanvas();
    const titles = [
      "Brush (B)|Eraser (E)|Rectangle (R)|Lasso (L)|Fill (G)|Hand (H)|Undo (Ctrl Z)|Redo (Ctrl Y)|Invert (I)|Clear (Del)|Shortcuts (?)",
      "Save mask (Ctrl S)|Show the mask (M)|Zoom out (-)|1:1 (1)|Zoom in (+)|Fit (0)|Size ([ ])|Hardness ({ })|Show as (V)",
    ];
    for (const title of titles.join("|").split("|")) expect(screen.queryAllByTitle(title).length, title).toBeGreaterThan(0);
    await pressKey("r");
    for (const title of ["Paint (X)", "Erase (X)"]) expect(screen.getByTitle(title)).toBeTruthy();
  });

  it("selects tools by letter except in fields and lists the keys on ?", async () => {
    renderEditor();
    await waitForCanvas();
    const getPressedState = (name: RegExp) => screen.getByRole("button", { name }).getAttribute("aria-pressed");
    await pressKey("l");
    expect(getPressedState(/^Lasso/)).toBe("true");
    fireEvent.keyDown(screen.getByRole("spinbutton", { name: "Left" }), { key: "e" });
    expect(getPressedState(/^Lasso/)).toBe("true");
    await pressKey("x");
    expect(screen.getByRole("button", { name: "Erase" }).getAttribute("aria-pressed")).toBe("true");
    await pressKey("?");
    expect(screen.getByRole("dialog", { name: "Mask editor shortcuts" })).toBeTruthy();
    await pressKey("b");
    expect(getPressedState(/^Lasso/)).toBe("true");
  });
});

describe("saving", () => {
  it("keeps a drawing that cannot be copied and saves it on retry", async () => {
    const { sent } = renderEditor();
    await waitForCanvas();
    await pressKey("i");
    const slice = vi.spyOn(Uint8Array.prototype, "slice").mockImplementation(() => {
      throw new RangeError("Array buffer allocation failed");
    });
    await clickSave();
    slice.mockRestore();
    expect(await screen.findByText(/Array buffer allocation failed/)).toBeTruthy();
    await clickButton("Try again");
    expect(await readAlpha(sent, [10, 10])).toEqual([0]);
  });

  it("shows progress as text and the result's name until another change", async () => {
    let reportProgress: ((share: number) => void) | undefined;
    let respond: (() => void) | undefined;
    const { sent } = renderEditor({
      send: (_, __, { onProgress }) => {
        reportProgress = onProgress;
        return new Promise((resolve) => (respond = () => resolve(ok({ name: "cd.png", display_name: "hero-masked.png" }))));
      },
    });
    await waitForCanvas();
    await pressKey("i");
    expect(await screen.findByText("Not saved")).toBeTruthy();
    await clickSave();
    await waitFor(() => expect(reportProgress).toBeTruthy());
    act(() => reportProgress?.(0.5));
    expect(screen.getByText(/^Uploading \d+ bytes of \d+ bytes$/)).toBeTruthy();
    act(() => reportProgress?.(1));
    expect(screen.getAllByText("Storing the mask").length).toBeGreaterThan(0);
    await act(async () => respond?.());
    expect(await screen.findByText("Saved as hero-masked.png")).toBeTruthy();
    expect(await screen.findByText("Saved")).toBeTruthy();
    expect(screen.queryByText(/^Storing/)).toBeNull();
    expect(sent.map(({ name }) => name)).toEqual(["blake3:ab"]);
    await pressKey("z", { ctrlKey: true });
    expect(await screen.findByText("Not saved")).toBeTruthy();
  });

  it("keeps the drawing after a failure and retries on click", async () => {
    let isAvailable = false;
    const { sent } = renderEditor({
      send: async () => (isAvailable ? ok({ name: "cd.png" }) : failed({ code: "CONSOLE_UNREACHABLE", message: "", status: 0 })),
    });
    await waitForCanvas();
    await pressKey("i");
    await clickSave();
    expect(await screen.findByRole("alert")).toBeTruthy();
    await clickButton("Dismiss");
    expect(screen.queryByRole("alert")).toBeNull();
    await clickSave();
    expect(await screen.findByText("The mask was not saved. Your drawing is still here.")).toBeTruthy();
    expect(await screen.findByText("Not saved")).toBeTruthy();
    isAvailable = true;
    await clickButton("Try again");
    expect(await screen.findByText("Saved as cd.png")).toBeTruthy();
    expect(await readAlpha(sent, [5, 5])).toEqual([0]);
    expect(sent).toHaveLength(3);
  });

  it("hides saving from read-only members", async () => {
    const { sent } = renderEditor({ canSave: false });
    await waitForCanvas();
    expect(screen.getByText("Viewers can try the editor, but not save.")).toBeTruthy();
    await pressKey("s", { ctrlKey: true });
    for (const name of ["Save mask", "Stop"]) expect(screen.queryByRole("button", { name })).toBeNull();
    expect(sent).toEqual([]);
  });
});

describe("leaving", () => {
  afterEach(() => setLeavingAllowed(false));
  const isLeavingBlocked = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));

  it("warns before closing unsaved work unless allowed and restores it on return", async () => {
    const onStored = vi.fn();
    const unchangedPage = renderEditor({ onStored });
    await waitForCanvas();
    expect(isLeavingBlocked()).toBe(false);
    unchangedPage.unmount();
    expect(onStored).not.toHaveBeenCalled();
    const { key, unmount } = renderEditor({ onStored });
    await waitForCanvas();
    await pressKey("i");
    await waitFor(() => expect(isLeavingBlocked()).toBe(true));
    setLeavingAllowed(true);
    expect(isLeavingBlocked()).toBe(false);
    setLeavingAllowed(false);
    unmount();
    expect(onStored).toHaveBeenCalledOnce();
    expect(isLeavingBlocked()).toBe(true);
    setLeavingAllowed(true);
    expect(isLeavingBlocked()).toBe(false);
    setLeavingAllowed(false);
    renderEditor({ key });
    expect(await screen.findByText("Your earlier drawing was restored.")).toBeTruthy();
    await clickButton(/^Undo: invert/);
    await waitFor(() => expect(isLeavingBlocked()).toBe(false));
  });
});
