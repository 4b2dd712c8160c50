// The search field and the tags input.
import { act, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { NextIntlClientProvider } from "next-intl";
import { useState } from "react";
import { afterEach, beforeEach, describe, expect, it, test, vi } from "vitest";
import { TagsDialog } from "@/components/assets/tags-dialog";
import { useDayName } from "@/components/overview/part";
import { AssetPicker } from "@/components/run/form/controls/asset-picker";
import { type RunApi } from "@/components/run/run-actions";
import { StartDialog } from "@/components/transfers/uploads/start-dialog";
import { SearchField } from "@/components/ui/controls/fields";
import { Dialog } from "@/components/ui/dialog";
import { ok } from "@/lib/shared/result";
import { createApi } from "../run/page";
import { renderInApp } from "./render";

describe("search field", () => {
  const searched: string[] = [];
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    searched.length = 0;
  });

  function Page() {
    const [text, setText] = useState("");
    const search = (words: string) => {
      searched.push(words);
      setText(words);
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
  const later = () => act(() => vi.advanceTimersByTimeAsync(1000));

  test("searches once when typing pauses, with trimmed text", async () => {
    render(<Page />);
    type(" c");
    type(" ca");
    type(" cat ");
    expect(searched).toEqual([]);
    await later();
    expect(searched).toEqual(["cat"]);
    expect(field().value).toBe(" cat ");
  });

  test("searches once on Enter", async () => {
    render(<Page />);
    type("cat");
    expect(fireEvent.keyDown(field(), { key: "Enter" })).toBe(false);
    await later();
    expect(searched).toEqual(["cat"]);
  });

  test("searches only after an input method has composed the word", async () => {
    render(<Page />);
    type("m", true);
    type("mao", true);
    expect(fireEvent.keyDown(field(), { key: "Enter", isComposing: true })).toBe(true);
    await later();
    expect(searched).toEqual([]);
    type("猫", true);
    fireEvent.compositionEnd(field());
    await later();
    expect(searched).toEqual(["猫"]);
  });

  test("replaces typed text with another page's, but not with its own response", async () => {
    render(<Page />);
    type("dog ");
    await later();
    expect(field().value).toBe("dog ");
    fireEvent.click(screen.getByRole("button", { name: "Back" }));
    expect(field().value).toBe("cat");
    await later();
    expect(searched).toEqual(["dog"]);
  });

  test("drops typed text when Back is pressed during the pause", async () => {
    render(<Page />);
    type("dog");
    fireEvent.click(screen.getByRole("button", { name: "Back" }));
    expect(field().value).toBe("cat");
    await later();
    expect(searched).toEqual([]);
  });

  test("cancels a pending search when the field is emptied", async () => {
    const { rerender } = render(<SearchField text="" onSearch={(words) => searched.push(words)} />);
    type("cat");
    await later();
    type("");
    await later();
    expect(searched).toEqual(["cat", ""]);
    rerender(<SearchField text="" onSearch={(words) => searched.push(words)} />);
    expect(field().value).toBe("");
  });

  test("repeats a search that never reached the page on Enter", async () => {
    render(<SearchField aria-label="Find" text="" onSearch={(words) => searched.push(words)} />);
    type("cat");
    await later();
    fireEvent.keyDown(field(), { key: "Enter" });
    await later();
    expect(searched).toEqual(["cat", "cat"]);
  });
});

describe("tag fields", () => {
  const tags = ["portrait", "landscape", "landmark", "seen"];

  beforeEach(() => {
    vi.stubGlobal("fetch", async (path: string) => {
      const url = new URL(path, "http://console");
      if (url.pathname !== "/api/console/optional/tags") return Response.json({});
      const fits = tags.filter((tag) => tag.startsWith(url.searchParams.get("prefix") ?? ""));
      return Response.json({ tags: fits.map((name) => ({ name, count: 1 })) });
    });
    // jsdom does not implement modal dialogs.
  });

  const offered = (count: number) => waitFor(() => expect(document.querySelectorAll("datalist option")).toHaveLength(count));
  /** The Enter that ends the input method's composition. */
  const compose = (field: HTMLElement) => fireEvent.keyDown(field, { key: "Enter", isComposing: true });
  /** Returns false if the field handled the key, so that no form is submitted. */
  const enter = (field: HTMLElement) => fireEvent.keyDown(field, { key: "Enter" });

  it("suggests tags after existing ones and keeps complete tags", async () => {
    const onStart = vi.fn();
    const dropped = { files: [{ path: "a.txt", file: new File(["x"], "a.txt") }], unreadable: 0, leftOut: 0, isCut: false };
    renderInApp(<StartDialog dropped={dropped} connection={{ id: "c1", name: "One" }} onStart={onStart} onClose={() => undefined} />);
    const field = screen.getByRole<HTMLInputElement>("combobox", { name: "Tags" });
    expect(field.value).toBe("input");
    // Nothing was typed, so the existing tag is kept.
    expect(enter(field)).toBe(true);
    fireEvent.change(field, { target: { value: "input, land" } });
    await offered(2);
    expect(enter(field)).toBe(true);
    fireEvent.change(field, { target: { value: "input, por" } });
    await offered(1);
    expect(compose(field)).toBe(true);
    expect(field.value).toBe("input, por");
    expect(enter(field)).toBe(false);
    expect(field.value).toBe("input, portrait");
    expect(enter(field)).toBe(true);
    // Followed by a comma, a part is a tag of its own.
    fireEvent.change(field, { target: { value: "input, portrait, see," } });
    expect(enter(field)).toBe(true);
    fireEvent.click(screen.getByRole("button", { name: "Add" }));
    expect(onStart.mock.calls[0]?.[0]).toMatchObject([{ assetFields: { tags: ["input", "portrait", "see"] } }]);
  });

  it("offers tags of pictures and requests by whole tag", async () => {
    const requests: (readonly string[])[] = [];
    const listAssets: RunApi["listAssets"] = async ({ include_tags }) => {
      requests.push(include_tags);
      return ok({ assets: [], total: 0, has_more: false });
    };
    const picture = { ...createApi(undefined), listAssets, connection: "c1", canSend: true, onNamed: () => undefined };
    renderInApp(<AssetPicker isOpen picture={picture} onClose={() => undefined} onPicked={() => undefined} />);
    const field = await screen.findByRole<HTMLInputElement>("combobox", { name: /tags/i });
    fireEvent.change(field, { target: { value: "see" } });
    await offered(1);
    expect(enter(field)).toBe(false);
    expect(field.value).toBe("seen");
    await waitFor(() => expect(requests.at(-1)).toEqual(["seen"]));
    // The field may be in a form, which its keys must not submit.
    expect(enter(field)).toBe(false);
  });

  it("accepts a suggestion on the first Enter and acts on the second", async () => {
    const onTags = vi.fn();
    renderInApp(
      <TagsDialog title="Add tags" label="Tags" connectionId="c1" loadedTags={["wip"]} onTags={onTags} onClose={() => undefined} />,
    );
    const field = screen.getByRole<HTMLInputElement>("textbox", { name: "Tags" });
    fireEvent.change(field, { target: { value: "por" } });
    await screen.findByRole("button", { name: "portrait" });
    expect(compose(field)).toBe(true);
    expect(field.value).toBe("por");
    expect(enter(field)).toBe(false);
    expect(field.value).toBe("");
    fireEvent.change(field, { target: { value: "see," } });
    expect(enter(field)).toBe(false);
    expect(enter(field)).toBe(true);
    await act(async () => fireEvent.click(screen.getAllByRole("button", { name: "Add tags" }).at(-1) ?? field));
    expect(onTags).toHaveBeenCalledWith(["portrait", "see"]);
  });
});

function Day() {
  return <p>{useDayName()("2026-11-22")}</p>;
}

test.each([
  ["en-GB", "Sun 22 Nov"],
  ["en-US", "Sun, Nov 22"],
  ["zh-CN", "Sun, Nov 22"],
])("formats a day of the overview for its reader in %s", (language, expected) => {
  vi.spyOn(navigator, "languages", "get").mockReturnValue([language]);
  render(
    <NextIntlClientProvider locale="en" messages={{}}>
      <Day />
    </NextIntlClientProvider>,
  );
  expect(screen.getByText(expected)).toBeDefined();
});

test("closes on a press outside but not after selecting text", () => {
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
