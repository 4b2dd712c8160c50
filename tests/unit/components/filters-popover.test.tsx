// @vitest-environment jsdom
// The less used filters of a list: in a panel of their own, counted on its button, cleared with the others.
import { act, cleanup, fireEvent, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, expect, it } from "vitest";
import { ClearFilters, FiltersPopover } from "@/components/frame/list/filters-popover";
import { renderInApp } from "./render";

afterEach(cleanup);

function Bar() {
  const [count, setCount] = useState(2);
  return (
    <>
      <FiltersPopover count={count}>
        <input aria-label="Person" />
      </FiltersPopover>
      <ClearFilters isSet={count > 0} onClear={() => setCount(0)} />
    </>
  );
}

const button = () => screen.getByRole("button", { name: /^Filters/ });
const panel = () => screen.queryByRole("dialog", { name: "Filters" });
async function open() {
  await act(async () => void fireEvent.click(button()));
  return screen.findByRole("dialog", { name: "Filters" });
}

it("opens with the focus, and Esc closes it and returns the focus", async () => {
  renderInApp(<Bar />);
  expect([panel(), button().getAttribute("aria-expanded")]).toEqual([null, "false"]);
  const opened = await open();
  expect(document.activeElement).toBe(opened);
  expect(button().getAttribute("aria-expanded")).toBe("true");
  fireEvent.keyDown(screen.getByRole("textbox", { name: "Person" }), { key: "Escape" });
  expect(panel()).toBeNull();
  expect(document.activeElement).toBe(button());
});

it("stays open for a press inside, and closes for one outside", async () => {
  renderInApp(<Bar />);
  await open();
  fireEvent.pointerDown(screen.getByRole("textbox", { name: "Person" }));
  expect(panel()).not.toBeNull();
  fireEvent.pointerDown(document.body);
  expect(panel()).toBeNull();
});

it("counts the filters that are set, until they are cleared", () => {
  renderInApp(<Bar />);
  expect(button().textContent).toContain("Filters: 2");
  fireEvent.click(screen.getByRole("button", { name: "Clear filters" }));
  expect(button().textContent).toMatch(/^Filters\s/);
  expect(screen.queryByRole("button", { name: "Clear filters" })).toBeNull();
});
