// Creates an app from the workflow in Run, and edits a stored app.
import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { type ReactNode } from "react";
import { SWRConfig } from "swr";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { EditAppScreen, NewAppScreen } from "@/components/apps/editor/app-editor";
import { formatChoices, getVariant, getVariants, parseChoices, withVariant } from "@/components/apps/editor/input-editor";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { tabRun } from "@/components/run/run-store";
import { storeMemory, toInputKey } from "@/components/run/workflow/workflow-memory";
import { appBodySchema, type AppControl } from "@/lib/contract/apps/app";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { createFakeRouter, PageProvider } from "@/tests/support/page-provider";
import { renderInApp } from "../components/render";

const graph = {
  "1": { class_type: "CLIPTextEncode", inputs: { text: "a fox" }, _meta: { title: "What to draw" } },
  "2": { class_type: "Sampler", inputs: { seed: 5, steps: 20, positive: ["1", 0] } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "fox" } },
};
const workflowId = "0191c0de-0000-7000-8000-000000000001";

const createResponse = (value: unknown, status = 200) => new Response(writeExactJson(value), { status });
const createNotImplemented = () => createResponse({ error: { code: "NOT_IMPLEMENTED", message: "" } }, 501);

let savedBodies: unknown[];
let visitedPaths: string[];
beforeEach(() => {
  savedBodies = [];
  visitedPaths = [];
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => undefined, removeEventListener: () => undefined }));
  vi.stubGlobal("fetch", async (address: string, { method = "GET", body }: RequestInit = {}) => {
    if (method === "GET") return createNotImplemented();
    expect(address).toBe("/api/apps?connection=home");
    savedBodies.push(parseExactJson(String(body), { emptyValue: undefined }));
    return createResponse({ app: { id: "app-1", title: "Fox" } }, 201);
  });
});
afterEach(() => {
  act(() => tabRun.close());
});

async function renderPage(pathname: string, page: ReactNode, cache = new Map<string, never>()) {
  await act(async () => {
    renderInApp(
      <PageProvider pathname={pathname} router={createFakeRouter((href) => void visitedPaths.push(href))}>
        <SWRConfig value={{ provider: () => cache }}>
          <ConnectionProvider currentId="home" connections={[{ id: "home", name: "Studio", embedded: true }]}>
            {page}
          </ConnectionProvider>
        </SWRConfig>
      </PageProvider>,
    );
  });
}
const showNewApp = (job?: string) => renderPage("/apps/new", <NewAppScreen memberId="ada" job={job} />);
/** Opens the workflow in Run and creates an app from it. */
async function showNewAppOfWorkflow(pinnedInputs: [string, string][] = []) {
  if (pinnedInputs.length > 0) storeMemory(workflowId, { pinned: pinnedInputs.map(([id, name]) => toInputKey(id, name)), randomised: [] });
  tabRun.open({ name: "Fox", workflowId, order: ["1", "2", "3"], graph });
  await showNewApp();
}
const setField = (name: string, value: string) =>
  act(async () => void fireEvent.change(screen.getByLabelText(name), { target: { value } }));
const press = (name: string) => act(async () => void fireEvent.click(screen.getByRole("button", { name })));

it("creates an app from Run's pinned inputs with changed order and labels", async () => {
  await showNewAppOfWorkflow([
    ["1", "text"],
    ["2", "seed"],
  ]);
  expect((await screen.findByLabelText<HTMLInputElement>("Title")).value).toBe("Fox");
  const preview = within(screen.getByRole("region", { name: "Preview of the form" }));
  const previewField = preview.getByLabelText<HTMLTextAreaElement>(/What to draw/);
  expect(previewField.value).toBe("a fox");
  // Enter in a field of the editor's form would save the app.
  expect(previewField.form).toBeNull();
  await press("Move What to draw down");
  await press("Add steps of Sampler");
  await setField("Label", "Effort");
  await setField("Available to", "team");
  await press("Create app");
  const { definition, access } = appBodySchema.parse(savedBodies[0]);
  expect(definition.inputs.map(({ label, node, input, control }) => [label, node, input, control.kind])).toEqual([
    ["Seed", "2", "seed", "seed"],
    ["What to draw", "1", "text", "text"],
    ["Effort", "2", "steps", "number"],
  ]);
  expect(access).toEqual({ kind: "team" });
  expect(visitedPaths).toEqual(["/apps/app-1"]);
});

it("keeps the input list open and focused while inputs are added", async () => {
  await showNewAppOfWorkflow();
  const list = (await screen.findByRole("list", { name: "Add workflow inputs" })).closest("details");
  expect(list?.open).toBe(true);
  for (const name of ["Add steps of Sampler", "Add seed of Sampler"]) await press(name);
  expect(list?.open).toBe(true);
  expect(list?.contains(document.activeElement)).toBe(true);
});

it("reports App mode widgets that a form can't show", async () => {
  const pickedInputs = Object.entries({ 1: "text", 2: "positive", 9: "gone" }).map(([id, name]) => [Number(id), name]);
  const workflow = { nodes: [], links: [], extra: { linearData: { inputs: pickedInputs, outputs: [3] } } };
  tabRun.open({ name: "Fox", workflowId, order: ["1", "2", "3"], graph, extraData: { extra_pnginfo: { workflow } } });
  await showNewApp();
  expect(await screen.findByText(/App mode: positive, gone\. They are linked/)).toBeTruthy();
  await press("Create app");
  expect(appBodySchema.parse(savedBodies[0]).definition.inputs.map(({ input }) => input)).toEqual(["text"]);
});

