import { act, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { NextIntlClientProvider } from "next-intl";
import { useState } from "react";
import { hydrateRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { beforeEach, describe, expect, it, onTestFinished, test, vi } from "vitest";
import { TagsDialog } from "@/components/assets/tags-dialog";
import { useDayFormat } from "@/components/overview/overview-card";
import { AssetPicker } from "@/components/run/form/controls/asset-picker";
import { type RunApi } from "@/components/run/run-actions";
import { StartDialog } from "@/components/transfers/uploads/start-dialog";
import { Checkbox, SearchField } from "@/components/ui/controls/fields";
import { Dialog } from "@/components/ui/dialog";
import { ok } from "@/lib/shared/result";
import { createApi } from "../run/run-page";
import { renderInApp, wrapInApp } from "./render";
import { advanceTime } from "./render-screen";

it("shows the actual state of a checkbox that was clicked before hydration", async () => {
  const element = <Checkbox aria-label="all" checked={false} onChange={() => undefined} />;
  const container = document.body.appendChild(document.createElement("div"));
  container.innerHTML = renderToString(element);
  const checkbox = screen.getByRole<HTMLInputElement>("checkbox");
  checkbox.checked = true;
  const root = await act(() => hydrateRoot(container, element));
  onTestFinished(() => act(() => root.unmount()));
  expect(checkbox.checked).toBe(false);
});

describe("search field", () => {
  let searches: string[];
  beforeEach(() => {
    vi.useFakeTimers();
    searches = [];
  });

  function Page() {
    const [text, setText] = useState("");
    const search = (query: string) => {
      searches.push(query);
      setText(query);
    };
    return (
      <>
        <SearchField aria-label="Find" text={text} onSearch={search} />
        <button onClick={() => setText("cat")}>Back</button>
      </>
    );
  }
  const field = () => screen.getByRole<HTMLInputElement>("searchbox");
  /** Sets the value like a browser before its event, since React ignores changes through the element's own property. */
  function type(value: string, isComposing = false) {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(field(), value);
    fireEvent(field(), new InputEvent("input", { bubbles: true, isComposing }));
  }
  const waitForPause = () => advanceTime(1000);

  test("searches once with trimmed text when typing pauses", async () => {
    render(<Page />);
    type(" c");
    type(" ca");
    type(" cat ");
    expect(searches).toEqual([]);
    await waitForPause();
    expect(searches).toEqual(["cat"]);
    expect(field().value).toBe(" cat ");
  });

  test("searches once on Enter", async () => {
    render(<Page />);
    type("cat");
    expect(fireEvent.keyDown(field(), { key: "Enter" })).toBe(false);
    await waitForPause();
    expect(searches).toEqual(["cat"]);
  });

  test("searches only when an input method has finished the text", async () => {
    render(<Page />);
    type("m", true);
    type("mao", true);
    expect(fireEvent.keyDown(field(), { key: "Enter", isComposing: true })).toBe(true);
    await waitForPause();
    expect(searches).toEqual([]);
    type("猫", true);
    fireEvent.compositionEnd(field());
    await waitForPause();
    expect(searches).toEqual(["猫"]);
  });

  test("replaces typed text when the page changes, but not after its own search", async () => {
    render(<Page />);
    type("dog ");
    await waitForPause();
    expect(field().value).toBe("dog ");
    fireEvent.click(screen.getByRole("button", { name: "Back" }));
    expect(field().value).toBe("cat");
    await waitForPause();
    expect(searches).toEqual(["dog"]);
  });

  test("drops typed text when Back is pressed during the pause", async () => {
    render(<Page />);
    type("dog");
    fireEvent.click(screen.getByRole("button", { name: "Back" }));
    expect(field().value).toBe("cat");
    await waitForPause();
    expect(searches).toEqual([]);
  });

  test("cancels a pending search when the field is emptied", async () => {
    const { rerender } = render(<SearchField text="" onSearch={(query) => searches.push(query)} />);
    type("cat");
    await waitForPause();
    type("");
    await waitForPause();
    expect(searches).toEqual(["cat", ""]);
    rerender(<SearchField text="" onSearch={(query) => searches.push(query)} />);
    expect(field().value).toBe("");
  });

  test("repeats the search on Enter when the page didn't apply it", async () => {
    render(<SearchField aria-label="Find" text="" onSearch={(query) => searches.push(query)} />);
    type("cat");
    await waitForPause();
    fireEvent.keyDown(field(), { key: "Enter" });
    await waitForPause();
    expect(searches).toEqual(["cat", "cat"]);
  });
});

describe("tag fields", () => {
  const tags = ["portrait", "landscape", "landmark", "seen"];

  beforeEach(() => {
    vi.stubGlobal("fetch", async (path: string) => {
      const url = new URL(path, "http://console");
      if (url.pathname !== "/api/console/optional/tags") return Response.json({});
      const matchingTags = tags.filter((tag) => tag.startsWith(url.searchParams.get("prefix") ?? ""));
      return Response.json({ tags: matchingTags.map((name) => ({ name, count: 1 })) });
    });
  });

  const expectSuggestions = (count: number) => waitFor(() => expect(document.querySelectorAll("datalist option")).toHaveLength(count));
  /** Presses the Enter key that ends an input method's composition. */
  const pressEnterInComposition = (field: HTMLElement) => fireEvent.keyDown(field, { key: "Enter", isComposing: true });
  /** Presses Enter. Returns false if the field handled the key, so that no form is submitted. */
  const pressEnter = (field: HTMLElement) => fireEvent.keyDown(field, { key: "Enter" });

  it("completes the last tag on Enter and keeps the tags before it", async () => {
    const onStart = vi.fn();
    const dropped = { files: [{ path: "a.txt", file: new File(["x"], "a.txt") }], unreadableCount: 0, skippedCount: 0, isTruncated: false };
    renderInApp(
      <StartDialog dropped={dropped} connection={{ id: "c1", name: "One" }} onStart={onStart} onOpen={vi.fn()} onClose={() => undefined} />,
    );
    const field = screen.getByRole<HTMLInputElement>("combobox", { name: "Tags" });
    expect(field.value).toBe("input");
    // Nothing was typed, so the existing tag is kept.
    expect(pressEnter(field)).toBe(true);
    fireEvent.change(field, { target: { value: "input, land" } });
    await expectSuggestions(2);
    expect(pressEnter(field)).toBe(true);
    fireEvent.change(field, { target: { value: "input, por" } });
    await expectSuggestions(1);
    expect(pressEnterInComposition(field)).toBe(true);
    expect(field.value).toBe("input, por");
    expect(pressEnter(field)).toBe(false);
    expect(field.value).toBe("input, portrait");
    expect(pressEnter(field)).toBe(true);
    // Text before a comma is a complete tag.
    fireEvent.change(field, { target: { value: "input, portrait, see," } });
    expect(pressEnter(field)).toBe(true);
    fireEvent.click(screen.getByRole("button", { name: "Add" }));
    expect(onStart.mock.calls[0]?.[0]).toMatchObject([{ assetFields: { tags: ["input", "portrait", "see"] } }]);
  });

  it("requests pictures when a suggested tag is accepted", async () => {
    const requests: (readonly string[])[] = [];
    const listAssets: RunApi["listAssets"] = async ({ include_tags }) => {
      requests.push(include_tags);
      return ok({ assets: [], total: 0, has_more: false });
    };
    const picture = { ...createApi(undefined), listAssets, connection: "c1", canSend: true, onNamed: () => undefined };
    renderInApp(<AssetPicker isOpen picture={picture} onClose={() => undefined} onPicked={() => undefined} />);
    const field = await screen.findByRole<HTMLInputElement>("combobox", { name: /tags/i });
    fireEvent.change(field, { target: { value: "see" } });
    await expectSuggestions(1);
    expect(pressEnter(field)).toBe(false);
    expect(field.value).toBe("seen");
    await waitFor(() => expect(requests.at(-1)).toEqual(["seen"]));
    // The field may be in a form, which its keys must not submit.
    expect(pressEnter(field)).toBe(false);
  });

  it("accepts a suggestion on the first Enter and submits on the second", async () => {
    const onTags = vi.fn();
    renderInApp(
      <TagsDialog title="Add tags" label="Tags" connectionId="c1" loadedTags={["wip"]} onTags={onTags} onClose={() => undefined} />,
    );
    const field = screen.getByRole<HTMLInputElement>("textbox", { name: "Tags" });
    fireEvent.change(field, { target: { value: "por" } });
    await screen.findByRole("button", { name: "portrait" });
    expect(pressEnterInComposition(field)).toBe(true);
    expect(field.value).toBe("por");
    expect(pressEnter(field)).toBe(false);
    expect(field.value).toBe("");
    fireEvent.change(field, { target: { value: "see," } });
    expect(pressEnter(field)).toBe(false);
    expect(pressEnter(field)).toBe(true);
    await act(async () => fireEvent.click(screen.getAllByRole("button", { name: "Add tags" }).at(-1) ?? field));
    expect(onTags).toHaveBeenCalledWith(["portrait", "see"]);
  });
});

function Day() {
  return <p>{useDayFormat()("2026-11-22")}</p>;
}

test.each([
  ["en-GB", "Sun 22 Nov"],
  ["en-US", "Sun, Nov 22"],
  ["zh-CN", "Sun, Nov 22"],
])("formats a day when the browser's language is %s", (language, expected) => {
  vi.spyOn(navigator, "languages", "get").mockReturnValue([language]);
  render(
    <NextIntlClientProvider locale="en" messages={{}}>
      <Day />
    </NextIntlClientProvider>,
  );
  expect(screen.getByText(expected)).toBeDefined();
});

test("ignores the second click of a double-click that closed the dialog", () => {
  const onPress = vi.fn();
  const page = (isOpen: boolean) => (
    <>
      <button onClick={onPress}>Result</button>
      <Dialog isOpen={isOpen} onClose={() => undefined} title="Run copies" />
    </>
  );
  const { rerender } = renderInApp(page(true));
  rerender(wrapInApp(page(false)));
  const button = screen.getByText("Result");
  fireEvent.click(button, { detail: 2 });
  expect(onPress).not.toHaveBeenCalled();
  fireEvent.click(button, { detail: 1 });
  fireEvent.click(button, { detail: 2 });
  expect(onPress).toHaveBeenCalledTimes(2);
});

test("closes when pressed outside, but not when text was selected", () => {
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
