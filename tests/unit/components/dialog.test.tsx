// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Dialog } from "@/components/ui/dialog";

beforeEach(() => {
  // jsdom does not implement modal dialogs.
});
afterEach(cleanup);

test("a press beside a dialog closes it; a text that is selected with the pointer beyond its field closes nothing", () => {
  const onClose = vi.fn();
  render(
    <Dialog isOpen onClose={onClose} title="Save workflow">
      <input aria-label="Name" defaultValue="hero" />
    </Dialog>,
  );
  const dialog = screen.getByRole("dialog");
  fireEvent.pointerDown(screen.getByRole("textbox", { name: "Name" }));
  fireEvent.pointerUp(dialog);
  fireEvent.click(dialog);
  expect(onClose).not.toHaveBeenCalled();
  fireEvent.pointerDown(dialog);
  fireEvent.click(dialog);
  expect(onClose).toHaveBeenCalledTimes(1);
});
