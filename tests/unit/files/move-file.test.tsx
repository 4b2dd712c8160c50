// @vitest-environment jsdom
import { act, cleanup, fireEvent, renderHook, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MoveFile } from "@/components/files/file-dialogs";
import { useCapabilities } from "@/components/frame/connection/use-capabilities";
import { renderInApp } from "../components/render";

let answers: Response[];
let asked: URL[];
beforeEach(() => {
  asked = [];
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(new URL(path, "http://desk.test"));
    return answers.shift() ?? new Response("{}", { status: 500 });
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const refusal = (status: number, code: string, details?: object) =>
  Response.json({ code, message: "", details, request_id: "r" }, { status });
const press = (name: string) => act(async () => fireEvent.click(screen.getByRole("button", { name, hidden: true })));
async function openWith(path: string) {
  const calls: string[] = [];
  renderInApp(<MoveFile path="a.json" connection="c" onMoved={(to) => calls.push(`moved to ${to}`)} />);
  await press("Rename or move");
  act(() => void fireEvent.change(screen.getByRole("textbox", { hidden: true }), { target: { value: path } }));
  return calls;
}
/** Whether other parts of the page know by now that files cannot be moved here. */
function learnt(): boolean {
  const { result } = renderHook(() => useCapabilities("c", []));
  return result.current.isRefused("userdata.move") && result.current.has("userdata.move") === false;
}
const overwrites = () =>
  asked.filter(({ pathname }) => pathname.includes("/move/")).map(({ searchParams }) => searchParams.get("overwrite"));

test("what is at the new path is replaced only by a second press, which says so, and not after the path was changed", async () => {
  answers = [refusal(409, "CONFLICT"), refusal(409, "CONFLICT"), Response.json({ path: "c.json" })];
  const calls = await openWith("b.json");
  await press("Move");
  expect(screen.getByText("A file with this path already exists. Replacing it cannot be undone.")).toBeTruthy();
  act(() => void fireEvent.change(screen.getByRole("textbox", { hidden: true }), { target: { value: "c.json" } }));
  await press("Move");
  expect([overwrites(), calls]).toEqual([["false", "false"], []]);
  await press("Replace");
  expect([overwrites().at(-1), calls]).toEqual(["true", ["moved to c.json"]]);
});

test("the file is opened where the service says that it is now", async () => {
  answers = [Response.json({ path: "\u00fc.json" })];
  const calls = await openWith("u\u0308.json");
  await press("Move");
  expect(calls).toEqual(["moved to \u00fc.json"]);
});

test("a service that does not move files is told from a file that is gone", async () => {
  answers = [refusal(501, "NOT_IMPLEMENTED", { capability: "userdata.move" })];
  await openWith("b.json");
  await press("Move");
  expect(screen.queryByText("Not found")).toBeNull();
  expect(learnt()).toBe(true);
  cleanup();
  answers = [refusal(404, "NOT_FOUND")];
  const gone = await openWith("b.json");
  await press("Move");
  expect(gone).toEqual([]);
  expect(screen.getByText("Not found")).toBeTruthy();
});
