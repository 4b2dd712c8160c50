import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { beforeEach, expect, it } from "vitest";
import { advanceTime, press } from "../render-screen";
import { compareWithNext, finishLoading, getPositionText, items, pressKey, renderViewer, stubBrowserApis } from "./render-viewer";

beforeEach(stubBrowserApis);

const fireOn = (element: Element, key: string) => act(async () => void fireEvent.keyDown(element, { key }));
/** Reports that the browser can't play the displayed video. */
async function failVideo() {
  const video = document.querySelector("video");
  if (!video) throw new Error("The viewer shows no video.");
  await act(async () => void fireEvent.error(video));
}

it("offers no download when the service serves no files", async () => {
  renderViewer();
  expect(screen.getByRole("link", { name: /Download/ })).toBeTruthy();
  cleanup();
  for (const at of items.keys()) {
    renderViewer(at, false);
    expect(screen.queryByRole("link", { name: /Download/ })).toBeNull();
    cleanup();
  }
});

it("outlines compared pictures with one pixel at any scale", async () => {
  renderViewer();
  await compareWithNext();
  for (const name of ["one.png", "two.png"]) {
    const image = screen.getAllByAltText(name).at(-1);
    const scale = Number(/scale\((.+)\)/.exec(image?.style.transform ?? "")?.[1]);
    expect([name, image?.style.outlineWidth]).toEqual([name, `${1 / scale}px`]);
  }
});

it("moves with keys and stops at both ends", async () => {
  renderViewer();
  await pressKey("ArrowLeft");
  expect(getPositionText()).toBe("1 of 4");
  await pressKey("ArrowRight");
  await pressKey("ArrowRight");
  expect(getPositionText()).toBe("3 of 4");
  await pressKey("End");
  await pressKey("ArrowRight");
  expect(getPositionText()).toBe("4 of 4");
  await pressKey("Home");
  expect(getPositionText()).toBe("1 of 4");
});

it("moves with keys from buttons but not from a select", async () => {
  renderViewer();
  await press("Mark for comparison");
  await fireOn(screen.getByRole("button", { name: "Mark for comparison" }), "ArrowRight");
  expect(getPositionText()).toBe("2 of 4");
  await fireOn(screen.getByRole("combobox", { name: "Time per image" }), "End");
  expect(getPositionText()).toBe("2 of 4");
});

it("times each slide after it has loaded, loops and pauses", async () => {
  renderViewer(2);
  await pressKey("s");
  await advanceTime(60_000);
  // The picture has not loaded yet.
  expect(getPositionText()).toBe("3 of 4");
  await finishLoading("three.png");
  await advanceTime(3_900);
  expect(getPositionText()).toBe("3 of 4");
  await advanceTime(200);
  expect(getPositionText()).toBe("4 of 4");
  // A video that can't be played is shown for the same time.
  await failVideo();
  await advanceTime(4_000);
  expect(getPositionText()).toBe("1 of 4");
  await finishLoading("one.png");
  await press("Pause the slideshow");
  await advanceTime(60_000);
  expect(getPositionText()).toBe("1 of 4");
  fireEvent.change(screen.getByRole("combobox", { name: "Time per image" }), { target: { value: "2" } });
  await pressKey("s");
  await advanceTime(2_000);
  expect(getPositionText()).toBe("2 of 4");
});

it("compares marked pictures and lists input differences", async () => {
  const onClose = renderViewer();
  await pressKey("c");
  expect(screen.getByRole("button", { name: "Mark for comparison" }).getAttribute("aria-pressed")).toBe("true");
  await pressKey("ArrowRight");
  await pressKey("c");
  await press("Compare 2");
  const comparison = screen.getByRole("dialog", { name: "Comparing 2 images" });
  await advanceTime(0);
  const row = within(comparison).getByRole("row", { name: /seed/ });
  expect(row.textContent).toBe("Sampler 3 · seed12");
  expect(within(comparison).queryByRole("row", { name: /steps/ })).toBeNull();
  await press("Slider");
  const divider = within(comparison).getByRole("slider", { name: "Position of the divider" });
  fireEvent.change(divider, { target: { value: "0.25" } });
  expect(within(comparison).getByAltText("two.png").closest("figure")?.style.clipPath).toBe("inset(0 0 0 25%)");

  // Closing the comparison returns to the viewer.
  await press("Close comparison");
  expect(screen.queryByRole("dialog", { name: "Comparing 2 images" })).toBeNull();
  expect(onClose).not.toHaveBeenCalled();
  expect(getPositionText()).toBe("2 of 4");
  await pressKey("c");
  expect(screen.queryByRole("button", { name: /^Compare/ })).toBeNull();
  await press("Close");
  expect(onClose).toHaveBeenCalledTimes(1);
});

