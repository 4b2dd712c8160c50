// @vitest-environment jsdom
// In every field of tags, Enter completes the typed part if only one tag contains it.
import { act, cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { TagsDialog } from "@/components/assets/tags-dialog";
import { AssetPicker } from "@/components/run/form/controls/asset-picker";
import { type RunApi } from "@/components/run/run-actions";
import { StartDialog } from "@/components/transfers/uploads/start-dialog";
import { ok } from "@/lib/shared/result";
import { apiTo } from "../run/page";
import { renderInApp } from "./render";

const listed = ["portrait", "landscape", "landmark", "seen"];

beforeEach(() => {
  vi.stubGlobal("fetch", async (path: string) => {
    const url = new URL(path, "http://console");
    if (url.pathname !== "/api/console/optional/tags") return Response.json({});
    const fits = listed.filter((tag) => tag.startsWith(url.searchParams.get("prefix") ?? ""));
    return Response.json({ tags: fits.map((name) => ({ name, count: 1 })) });
  });
  // jsdom does not implement modal dialogs.
});
afterEach(() => {
  cleanup();
  localStorage.clear();
  vi.unstubAllGlobals();
});

const offered = (count: number) => waitFor(() => expect(document.querySelectorAll("datalist option")).toHaveLength(count));
/** The Enter that ends the input method's composition. */
const compose = (field: HTMLElement) => fireEvent.keyDown(field, { key: "Enter", isComposing: true });
/** False if the field used the key, so that no form is submitted. */
const enter = (field: HTMLElement) => fireEvent.keyDown(field, { key: "Enter" });

it("of files that are added, after the tags that are there; a whole tag and one of several are left as they are", async () => {
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
  expect(onStart.mock.calls[0]?.[0]).toMatchObject([{ about: { tags: ["input", "portrait", "see"] } }]);
});

it("of the pictures to choose from, which are asked for by the whole tag", async () => {
  const asked: (readonly string[])[] = [];
  const listAssets: RunApi["listAssets"] = async ({ include_tags }) => {
    asked.push(include_tags);
    return ok({ assets: [], total: 0, has_more: false });
  };
  const picture = { ...apiTo(undefined), listAssets, connection: "c1", canSend: true, onNamed: () => undefined };
  renderInApp(<AssetPicker isOpen picture={picture} onClose={() => undefined} onPicked={() => undefined} />);
  const field = await screen.findByRole<HTMLInputElement>("combobox", { name: /tags/i });
  fireEvent.change(field, { target: { value: "see" } });
  await offered(1);
  expect(enter(field)).toBe(false);
  expect(field.value).toBe("seen");
  await waitFor(() => expect(asked.at(-1)).toEqual(["seen"]));
  // The field may be in a form, which its keys must not submit.
  expect(enter(field)).toBe(false);
});

it("of selected assets: the first Enter takes it, the second acts", async () => {
  const onTags = vi.fn();
  renderInApp(<TagsDialog title="Add tags" label="Tags" connectionId="c1" seen={["wip"]} onTags={onTags} onClose={() => undefined} />);
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
