import { act, fireEvent, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { createFileUploads, UploadsList } from "@/components/files/uploads-list";
import { failed, ok } from "@/lib/shared/result";
import { eventually } from "@/tests/support/eventually";
import { renderInApp } from "../components/render";

const conflict = failed({ code: "CONFLICT", message: "exists", status: 409 });
const createFiles = (...paths: string[]) => paths.map((path) => ({ path, file: new File(["x"], path) }));
const getDialog = () => screen.queryByRole("dialog");
const press = (name: string) => act(async () => fireEvent.click(screen.getByRole("button", { name })));

/** Renders uploads whose files all exist already. `next` releases the next response. */
function createList(...paths: string[]) {
  const pendingResponses: (() => void)[] = [];
  const replaced: string[] = [];
  const uploads = createFileUploads(({ path }, { overwrite }) => {
    if (overwrite) {
      replaced.push(path);
      return Promise.resolve(ok(undefined));
    }
    return new Promise((resolve) => pendingResponses.push(() => resolve(conflict)));
  });
  renderInApp(<UploadsList uploads={uploads} />);
  act(() => uploads.add(createFiles(...paths), undefined));
  const next = (index = 0) => act(async () => pendingResponses.splice(index, 1)[0]?.());
  return { next, replaced, uploads };
}

test("keeps a closed dialog closed until the user reopens it", async () => {
  const { next } = createList("a", "b", "c");
  await next();
  expect(getDialog()).toBeTruthy();
  act(() => HTMLDialogElement.prototype.close.call(getDialog()));
  expect(getDialog()).toBeNull();
  await next();
  await next();
  expect(getDialog()).toBeNull();
  await press("Review 3 conflicts");
  expect(getDialog()).toBeTruthy();
});

test("applies one choice to all while others are still uploading", async () => {
  const { next, replaced } = createList("a", "b", "c");
  await next();
  act(() => void fireEvent.click(screen.getByRole("checkbox")));
  await press("Replace all");
  expect(getDialog()).toBeNull();
  await next();
  await next();
  await eventually(() => expect(replaced).toEqual(["a", "b", "c"]));
  expect(getDialog()).toBeNull();
});

test("reopens for the next conflict after it closes automatically", async () => {
  const { next } = createList("a", "b");
  await next();
  await press("Keep existing");
  expect(getDialog()).toBeNull();
  await next();
  expect(getDialog()).toBeTruthy();
});

test("keeps the open dialog on its file when an earlier conflict appears", async () => {
  const { next, replaced } = createList("a", "b");
  await next(1);
  expect(screen.getByRole("heading", { name: /b/ })).toBeTruthy();
  const title = screen.getByRole("heading").textContent;
  await next();
  expect(screen.getByRole("heading").textContent).toBe(title);
  await press("Replace");
  await eventually(() => expect(replaced).toEqual(["b"]));
  expect(screen.getByRole("heading").textContent).not.toBe(title);
});

test("resets the checkbox for all files at the next upload", async () => {
  const { next, uploads } = createList("a", "b");
  await next();
  act(() => void fireEvent.click(screen.getByRole("checkbox")));
  act(() => HTMLDialogElement.prototype.close.call(getDialog()));
  act(() => uploads.add(createFiles("c", "d"), undefined));
  await next(1);
  expect(screen.getByRole<HTMLInputElement>("checkbox").checked).toBe(false);
});

test("closes the dialog for all uploads and reopens it on click", async () => {
  const { next, uploads } = createList("a");
  act(() => uploads.add(createFiles("b"), undefined));
  await next();
  await next();
  act(() => HTMLDialogElement.prototype.close.call(getDialog()));
  expect(getDialog()).toBeNull();
  await press("Review 2 conflicts");
  expect(getDialog()).toBeTruthy();
});
