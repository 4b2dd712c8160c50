// @vitest-environment jsdom
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { ToolBar } from "@/components/frame/list/tool-bar";
import { Shortcuts } from "@/components/frame/shortcuts";
import { usePageKey } from "@/components/ui/hooks/page-keys";
import { AtPage } from "@/tests/support/at-page";
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

it("leaves keys to an open input method", () => {
  const { container } = renderInApp(
    <>
      <Shortcuts />
      <ToolBar label="Filters">
        <a href="#all">All</a>
      </ToolBar>
    </>,
  );
  fireEvent.keyDown(container, { key: "/", isComposing: true });
  fireEvent.keyDown(container, { key: "/", keyCode: 229 });
  expect(document.activeElement).toBe(document.body);
});

it("opens a page when g and its letter are pressed in sequence", () => {
  const opened: string[] = [];
  const onRowKey = vi.fn();
  function Page() {
    usePageKey((event) => void onRowKey(event.key));
    return <input aria-label="Name" />;
  }
  renderInApp(
    <AtPage router={{ push: (href) => void opened.push(href) }}>
      <Page />
      <Shortcuts />
    </AtPage>,
  );
  for (const letter of ["j", "q", "h", "a", "f", "r", "s", "z"]) {
    fireEvent.keyDown(document.body, { key: "g" });
    fireEvent.keyDown(document.body, { key: letter });
  }
  expect(opened).toEqual(["/jobs", "/queue", "/history", "/assets", "/files", "/run", "/settings"]);
  fireEvent.keyDown(document.body, { key: "j" });
  fireEvent.keyDown(screen.getByRole("textbox", { name: "Name" }), { key: "g" });
  fireEvent.keyDown(screen.getByRole("textbox", { name: "Name" }), { key: "j" });
  expect(opened).toHaveLength(7);
  expect(onRowKey.mock.calls.map(([key]) => key).filter((key) => key !== "g")).toEqual(["z", "j", "j"]);
});
