// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { NewFolder } from "@/components/files/file-dialogs";
import { FilesEmpty } from "@/components/files/files-tool-bar";
import { renderInApp } from "../components/render";

let chosen: HTMLInputElement[];
beforeEach(() => {
  chosen = [];
  // A browser would open its file chooser here.
  vi.spyOn(HTMLInputElement.prototype, "click").mockImplementation(function (this: HTMLInputElement) {
    chosen.push(this);
  });
});
afterEach(cleanup);

const press = (name: string) => act(async () => fireEvent.click(screen.getByRole("button", { name, hidden: true })));
function choose(...names: string[]) {
  const files = names.map((name) => new File(["x"], name));
  act(() => void fireEvent.change(chosen.at(-1) ?? document.body, { target: { files } }));
}
const type = (name: string) => act(() => void fireEvent.change(screen.getByRole("textbox", { hidden: true }), { target: { value: name } }));

test("Enter creates the folder, and chosen files go into it", async () => {
  const calls: string[] = [];
  renderInApp(
    <NewFolder
      onName={(name) => calls.push(`opened ${name}`)}
      onFiles={(name, { files }) => calls.push(`${files.map(({ path }) => path).join()} into ${name}`)}
    />,
  );
  await press("New folder");
  expect(screen.getByText("The service does not keep empty folders: the folder appears with its first file.")).toBeTruthy();
  type("a b/100%");
  await press("Choose files…");
  expect(calls).toEqual([]);
  choose("one.json", "two.json");
  expect(calls).toEqual(["one.json,two.json into a b/100%"]);
  await press("New folder");
  type("later");
  act(() => void fireEvent.submit(screen.getByRole("textbox", { hidden: true })));
  expect(calls.at(-1)).toBe("opened later");
});

test("a cancelled name is gone when the dialog opens again", async () => {
  renderInApp(<NewFolder onName={() => undefined} onFiles={() => undefined} />);
  await press("New folder");
  type("half a na");
  await press("Cancel");
  await press("New folder");
  expect(screen.getByRole<HTMLInputElement>("textbox", { hidden: true }).value).toBe("");
});

test("a folder that is not there yet says so, and takes its first file on the spot", async () => {
  const calls: string[] = [];
  const query = { dir: "new/", all: false, name: "", sort: "name", order: "asc", offset: 0 } as const;
  const files = (picked: { files: { path: string }[] }) => calls.push(...picked.files.map(({ path }) => path));
  renderInApp(<FilesEmpty query={query} hasFiles={false} canChange onOpen={() => undefined} onClear={() => undefined} onFiles={files} />);
  expect(screen.getByText(/The service does not keep empty folders/)).toBeTruthy();
  await press("Upload files");
  choose("first.txt");
  expect(calls).toEqual(["first.txt"]);
});

test("whoever may change nothing is not asked to drop anything, and is led to what others left", async () => {
  const query = { dir: "/", all: false, name: "", sort: "name", order: "asc", offset: 0 } as const;
  const opened: string[] = [];
  const nothing = () => undefined;
  renderInApp(
    <FilesEmpty query={query} hasFiles={false} canChange={false} onOpen={(dir) => opened.push(dir)} onClear={nothing} onFiles={nothing} />,
  );
  expect(screen.queryByText(/Drop/)).toBeNull();
  await press("Open workflows/");
  expect(opened).toEqual(["workflows/"]);
});
