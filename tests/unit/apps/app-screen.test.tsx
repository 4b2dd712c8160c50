import { act, cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { hydrateRoot, type Root } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { expect, it } from "vitest";
import { formatCurlCommand } from "@/components/apps/app-screen";
import { type AppInput } from "@/lib/contract/apps/app";
import { fillApp } from "@/lib/contract/apps/fill";
import { asObject } from "@/lib/contract/json/json";
import { ok } from "@/lib/shared/result";
import { wrapInApp } from "../components/render";
import {
  createApp,
  createAppElement,
  createRun,
  inputs,
  page,
  press,
  pressRun,
  showApp,
  showWithEarlierInputs,
  typeInto,
} from "./app-page";

it("marks missing fields by label and sends nothing", async () => {
  await showApp();
  await pressRun();
  const field = screen.getByRole("group", { name: "Picture" });
  expect(within(field).getByText("Picture: needs an image")).toBeDefined();
  expect(document.activeElement).toBe(within(field).getByRole("button", { name: "Choose an image" }));
  expect(screen.queryByText(/field-|#1/)).toBeNull();
  await typeInto("Strength optional", "2");
  await pressRun();
  expect(screen.getByText("Strength: must be at most 1")).toBeDefined();
  expect(page.requests).toEqual([]);
});

it("sends the displayed values when one earlier input is changed", async () => {
  await showWithEarlierInputs();
  await typeInto("Prompt", "a red crow");
  await typeInto("Mode optional", "0");
  await pressRun();
  expect(page.requests).toMatchObject([
    {
      method: "POST",
      path: "/api/apps/app-1/runs",
      body: { inputs: { prompt: "a red crow", photo: "aa.png", seed: 7, mode: 1, strength: 1 } },
    },
  ]);
});

it("uses the default for an emptied field unless it is required", async () => {
  await showWithEarlierInputs();
  await typeInto("Strength optional", "");
  expect(screen.getByLabelText<HTMLInputElement>("Strength optional").placeholder).toBe("0.5");
  await typeInto("Prompt", "");
  await pressRun();
  expect(screen.getByText("Prompt: needs text")).toBeDefined();
  expect(page.requests).toEqual([]);
  await typeInto("Prompt", "an owl");
  await pressRun();
  const [{ body } = { body: undefined }] = page.requests;
  const filled = fillApp({ inputs, graph: {} }, asObject(asObject(body)?.inputs) ?? {});
  expect(filled).toMatchObject({ ok: true, values: { prompt: "an owl", strength: 0.5 } });
});

it("sends no picture when an optional picture is removed", async () => {
  const optionalInputs = inputs.map((input) => (input.name === "photo" ? { ...input, isRequired: false } : input));
  page.app = createApp({ inputs: optionalInputs });
  await showWithEarlierInputs();
  const field = within(screen.getByRole("group", { name: "Picture optional" }));
  expect(field.getByText("aa.png")).toBeDefined();
  await act(async () => void fireEvent.click(field.getByRole("button", { name: "Remove" })));
  expect(field.getByText("No image chosen")).toBeDefined();
  expect(field.queryByRole("button", { name: "Remove" })).toBeNull();
  await pressRun();
  expect(page.requests[0]?.body).not.toHaveProperty("inputs.photo");
});

it("shows examples below fields, using option labels for choices", async () => {
  const examples: Record<string, AppInput["example"]> = { prompt: "a red fox", mode: 1, photo: "b.png" };
  page.app = createApp({ inputs: inputs.map((input) => ({ ...input, example: examples[input.name] })) });
  await showApp();
  expect(screen.getByRole("textbox", { name: "Prompt" }).getAttribute("aria-describedby")).toBe("app-prompt-help");
  expect(screen.getAllByText(/^For example/).map(({ textContent }) => textContent)).toEqual([
    "For example: a red fox",
    "For example: Quick",
  ]);
});

it("hides Run and explains why when the console is read-only", async () => {
  page.app = createApp({ canRun: false });
  await showApp({ role: "operator", canChange: false });
  expect(screen.getByText("Lightdesk is read-only for now.")).toBeDefined();
  expect(screen.queryByRole("button", { name: "Run" })).toBeNull();
});

it.each(["runner", "viewer", "operator"] as const)("offers mask drawing and the pictures available to %s", async (role) => {
  const maskedInputs = inputs.map((input) =>
    input.name === "photo" ? { ...input, control: { kind: "picture" as const, hasMask: true } } : input,
  );
  page.app = createApp({ inputs: maskedInputs });
  await showWithEarlierInputs({ role });
  expect(screen.getByRole("button", { name: "Draw a mask" })).toBeDefined();
  expect(screen.getByRole("button", { name: role === "runner" ? "From your images" : "From assets" })).toBeDefined();
});

it("reuses the idempotency key when a failed request is retried with the same inputs", async () => {
  await showWithEarlierInputs();
  const outage = { status: 503, body: { error: { code: "UPSTREAM_UNREACHABLE", message: "away" } } };
  page.responses = [outage, outage];
  await pressRun();
  await screen.findByRole("button", { name: "Try again" });
  await press("Try again");
  await typeInto("Prompt", "an owl");
  await screen.findByRole("button", { name: "Try again" });
  await press("Try again");
  const [first, second, third] = page.requests;
  expect(first?.key).toMatch(/^[0-9a-f]{32}$/);
  expect(second).toEqual(first);
  expect(third?.body).toMatchObject({ inputs: { prompt: "an owl" } });
  expect(third?.key).not.toBe(first?.key);
});

it("shows input problems when a run is refused after it was accepted", async () => {
  await showWithEarlierInputs();
  const sending = createRun("earlier-run", {}, { state: "sending", results: [] });
  page.runs = [{ ...sending, state: "refused" }];
  const problems = [{ input: "seed", label: "Seed", code: "too_large", limit: 3 }];
  page.responses = [
    { status: 202, body: { run: sending } },
    { status: 422, body: { error: { code: "UNPROCESSABLE", message: "…", details: { problems } } } },
  ];
  await pressRun();
  expect(await screen.findByText("Seed: must be at most 3", undefined, { timeout: 10_000 })).toBeDefined();
  const [first, second] = page.requests;
  expect(second).toEqual(first);
});

it("starts the requested number of runs, each with its own key", async () => {
  await showWithEarlierInputs();
  await act(async () => void fireEvent.click(screen.getByLabelText("New on every run")));
  await typeInto("Number of runs", "4");
  await pressRun();
  expect(page.requests).toHaveLength(4);
  expect(new Set(page.requests.map(({ key }) => key)).size).toBe(4);
  expect(page.requests[0]?.body).toMatchObject({ inputs: { seed: "random" } });
});

it("shows the server's message next to its input", async () => {
  await showWithEarlierInputs();
  const problems = [{ input: "photo", label: "Picture", code: "not_yours" }];
  page.responses = [{ status: 422, body: { error: { code: "UNPROCESSABLE", message: "…", details: { problems } } } }];
  await pressRun();
  const field = screen.getByRole("group", { name: "Picture" });
  expect(within(field).getByText("Picture: the file no longer exists. Choose another one")).toBeDefined();
  expect(screen.queryByRole("button", { name: "Try again" })).toBeNull();
});

it("retries loading presets after a failure and fills the form from one", async () => {
  page.arePresetsUnavailable = true;
  await showApp();
  expect(await screen.findByText(/database does not answer/)).toBeDefined();
  expect(screen.queryByRole("option", { name: "Foxes" })).toBeNull();
  page.arePresetsUnavailable = false;
  await press("Try again");
  expect(await screen.findByRole("option", { name: "Foxes" })).toBeDefined();
  expect(screen.queryByText(/database does not answer/)).toBeNull();
  await typeInto("Fill in from…", "p1");
  expect(screen.getByLabelText<HTMLTextAreaElement>("Prompt").value).toBe("two foxes");
  expect(screen.queryByText(/no longer exists/)).toBeNull();
});

it.each([
  { isTeam: false, request: { method: "POST", path: "/api/apps/app-1/presets" } },
  { isTeam: true, request: { method: "PUT", path: "/api/apps/app-1/presets/p2" } },
])("replaces a team preset only when saving for the team: $isTeam", async ({ isTeam, request }) => {
  await showApp();
  await screen.findByRole("option", { name: "Crows (team)" });
  await press("Save values");
  await typeInto("Name", "Crows");
  if (isTeam) await act(async () => void fireEvent.click(screen.getByLabelText("Share with the team")));
  await press(isTeam ? "Replace" : "Save");
  expect(page.requests).toMatchObject([{ ...request, body: { name: "Crows", isTeam } }]);
});

it("reports a missing preset picture until another is chosen", async () => {
  page.missingFiles = ["fox.png"];
  await showApp();
  await screen.findByRole("option", { name: "Foxes" });
  await typeInto("Fill in from…", "p1");
  const field = within(screen.getByRole("group", { name: "Picture" }));
  expect(field.getByText("Picture: the file no longer exists. Choose another one")).toBeDefined();
  await typeInto("Fill in from…", "own");
  expect(screen.queryByText(/no longer exists/)).toBeNull();
});

it("restores typed values after a reload and hydrates cleanly", async () => {
  const appResponse = Promise.resolve(ok({ value: page.app, atMs: Date.now() }));
  const appElement = () => wrapInApp(createAppElement({ role: "operator" }, appResponse));
  // The first render resolves the promise, so the next render has the response immediately.
  await act(async () => void render(appElement()));
  cleanup();
  const container = document.body.appendChild(document.createElement("div"));
  container.innerHTML = renderToString(appElement());
  expect(within(container).getByRole<HTMLTextAreaElement>("textbox", { name: "Prompt" }).value).toBe("");
  sessionStorage.setItem("lightdesk.app.app-1", JSON.stringify({ prompt: "a heron", photo: "aa.png" }));
  const hydrationErrors: unknown[] = [];
  let root: Root | undefined;
  await act(async () => {
    root = hydrateRoot(container, appElement(), { onRecoverableError: (error) => hydrationErrors.push(error) });
  });
  expect((await screen.findByRole<HTMLTextAreaElement>("textbox", { name: "Prompt" })).value).toBe("a heron");
  expect(within(screen.getByRole("group", { name: "Picture" })).getByText("aa.png")).toBeDefined();
  expect(hydrationErrors).toEqual([]);
  await act(async () => root?.unmount());
  container.remove();
});

it("escapes quotes and adds file fields when it writes a curl command", () => {
  const examples = inputs.map((input) => ({ ...input, example: "it's" }));
  expect(formatCurlCommand("https://desk.example/api/apps/x/runs", examples.slice(0, 1))).toBe(
    String.raw`curl -H "Authorization: Bearer $LIGHTDESK_TOKEN" -H 'Content-Type: application/json' -d '{"inputs":{"prompt":"it'\''s"}}' 'https://desk.example/api/apps/x/runs'`,
  );
  expect(formatCurlCommand("https://desk.example/x", examples.slice(0, 2))).toContain("-F 'photo=@photo'");
});