it("closes only the comparison when the browser cancels all dialogs", async () => {
  const onClose = renderViewer();
  await compareWithNext();
  const [viewer, compared] = screen.getAllByRole<HTMLDialogElement>("dialog");
  // When dialogs open without a click, for example after a reload, one key press cancels and closes all of them.
  await act(async () => {
    for (const dialog of [compared, viewer]) dialog?.dispatchEvent(new Event("cancel"));
    for (const dialog of [compared, viewer]) dialog?.close();
  });
  expect(screen.queryByRole("dialog", { name: "Comparing 2 images" })).toBeNull();
  expect(viewer?.open).toBe(true);
  expect(onClose).not.toHaveBeenCalled();
  // The next key goes to the viewer.
  await act(async () => void viewer?.dispatchEvent(new Event("cancel")));
  await act(async () => void viewer?.close());
  expect(onClose).toHaveBeenCalledOnce();
});

it("shows a message when a compared picture has no job", async () => {
  renderViewer(1);
  await compareWithNext();
  await advanceTime(0);
  expect(screen.getByText("Image 2: uploaded, no job")).toBeDefined();
});

it("shows loading, loaded and failed pictures and keeps keys working", async () => {
  renderViewer();
  expect(screen.getByRole("status", { name: "Loading" })).toBeDefined();
  await act(async () => void fireEvent.error(screen.getByAltText("one.png")));
  expect(screen.getByText("This image can't be shown.")).toBeDefined();
  expect(screen.queryByRole("status", { name: "Loading" })).toBeNull();
  await pressKey("ArrowRight");
  expect(screen.queryByText("This image can't be shown.")).toBeNull();
  expect(screen.queryByText("640 × 480")).toBeNull();
  await finishLoading("two.png");
  expect(screen.getByText("640 × 480")).toBeDefined();
});

it("doesn't load pictures skipped while a key is held", async () => {
  renderViewer();
  await pressKey("ArrowRight", true);
  expect(screen.getByAltText("two.png").hasAttribute("src")).toBe(false);
  await advanceTime(60);
  await pressKey("ArrowRight", true);
  expect(screen.getByAltText("three.png").hasAttribute("src")).toBe(false);
  await advanceTime(150);
  expect(screen.getByAltText("three.png").getAttribute("src")).toBe("/files/three");
  // A single key press loads immediately.
  await pressKey("ArrowLeft");
  expect(screen.getByAltText("two.png").getAttribute("src")).toBe("/files/two");
});

it("prefetches the next picture unless it is very large", async () => {
  const getPrefetchUrl = () => document.querySelector('link[rel="prefetch"]')?.getAttribute("href");
  renderViewer();
  expect(getPrefetchUrl()).toBeUndefined();
  await finishLoading("one.png");
  expect(getPrefetchUrl()).toBe("/files/two");
  await pressKey("ArrowRight");
  await finishLoading("two.png");
  expect(getPrefetchUrl()).toBeUndefined();
});

it("plays with Space, keeps Space on buttons and lists shortcuts on ?", async () => {
  renderViewer();
  await pressKey(" ");
  expect(screen.getByRole("button", { name: "Pause the slideshow" })).toBeDefined();
  await fireOn(screen.getByRole("button", { name: "Next" }), " ");
  await finishLoading("one.png");
  await pressKey("?");
  expect(screen.getByText("Play or pause the slideshow")).toBeDefined();
  await advanceTime(60_000);
  expect(getPositionText()).toBe("1 of 4");
  const keys = within(screen.getByRole("dialog", { name: "Keyboard shortcuts" }));
  await act(async () => void fireEvent.click(keys.getByRole("button", { name: "Close" })));
  await pressKey(" ");
  expect(screen.getByRole("button", { name: "Play a slideshow" })).toBeDefined();
});

it("repeats arrow keys but no other key when held", async () => {
  renderViewer();
  await pressKey(" ");
  for (const _ of [1, 2, 3]) await pressKey(" ", true);
  expect(screen.getByRole("button", { name: "Pause the slideshow" })).toBeDefined();
  await pressKey("ArrowRight", true);
  expect(getPositionText()).toBe("2 of 4");
});

it("shows the size and a download when a file can't be played", async () => {
  renderViewer(3);
  expect(screen.queryByText(/Can't play this/)).toBeNull();
  await failVideo();
  expect(screen.getByText(/^Can't play this here/)).toBeDefined();
  expect(screen.getByText("2 kB")).toBeDefined();
  expect(screen.getAllByRole("link", { name: "Download film.png" })).toHaveLength(2);
});
