// Turns a Run workflow into an app: the screen shows what is stored.
import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { SWRConfig } from "swr";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { formatChoices, getLook, getLooks, parseChoices, withLook } from "@/components/apps/make/input-editor";
import { EditAppScreen, NewAppScreen } from "@/components/apps/make/make-screen";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { tabRun } from "@/components/run/run-store";
import { inputKey, storeMemory } from "@/components/run/workflow/workflow-memory";
import { appBodySchema, type AppControl } from "@/lib/contract/apps/app";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { AtPage, plainRouter } from "@/tests/support/at-page";
import { renderInApp } from "../components/render";

const graph = {
  "1": { class_type: "CLIPTextEncode", inputs: { text: "a fox" }, _meta: { title: "What to draw" } },
  "2": { class_type: "Sampler", inputs: { seed: 5, steps: 20, positive: ["1", 0] } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "fox" } },
};
const workflowId = "0191c0de-0000-7000-8000-000000000001";

let savedBodies: unknown[];
let visited: string[];
beforeEach(() => {
  savedBodies = [];
  visited = [];
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => undefined, removeEventListener: () => undefined }));
  vi.stubGlobal("fetch", async (address: string, { method = "GET", body }: RequestInit = {}) => {
    if (method === "GET") return new Response(writeExactJson({ error: { code: "NOT_IMPLEMENTED", message: "" } }), { status: 501 });
    expect(address).toBe("/api/apps?connection=home");
    savedBodies.push(parseExactJson(String(body), { means: undefined }));
    return new Response(writeExactJson({ app: { id: "app-1", title: "Fox" } }), { status: 201 });
  });
});
afterEach(() => {
  act(() => tabRun.close());
});

async function show(job?: string) {
  await act(async () => {
    renderInApp(
      <AtPage pathname="/apps/new" router={plainRouter((href) => void visited.push(href))}>
        <SWRConfig value={{ provider: () => new Map() }}>
          <ConnectionProvider currentId="home" connections={[{ id: "home", name: "Studio", embedded: true }]}>
            <NewAppScreen memberId="ada" job={job} />
          </ConnectionProvider>
        </SWRConfig>
      </AtPage>,
    );
  });
}
const press = (name: string) => act(async () => void fireEvent.click(screen.getByRole("button", { name })));

it("creates an app from Run's open and pinned inputs, ordered and named", async () => {
  storeMemory(workflowId, { pinned: [inputKey("1", "text"), inputKey("2", "seed")], randomised: [] });
  tabRun.open({ name: "Fox", workflowId, order: ["1", "2", "3"], graph });
  await show();
  expect((await screen.findByLabelText<HTMLInputElement>("Title")).value).toBe("Fox");
  const preview = within(screen.getByRole("region", { name: "Preview of the form" }));
  expect(preview.getByLabelText<HTMLTextAreaElement>(/What to draw/).value).toBe("a fox");
  await press("Move What to draw down");
  await press("Add steps of Sampler");
  await act(async () => void fireEvent.change(screen.getByLabelText("Label"), { target: { value: "Effort" } }));
  await act(async () => void fireEvent.change(screen.getByLabelText("Available to"), { target: { value: "team" } }));
  await press("Create app");
  const { definition, access } = appBodySchema.parse(savedBodies[0]);
  expect(definition.inputs.map(({ label, node, input, control }) => [label, node, input, control.kind])).toEqual([
    ["Seed", "2", "seed", "seed"],
    ["What to draw", "1", "text", "text"],
    ["Effort", "2", "steps", "number"],
  ]);
  expect(access).toEqual({ kind: "team" });
  expect(visited).toEqual(["/apps/app-1"]);
});

it("keeps the list of inputs open while inputs are added, and the focus in it", async () => {
  tabRun.open({ name: "Fox", workflowId, order: ["1", "2", "3"], graph });
  await show();
  const list = (await screen.findByRole("list", { name: "Add inputs of the workflow" })).closest("details");
  expect(list?.open).toBe(true);
  for (const name of ["Add steps of Sampler", "Add seed of Sampler"]) await press(name);
  expect(list?.open).toBe(true);
  expect(list?.contains(document.activeElement)).toBe(true);
});

it("reports App mode widgets that no form can show", async () => {
  const pickedInputs = [
    [1, "text"],
    [2, "positive"],
    [9, "gone"],
  ];
  const workflow = { nodes: [], links: [], extra: { linearData: { inputs: pickedInputs, outputs: [3] } } };
  const file = { name: "Fox", workflowId, order: ["1", "2", "3"], graph, extraData: { extra_pnginfo: { workflow } } };
  tabRun.open(file);
  await show();
  expect(await screen.findByText(/App mode: positive, gone\. They are linked/)).toBeTruthy();
  await press("Create app");
  expect(appBodySchema.parse(savedBodies[0]).definition.inputs.map(({ input }) => input)).toEqual(["text"]);
});