it("keeps a changed default when the field type changes", async () => {
  await showNewAppOfWorkflow([
    ["2", "steps"],
    ["1", "text"],
  ]);
  const steps = await screen.findByRole("button", { name: /^Steps/ });
  await act(async () => void fireEvent.click(steps));
  await setField("Default", "30");
  await setField("Field type", "slider");
  expect(screen.getByLabelText<HTMLInputElement>("Default").value).toBe("30");
  await setField("Default", "");
  expect(screen.getByLabelText<HTMLInputElement>("Default").placeholder).toBe("20");
  const preview = within(screen.getByRole("region", { name: "Preview of the form" }));
  expect(preview.getByLabelText<HTMLInputElement>(/Steps/, { selector: "input:not([type])" }).value).toBe("20");
  await press("Create app");
  const { definition } = appBodySchema.parse(savedBodies[0]);
  expect(definition.inputs.map((input) => input.default)).toEqual([20, "a fox"]);
});

it("shows a number as typed until its field loses focus", async () => {
  await showNewAppOfWorkflow([["2", "steps"]]);
  await act(async () => void fireEvent.click(screen.getByRole("button", { name: /^Steps/ })));
  const fields = ["Minimum", "Maximum image size in megapixels"].map((name) => screen.getByLabelText<HTMLInputElement>(name));
  const [minimum, limit] = fields;
  for (const text of ["-", "-5"]) await setField("Minimum", text);
  for (const text of ["0", "0.", "0.5"]) {
    await setField("Maximum image size in megapixels", text);
    expect(limit?.value).toBe(text);
  }
  expect(minimum?.value).toBe("-5");
  await setField("Minimum", "-");
  expect(minimum?.value).toBe("-");
  for (const field of fields) fireEvent.blur(field);
  expect(fields.map(({ value }) => value)).toEqual(["", "0.5"]);
});

it.each([
  ["Fox", { workflow_name: "Fox" }],
  ["New app", {}],
])("takes the title from the job's workflow name, never from its id: %s", async (title, jobFields) => {
  const job = { id: "a2216e92-0000-4000-8000-000000000000", status: "completed", workflow: { prompt: graph }, ...jobFields };
  vi.stubGlobal("fetch", async (address: string) =>
    address.startsWith(`/api/jobs/${job.id}`) ? createResponse(job) : createNotImplemented(),
  );
  await showNewApp(job.id);
  expect((await screen.findByLabelText<HTMLInputElement>("Title")).value).toBe(title);
});

it("shows a message when no workflow is open in Run", async () => {
  await showNewApp();
  expect(await screen.findByText("No workflow is open in Run")).toBeDefined();
});

it("offers compatible field types and keeps the range across them", () => {
  const steps: AppControl = { kind: "number", isWhole: true, isSlider: false, min: 1, max: 50 };
  expect(getVariants(steps)).toEqual(["number", "slider", "seed"]);
  const slider = withVariant("slider", steps, steps);
  expect(slider).toEqual({ ...steps, isSlider: true });
  expect(getVariant(slider)).toBe("slider");
  const unlimitedNumber: AppControl = { kind: "number", isWhole: false, isSlider: false };
  expect(withVariant("slider", steps, unlimitedNumber)).toMatchObject({ isWhole: true });
  expect(withVariant("number", withVariant("seed", slider, steps), steps)).toEqual(steps);
});

it("writes one choice per line and reads each back with its type", () => {
  const choices = [{ value: 2, label: "Two" }, { value: "euler" }, { value: "a = b" }];
  const control: AppControl = { kind: "choice", choices };
  expect(formatChoices(control)).toBe("2 = Two\neuler\na = b");
  expect(parseChoices(formatChoices(control), control)).toEqual(choices);
});

describe("app editor", () => {
  const titles = ["", "Fox", "Owl"];

  /** `readAppVersion` and `readWorkflowVersion` return the stored version at each read. */
  async function openEditor(readAppVersion: () => number, readWorkflowVersion = readAppVersion, cache = new Map<string, never>()) {
    const view = { id: "app-1", access: "me", limits: {}, connectionId: "home", inputs: [] };
    const workflow = { text: "", tags: [], inputs: [], outputs: [], graph };
    const addVersion = (value: object, version: number) => ({ ...value, version, title: titles[version] });
    vi.stubGlobal("fetch", async (address: string) => {
      if (address === "/api/apps/app-1") return createResponse({ app: addVersion(view, readAppVersion()) });
      if (address === "/api/apps/app-1/workflow") return createResponse(addVersion(workflow, readWorkflowVersion()));
      return address === "/api/apps/app-1/versions" ? createResponse({ versions: [] }) : createNotImplemented();
    });
    await renderPage("/apps/app-1/edit", <EditAppScreen id="app-1" />, cache);
    return screen.findByLabelText<HTMLInputElement>("Title");
  }

  it("reloads the app each time it is opened", async () => {
    const cache = new Map<string, never>();
    expect((await openEditor(() => 1, undefined, cache)).value).toBe("Fox");
    cleanup();
    expect((await openEditor(() => 2, undefined, cache)).value).toBe("Owl");
  });

  it("shows one consistent version when the app is saved during the read", async () => {
    let reads = 0;
    const title = await openEditor(
      () => (reads > 0 ? 2 : 1),
      () => ((reads += 1), 2),
    );
    expect([title.value, reads]).toEqual(["Owl", 2]);
  });
});
