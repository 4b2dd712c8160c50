// Using the editor: keys, pointer, numbers, saving, leaving.
import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { failed, ok } from "@/lib/shared/result";
import { alpha, click, drawing, prepareEditorPage, press, save, show } from "./editor-page";

prepareEditorPage();

describe("drawing", () => {
  it("draws by keyboard from the middle of the view with fine and large steps", async () => {
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

  it("continues while Space is held and is undone by Escape", async () => {
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

  it("follows a pointer and undoes a stroke on a second touch", async () => {
    const { sent } = show();
    const canvas = await drawing();
    // A pixel of the picture takes two on the screen, and the picture is 16 from the edge.
    const at = (x: number, y: number) => ({ clientX: 16 + x * 2, clientY: 16 + y * 2, pointerId: 1, button: 0 });
    fireEvent.pointerDown(canvas, at(50, 60));
    fireEvent.pointerMove(canvas, at(120, 60));
    fireEvent.pointerUp(canvas, at(120, 60));
    fireEvent.pointerDown(canvas, { ...at(300, 200), pointerType: "touch", pointerId: 5 });
    fireEvent.pointerDown(canvas, { ...at(350, 200), pointerType: "touch", pointerId: 6 });
    await save();
    expect(await alpha(sent, [50, 60], [85, 60], [120, 60], [300, 200], [350, 200])).toEqual([0, 0, 0, 255, 255]);
  });

  it("uses pen pressure unless off, and erases with the pen's other end", async () => {
    const { sent } = show();
    const canvas = await drawing();
    for (const _ of [1, 2]) await press("}");
    const dab = (x: number, y: number, overrides: object) => {
      const where = { clientX: 16 + x * 2, clientY: 16 + y * 2, pointerId: 1, button: 0, ...overrides };
      fireEvent.pointerDown(canvas, where);
      fireEvent.pointerUp(canvas, where);
    };
    // The brush is 17 pixels wide.
    dab(50, 50, { pointerType: "pen", pressure: 0.5 });
    dab(100, 50, { pressure: 0.5 });
    // A pen that barely touches reports pressure 0.
    dab(250, 50, { pointerType: "pen", pressure: 0 });
    fireEvent.click(screen.getByRole("checkbox", { name: "Pen pressure changes the size" }));
    dab(150, 50, { pointerType: "pen", pressure: 0.1 });
    dab(150, 50, { pointerType: "pen", pressure: 0.1, button: 5 });
    dab(200, 50, { pointerType: "pen", pressure: 0.1 });
    await save();
    expect(await alpha(sent, [50, 50], [56, 50], [100, 50], [106, 50], [150, 50], [206, 50], [254, 50])).toEqual([
      0, 255, 0, 0, 255, 0, 255,
    ]);
  });

  it("draws by numbers, inverts, undoes and redoes", async () => {
    const { sent } = show();
    await drawing();
    for (const [name, value] of Object.entries({ Left: "10", Top: "20", Width: "30", Height: "9000" }))
      fireEvent.change(screen.getByRole("spinbutton", { name }), { target: { value } });
    await click("Paint rectangle");
    await click(/^Invert/);
    await click(/^Undo: invert/);
    await click(/^Redo: invert/);
    await save();
    expect(await alpha(sent, [10, 20], [39, 299], [9, 20], [10, 19])).toEqual([255, 255, 0, 0]);
    fireEvent.change(screen.getByRole("spinbutton", { name: "Left" }), { target: { value: "400" } });
    await click("Paint rectangle");
    expect(screen.getByText("This rectangle is outside the picture.")).toBeTruthy();
  });

  it("accepts only whole numbers, also for erasing", async () => {
    show();
    await drawing();
    for (const value of ["0.5", ""]) {
      fireEvent.change(screen.getByRole("spinbutton", { name: "Left" }), { target: { value } });
      for (const name of ["Paint rectangle", "Erase rectangle"]) await click(name);
    }
    expect(screen.getByRole("button", { name: /^Undo/ }).getAttribute("aria-disabled")).toBe("true");
  });

  it("has the key of each control in its tooltip", async () => {
    show();
    await drawing();
    const titles = [
      "Brush (B)|Eraser (E)|Rectangle (R)|Lasso (L)|Fill (G)|Hand (H)|Undo (Ctrl Z)|Redo (Ctrl Y)|Invert (I)|Clear (Del)|Shortcuts (?)",
      "Save mask (Ctrl S)|Show the mask (M)|Zoom out (-)|1:1 (1)|Zoom in (+)|Fit (0)|Size ([ ])|Hardness ({ })|Show as (V)",
    ];
    for (const title of titles.join("|").split("|")) expect(screen.queryAllByTitle(title).length, title).toBeGreaterThan(0);
    await press("r");
    for (const title of ["Paint (X)", "Erase (X)"]) expect(screen.getByTitle(title)).toBeTruthy();
  });

  it("selects tools by letter except in fields, and lists keys on ?", async () => {
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
    expect(screen.getByRole("dialog", { name: "Mask editor shortcuts" })).toBeTruthy();
    await press("b");
    expect(isOn(/^Lasso/)).toBe("true");
  });
});

describe("saving", () => {
  it("keeps a drawing that cannot be copied and saves it on retry", async () => {
    const { sent } = show();
    await drawing();
    await press("i");
    const slice = vi.spyOn(Uint8Array.prototype, "slice").mockImplementation(() => {
      throw new RangeError("Array buffer allocation failed");
    });
    await save();
    slice.mockRestore();
    expect(await screen.findByText(/Array buffer allocation failed/)).toBeTruthy();
    await click("Try again");
    expect(await alpha(sent, [10, 10])).toEqual([0]);
  });

  it("reports progress in words until the service responds", async () => {
    let reportProgress: ((share: number) => void) | undefined;
    let response: (() => void) | undefined;
    show({
      send: (_, __, { onProgress }) => {
        reportProgress = onProgress;
        return new Promise((resolve) => (response = () => resolve(ok({ name: "cd.png" }))));
      },
    });
    await drawing();
    await press("i");
    await save();
    await waitFor(() => expect(reportProgress).toBeTruthy());
    act(() => reportProgress?.(0.5));
    expect(screen.getByText(/^Uploading \d+ bytes of \d+ bytes$/)).toBeTruthy();
    act(() => reportProgress?.(1));
    expect(screen.getAllByText("Storing the mask").length).toBeGreaterThan(0);
    await act(async () => response?.());
    expect(await screen.findByText("Saved as cd.png")).toBeTruthy();
    expect(screen.queryByText(/^Storing/)).toBeNull();
  });

  it("names the result and reports no unsaved changes", async () => {
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

  it("keeps the drawing after a failure and retries by hand", async () => {
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
    await click("Try again");
    expect(await screen.findByText("Saved as cd.png")).toBeTruthy();
    expect(await alpha(sent, [5, 5])).toEqual([0]);
    expect(sent).toHaveLength(2);
  });

  it("removes a failure from the picture in time", async () => {
    show({ send: async () => failed({ code: "CONSOLE_UNREACHABLE", message: "", status: 0 }) });
    await drawing();
    await save();
    expect(await screen.findByRole("alert")).toBeTruthy();
    await click("Dismiss");
    expect(screen.queryByRole("alert")).toBeNull();
  });

  it("is hidden from read-only members", async () => {
    const { sent } = show({ canSave: false });
    await drawing();
    expect(screen.getByText("Viewers can try the editor, but not save.")).toBeTruthy();
    await press("s", { ctrlKey: true });
    for (const name of ["Save mask", "Stop"]) expect(screen.queryByRole("button", { name })).toBeNull();
    expect(sent).toEqual([]);
  });
});

describe("leaving", () => {
  const asksBeforeLeaving = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));

  it("warns before closing unsaved work and keeps it for returning", async () => {
    const onStored = vi.fn();
    const { key, unmount } = show({ onStored });
    await drawing();
    expect(asksBeforeLeaving()).toBe(false);
    await press("i");
    await waitFor(() => expect(asksBeforeLeaving()).toBe(true));
    unmount();
    expect(onStored).toHaveBeenCalledOnce();
    expect(asksBeforeLeaving()).toBe(true);
    show({ key });
    expect(await screen.findByText("Your earlier drawing was restored.")).toBeTruthy();
    await click(/^Undo: invert/);
    await waitFor(() => expect(asksBeforeLeaving()).toBe(false));
  });

  it("closes without confirmation when nothing changed", async () => {
    const onStored = vi.fn();
    const { unmount } = show({ onStored });
    await drawing();
    unmount();
    expect(onStored).not.toHaveBeenCalled();
    expect(asksBeforeLeaving()).toBe(false);
  });
});