it("keeps a default when the control changes, else the workflow's value", async () => {
  storeMemory(workflowId, { pinned: [inputKey("2", "steps"), inputKey("1", "text")], randomised: [] });
  tabRun.open({ name: "Fox", workflowId, order: ["1", "2", "3"], graph });
  await show();
  const steps = await screen.findByRole("button", { name: /^Steps/ });
  await act(async () => void fireEvent.click(steps));
  const fill = (name: string, value: string) => act(async () => void fireEvent.change(screen.getByLabelText(name), { target: { value } }));
  await fill("Default", "30");
  await fill("Field type", "slider");
  expect(screen.getByLabelText<HTMLInputElement>("Default").value).toBe("30");
  await fill("Default", "");
  expect(screen.getByLabelText<HTMLInputElement>("Default").placeholder).toBe("20");
  const preview = within(screen.getByRole("region", { name: "Preview of the form" }));
  expect(preview.getByLabelText<HTMLInputElement>(/Steps/, { selector: "input:not([type])" }).value).toBe("20");
  await press("Create app");
  const { definition } = appBodySchema.parse(savedBodies[0]);
  expect(definition.inputs.map((input) => input.default)).toEqual([20, "a fox"]);
});

it.each([
  ["Fox", { workflow_name: "Fox" }],
  ["New app", {}],
])("uses the past job's workflow name, never an id: %s", async (title, workflowNames) => {
  vi.stubGlobal("fetch", async (address: string) =>
    address.startsWith("/api/jobs/a2216e92")
      ? new Response(
          writeExactJson({
            id: "a2216e92-0000-4000-8000-000000000000",
            status: "completed",
            workflow: { prompt: graph },
            ...workflowNames,
          }),
        )
      : new Response(writeExactJson({ error: { code: "NOT_IMPLEMENTED", message: "" } }), { status: 501 }),
  );
  await show("a2216e92-0000-4000-8000-000000000000");
  expect((await screen.findByLabelText<HTMLInputElement>("Title")).value).toBe(title);
});

it("explains what to do when no workflow is open in Run", async () => {
  await show();
  expect(await screen.findByText("No workflow is open in Run")).toBeDefined();
});

it("offers only fitting controls and keeps a range across them", () => {
  const steps: AppControl = { kind: "number", isWhole: true, isSlider: false, min: 1, max: 50 };
  expect(getLooks(steps)).toEqual(["number", "slider", "seed"]);
  const slider = withLook("slider", steps, steps);
  expect(slider).toEqual({ ...steps, isSlider: true });
  expect(getLook(slider)).toBe("slider");
  const unknown: AppControl = { kind: "number", isWhole: false, isSlider: false };
  expect(withLook("slider", steps, unknown)).toMatchObject({ isWhole: true });
  expect(withLook("number", withLook("seed", slider, steps), steps)).toEqual(steps);
});

it("writes choices a line each, and reads them back with their types", () => {
  const choices = [{ value: 2, label: "Two" }, { value: "euler" }, { value: "a = b" }];
  const control: AppControl = { kind: "choice", choices };
  expect(formatChoices(control)).toBe("2 = Two\neuler\na = b");
  expect(parseChoices(formatChoices(control), control)).toEqual(choices);
});

describe("an edited app", () => {
  const view = (title: string, version: number) => ({
    id: "app-1",
    title,
    version,
    access: "me",
    limits: {},
    connectionId: "home",
    inputs: [],
  });
  const workflow = (version: number) => ({
    title: version === 1 ? "Fox" : "Owl",
    text: "",
    tags: [],
    inputs: [],
    outputs: [],
    graph,
    version,
  });
  const jsonResponse = (value: unknown) => new Response(writeExactJson(value));

  /** `read`: the stored app and workflow at the moment of each read. */
  async function edit(read: { app: () => { title: string; version: number }; workflow: () => number }, cache: Map<string, never>) {
    vi.stubGlobal("fetch", async (address: string) => {
      if (address === "/api/apps/app-1") return jsonResponse({ app: view(read.app().title, read.app().version) });
      if (address === "/api/apps/app-1/workflow") return jsonResponse(workflow(read.workflow()));
      if (address === "/api/apps/app-1/versions") return jsonResponse({ versions: [] });
      return new Response(writeExactJson({ error: { code: "NOT_IMPLEMENTED", message: "" } }), { status: 501 });
    });
    await act(async () => {
      renderInApp(
        <AtPage pathname="/apps/app-1/edit">
          <SWRConfig value={{ provider: () => cache }}>
            <ConnectionProvider currentId="home" connections={[{ id: "home", name: "Studio", embedded: true }]}>
              <EditAppScreen id="app-1" />
            </ConnectionProvider>
          </SWRConfig>
        </AtPage>,
      );
    });
    return screen.findByLabelText<HTMLInputElement>("Title");
  }

  it("is reloaded each time it is opened", async () => {
    const cache = new Map<string, never>();
    expect((await edit({ app: () => ({ title: "Fox", version: 1 }), workflow: () => 1 }, cache)).value).toBe("Fox");
    cleanup();
    expect((await edit({ app: () => ({ title: "Owl", version: 2 }), workflow: () => 2 }, cache)).value).toBe("Owl");
  });

  it("is one consistent version when saved during the read", async () => {
    let reads = 0;
    const currentApp = () => (reads > 0 ? { title: "Owl", version: 2 } : { title: "Fox", version: 1 });
    const title = await edit({ app: currentApp, workflow: () => ((reads += 1), 2) }, new Map<string, never>());
    expect([title.value, reads]).toEqual(["Owl", 2]);
  });
});
