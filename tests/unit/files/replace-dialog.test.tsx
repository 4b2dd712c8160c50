import { act, fireEvent, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { createFileUploads, UploadsList } from "@/components/files/uploads-list";
import { failed, ok } from "@/lib/shared/result";
import { eventually } from "@/tests/support/eventually";
import { renderInApp } from "../components/render";

const conflict = failed({ code: "CONFLICT", message: "exists", status: 409 });
const createFiles = (...paths: string[]) => paths.map((path) => ({ path, file: new File(["x"], path) }));
const dialog = () => screen.queryByRole("dialog");
const press = (name: string) => act(async () => fireEvent.click(screen.getByRole("button", { name })));

/** Every file exists already; each response waits to be released. */
function createList(...paths: string[]) {
  const waiting: (() => void)[] = [];
  const replaced: string[] = [];
  const uploads = createFileUploads(({ path }, { overwrite }) => {
    if (overwrite) {
      replaced.push(path);
      return Promise.resolve(ok(undefined));
    }
    return new Promise((resolve) => waiting.push(() => resolve(conflict)));
  });
  renderInApp(<UploadsList uploads={uploads} />);
  act(() => uploads.add(createFiles(...paths), undefined));
  const next = (at = 0) => act(async () => waiting.splice(at, 1)[0]?.());
  return { next, replaced, uploads };
}

test("keeps a closed question closed until it is requested again", async () => {
  const { next } = createList("a", "b", "c");
  await next();
  expect(dialog()).toBeTruthy();
  act(() => HTMLDialogElement.prototype.close.call(dialog()));
  expect(dialog()).toBeNull();
  await next();
  await next();
  expect(dialog()).toBeNull();
  await press("Review 3 conflicts");
  expect(dialog()).toBeTruthy();
});

test("applies one choice to all while others are still uploading", async () => {
  const { next, replaced } = createList("a", "b", "c");
  await next();
  act(() => void fireEvent.click(screen.getByRole("checkbox")));
  await press("Replace all");
  expect(dialog()).toBeNull();
  await next();
  await next();
  await eventually(() => expect(replaced).toEqual(["a", "b", "c"]));
  expect(dialog()).toBeNull();
});

test("asks about the next file after closing by itself", async () => {
  const { next } = createList("a", "b");
  await next();
  await press("Keep existing");
  expect(dialog()).toBeNull();
  await next();
  expect(dialog()).toBeTruthy();
});

test("keeps the open question on its file when an earlier conflict appears", async () => {
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

test("resets the check box for all at the next upload", async () => {
  const { next, uploads } = createList("a", "b");
  await next();
  act(() => void fireEvent.click(screen.getByRole("checkbox")));
  act(() => HTMLDialogElement.prototype.close.call(dialog()));
  act(() => uploads.add(createFiles("c", "d"), undefined));
  await next(1);
  expect(screen.getByRole<HTMLInputElement>("checkbox").checked).toBe(false);
});

test("closes the dialog for all uploads and reopens it on click", async () => {
  const { next, uploads } = createList("a");
  act(() => uploads.add(createFiles("b"), undefined));
  await next();
  await next();
  act(() => HTMLDialogElement.prototype.close.call(dialog()));
  expect(dialog()).toBeNull();
  await press("Review 2 conflicts");
  expect(dialog()).toBeTruthy();
});
