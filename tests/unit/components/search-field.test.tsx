// @vitest-environment jsdom
// The field of every search and every filter by name.
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SearchField } from "@/components/ui/controls/fields";

const searched: string[] = [];
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  cleanup();
  vi.useRealTimers();
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
/** As a browser does before its event: React sees no change where the value is set through the element's own property. */
function type(value: string, isComposing = false) {
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(field(), value);
  fireEvent(field(), new InputEvent("input", { bubbles: true, isComposing }));
}
const later = () => act(() => vi.advanceTimersByTimeAsync(1000));

test("letters are searched once, when typing pauses, without the spaces around them", async () => {
  render(<Page />);
  type(" c");
  type(" ca");
  type(" cat ");
  expect(searched).toEqual([]);
  await later();
  expect(searched).toEqual(["cat"]);
  expect(field().value).toBe(" cat ");
});

test("Enter searches at once, and not once more afterwards", async () => {
  render(<Page />);
  type("cat");
  expect(fireEvent.keyDown(field(), { key: "Enter" })).toBe(false);
  await later();
  expect(searched).toEqual(["cat"]);
});

test("letters that an input method composes are searched when it has made the word of them", async () => {
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

test("words of another page replace what is typed; the field's own answer does not", async () => {
  render(<Page />);
  type("dog ");
  await later();
  expect(field().value).toBe("dog ");
  fireEvent.click(screen.getByRole("button", { name: "Back" }));
  expect(field().value).toBe("cat");
  await later();
  expect(searched).toEqual(["dog"]);
});

test("Back while typing pauses ends the wait: what was typed is not searched on the page before", async () => {
  render(<Page />);
  type("dog");
  fireEvent.click(screen.getByRole("button", { name: "Back" }));
  expect(field().value).toBe("cat");
  await later();
  expect(searched).toEqual([]);
});

test("a field that is emptied while its search is on its way searches for nothing again", async () => {
  const { rerender } = render(<SearchField text="" onSearch={(words) => searched.push(words)} />);
  type("cat");
  await later();
  type("");
  await later();
  expect(searched).toEqual(["cat", ""]);
  rerender(<SearchField text="" onSearch={(words) => searched.push(words)} />);
  expect(field().value).toBe("");
});

test("Enter searches again for words that never came to be the page's", async () => {
  render(<SearchField aria-label="Find" text="" onSearch={(words) => searched.push(words)} />);
  type("cat");
  await later();
  fireEvent.keyDown(field(), { key: "Enter" });
  await later();
  expect(searched).toEqual(["cat", "cat"]);
});
