// @vitest-environment jsdom
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { uploadHabits } from "@/components/transfers/uploads/about-form";
import { StartDialog } from "@/components/transfers/uploads/start-dialog";
import { inApp, renderInApp } from "../components/render";

beforeEach(() => {
  vi.stubGlobal("fetch", async () => Response.json({}));
  // jsdom does not implement modal dialogs.
});
afterEach(() => {
  cleanup();
  localStorage.clear();
  vi.unstubAllGlobals();
});

const box = () => screen.getByRole<HTMLInputElement>("checkbox", { name: /^Do not ask again/ });
const tags = () => screen.getByRole<HTMLInputElement>("combobox", { name: "Tags" });
function open() {
  cleanup();
  const onStart = vi.fn();
  const dropped = { files: [{ path: "a.txt", file: new File(["x"], "a.txt") }], unreadable: 0, leftOut: 0, isCut: false };
  renderInApp(<StartDialog dropped={dropped} onStart={onStart} onClose={() => undefined} />);
  return onStart;
}
const add = () => fireEvent.click(screen.getByRole("button", { name: "Add" }));

test("tags that were typed once stand on these files alone, unless they are meant from now on", () => {
  const onStart = open();
  fireEvent.change(tags(), { target: { value: "input, only today" } });
  add();
  expect(onStart.mock.calls[0]?.[0]).toMatchObject([{ about: { tags: ["input", "only today"] } }]);
  expect(uploadHabits.get()).toEqual({ ask: true, tags: "input" });
  open();
  expect(tags().value).toBe("input");
});

test("what is meant from now on is proposed until somebody takes it back", () => {
  open();
  fireEvent.change(tags(), { target: { value: "set" } });
  fireEvent.click(box());
  add();
  expect(uploadHabits.get()).toEqual({ ask: false, tags: "set" });
  // The dialog opens anyway, as for an empty selection, and the box shows the current setting.
  open();
  expect([tags().value, box().checked]).toEqual(["set", true]);
  add();
  expect(uploadHabits.get()).toEqual({ ask: false, tags: "set" });
  open();
  fireEvent.click(box());
  add();
  expect(uploadHabits.get()).toEqual({ ask: true, tags: "input" });
});

test("tags that an earlier version kept of one upload are forgotten", () => {
  uploadHabits.set({ ask: true, tags: "of last week" });
  expect(uploadHabits.get()).toEqual({ ask: true, tags: "input" });
});

test("a name is that of one file: what was typed before a second one joined names neither", () => {
  const onStart = vi.fn();
  const named = (...names: string[]) => ({
    files: names.map((name) => ({ path: name, file: new File(["x"], name) })),
    ...{ unreadable: 0, leftOut: 0, isCut: false },
  });
  const dialog = (dropped: ReturnType<typeof named>) =>
    inApp(<StartDialog dropped={dropped} onStart={onStart} onClose={() => undefined} />);
  const { rerender } = renderInApp(null);
  rerender(dialog(named("a.txt")));
  fireEvent.change(screen.getByRole("textbox", { name: "Name" }), { target: { value: "Mine" } });
  rerender(dialog(named("a.txt", "b.txt")));
  add();
  expect(onStart.mock.calls[0]?.[0]).toMatchObject([{ about: { name: "" } }, { about: { name: "" } }]);
});
