// Files of the graph editor on the Run page: what is shown of them, and what leaves.
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { failed, ok } from "@/lib/shared/result";
import { comparable } from "../contract/editor-workflow/comparable";
import { drop, portsTo, pressRun, show } from "./page";
import { startPromptServer } from "./prompt-server";

const pair = (name: string) => readFileSync(`tests/fixtures/editor-pairs/${name}`, "utf8");
const info = objectInfoSchema.parse(JSON.parse(pair("object-info.json")));
const readCatalogue = async () => ok(info);

afterEach(() => {
  cleanup();
  sessionStorage.clear();
});

test("a dropped file opens with its values, and what leaves is the editor's own graph with its drawing", async () => {
  const service = await startPromptServer();
  show(portsTo(service, { readCatalogue }));
  await drop("two.json", pair("20-subgraph-linked-widget.editor.json"));
  await screen.findAllByRole("button", { name: "Run" });
  expect(screen.getAllByRole("textbox", { name: "width" }).map((field) => field.getAttribute("value"))).toEqual(["21", "55"]);
  pressRun();
  await waitFor(() => expect(service.received).toHaveLength(1));
  const [body] = service.received;
  expect(comparable(body?.prompt, info)).toEqual(comparable(JSON.parse(pair("20-subgraph-linked-widget.api.json")), info));
  expect(body?.extra_data).toMatchObject({ extra_pnginfo: { workflow: { id: "a44465e7-edb3-4671-b9aa-dbc89af122ee", version: 0.4 } } });
  service.answer({ status: 200, body: { prompt_id: "11111111-1111-4111-8111-111111111111", number: 1, node_errors: {} } });
  await service.stop();
});

test("what is odd about a file is told node by node", async () => {
  show(portsTo(undefined, { readCatalogue }));
  await drop("old.json", pair("06-bypass-no-match.editor.json"));
  const note = await screen.findByRole("region", { name: /Opened from the editor's format/ });
  expect(within(note).getByText(/bypassed node before \w+ has nothing to pass on/)).toBeTruthy();
});

test("without the service's list of nodes a file is not opened, and what was open stays", async () => {
  show(portsTo(undefined, { readCatalogue: async () => failed({ code: "UPSTREAM_TIMEOUT", message: "", status: 504 }) }));
  await drop("one.json", pair("01-basic-image.editor.json"));
  expect(await screen.findByText(/needs the service's list of nodes, which could not be loaded/)).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "Dismiss" }));
});
