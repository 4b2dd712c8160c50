// @vitest-environment jsdom
// Every control of an app's form as a person uses it: what they see, what the page sends, and where it goes in the workflow.
import { act, fireEvent, screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { appDefinitionSchema } from "@/lib/contract/apps/app";
import { fillApp } from "@/lib/contract/apps/fill";
import { objectOf } from "@/lib/contract/json/json";
import { standInForDialogs } from "@/tests/support/jsdom-parts";
import { app, page, press, pressRun, show, type } from "./app-page";

const place = (input: string) => ({ node: "1", input, label: input, isRequired: true });
const definition = appDefinitionSchema.parse({
  title: "Everything",
  graph: {
    "1": { class_type: "Any", inputs: { Line: "", Text: "", Count: 1, Share: 0.5, Glow: false, Mode: "a", Photo: "", Kept: "as it was" } },
    "2": { class_type: "Other", inputs: { title: "", picture: "" } },
  },
  inputs: [
    { ...place("Line"), name: "line", control: { kind: "text" }, also: [{ node: "2", input: "title" }] },
    { ...place("Text"), name: "text", control: { kind: "text", isLong: true } },
    { ...place("Count"), name: "count", control: { kind: "number", isWhole: true, min: 1, max: 20, step: 4 } },
    { ...place("Share"), name: "share", control: { kind: "number", isSlider: true, min: 0, max: 2, step: 0.25 } },
    { ...place("Glow"), name: "glow", control: { kind: "switch" } },
    { ...place("Mode"), name: "mode", control: { kind: "choice", choices: [{ value: "a" }, { value: "b", label: "The second" }] } },
    { ...place("Photo"), name: "photo", control: { kind: "picture", hasMask: true }, also: [{ node: "2", input: "picture" }] },
  ],
});

const field = (name: string) => screen.getByRole<HTMLInputElement>("textbox", { name });
const pressKey = (on: HTMLElement, key: string) => act(async () => void fireEvent.keyDown(on, { key }));

function seen() {
  const mode = screen.getByRole<HTMLSelectElement>("combobox", { name: "Mode" });
  const photo = within(screen.getByRole("group", { name: "Photo" })).getByRole<HTMLImageElement>("img");
  return {
    line: field("Line").value,
    text: field("Text").value,
    count: field("Count").value,
    share: field("Share").value,
    slider: screen.getByRole<HTMLInputElement>("slider", { name: "Share" }).value,
    glow: screen.getByRole<HTMLInputElement>("checkbox", { name: "Glow" }).checked,
    mode: mode.selectedOptions[0]?.text,
    photo: new URL(photo.src, "http://localhost").searchParams.get("name"),
  };
}

it("sends of every control what it shows, into every place of its input and no other", async () => {
  page.shown = app({ inputs: definition.inputs });
  standInForDialogs();
  page.pictures = [{ value: "given/my photo.png", name: "my photo.png", from: "given" }];
  await show({ role: "runner" });
  await type("Line", "A title");
  await type("Text", "Two\nlines");
  await type("Count", "7");
  await pressKey(field("Count"), "ArrowUp");
  await act(async () => void fireEvent.change(screen.getByRole("slider", { name: "Share" }), { target: { value: "1.25" } }));
  await act(async () => void fireEvent.click(screen.getByRole("checkbox", { name: "Glow" })));
  await act(async () => void fireEvent.change(screen.getByRole("combobox", { name: "Mode" }), { target: { value: "1" } }));
  await press("From your pictures");
  await act(async () => void fireEvent.click(await screen.findByTitle("my photo.png")));
  expect(screen.getByRole<HTMLInputElement>("slider", { name: "Share" })).toMatchObject({ min: "0", max: "2", step: "0.25" });
  expect(seen()).toEqual({
    line: "A title",
    text: "Two\nlines",
    count: "11",
    share: "1.25",
    slider: "1.25",
    glow: true,
    mode: "The second",
    photo: "given/my photo.png",
  });
  await pressRun();
  const given = { line: "A title", text: "Two\nlines", count: 11, share: 1.25, glow: true, mode: "b", photo: "given/my photo.png" };
  expect(page.sent.map(({ path, body }) => [path, body])).toEqual([["/api/apps/app-1/runs", { inputs: given }]]);
  const filled = fillApp(definition, objectOf(objectOf(page.sent[0]?.body)?.inputs) ?? {});
  expect(filled.ok && filled.graph).toMatchObject({
    "1": {
      inputs: {
        Line: "A title",
        Text: "Two\nlines",
        Count: 11,
        Share: 1.25,
        Glow: true,
        Mode: "b",
        Photo: "given/my photo.png",
        Kept: "as it was",
      },
    },
    "2": { inputs: { title: "A title", picture: "given/my photo.png" } },
  });
});

it("steps a number within its bounds, without the digits that halves of a double leave", async () => {
  page.shown = app({ inputs: definition.inputs });
  await show({ role: "runner" });
  await act(async () => void fireEvent.change(field("Share"), { target: { value: "0.1" } }));
  for (const key of ["ArrowUp", "ArrowUp"]) await pressKey(field("Share"), key);
  expect(field("Share").value).toBe("0.6");
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown"]) await pressKey(field("Share"), key);
  expect(field("Share").value).toBe("0.1");
});
