// @vitest-environment jsdom
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { Shortcuts } from "@/components/frame/shortcuts";
import { ToolBar } from "@/components/frame/list/tool-bar";
import { renderInApp } from "./render";

afterEach(cleanup);

it("/ leads to the field of the filters, or to the first of them where there is no field", () => {
  const { unmount } = renderInApp(
    <>
      <Shortcuts />
      <ToolBar label="Filters">
        <a href="#all">All</a>
        <input type="search" aria-label="Name" />
      </ToolBar>
    </>,
  );
  fireEvent.keyDown(document.body, { key: "/" });
  expect(document.activeElement).toBe(screen.getByRole("searchbox", { name: "Name" }));
  unmount();
  renderInApp(
    <>
      <Shortcuts />
      <ToolBar label="Filters">
        <a href="#all">All</a>
      </ToolBar>
    </>,
  );
  fireEvent.keyDown(document.body, { key: "/" });
  expect(document.activeElement).toBe(screen.getByRole("link", { name: "All" }));
});

it("/ and ? are letters while somebody types, and with a modifier they are the browser's", () => {
  renderInApp(
    <>
      <Shortcuts />
      <ToolBar label="Filters">
        <a href="#all">All</a>
      </ToolBar>
      <textarea aria-label="Text" />
    </>,
  );
  const text = screen.getByRole("textbox", { name: "Text" });
  text.focus();
  expect(fireEvent.keyDown(text, { key: "/" })).toBe(true);
  expect(fireEvent.keyDown(text, { key: "?" })).toBe(true);
  expect(fireEvent.keyDown(document.body, { key: "/", ctrlKey: true })).toBe(true);
  expect(document.activeElement).toBe(text);
  expect(screen.queryByRole("dialog", { hidden: true })).toBeNull();
});
