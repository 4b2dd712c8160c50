// @vitest-environment jsdom
// The page of an app, with a little console that keeps what it is sent.
import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { Suspense } from "react";
import { SWRConfig } from "swr";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { AppScreen } from "@/components/apps/app-screen";
import { MemberProvider } from "@/components/frame/member-context";
import { curlLine } from "@/components/apps/app-operation";
import { appDefinitionSchema, type AppInput, type AppRun, type AppView } from "@/lib/contract/apps/app";
import { fillApp } from "@/lib/contract/apps/fill";
import { objectOf } from "@/lib/contract/json/json";
import { type Role } from "@/lib/contract/people/roles";
import { ok } from "@/lib/shared/result";
import { parseExactJson, writeExactJson } from "@/lib/contract/json/exact-json";
import { renderInApp } from "../components/render";
import { AtPage } from "@/tests/support/at-page";

const node = { class_type: "Any", inputs: { text: "", seed: 1, image: "", strength: 0.5, mode: "a" } };
const { inputs } = appDefinitionSchema.parse({
  title: "Poster",
  graph: { "1": node },
  inputs: [
    { name: "prompt", node: "1", input: "text", label: "Prompt", control: { kind: "text" }, default: "a fox", isRequired: true },
    { name: "photo", node: "1", input: "image", label: "Picture", control: { kind: "picture" }, isRequired: true },
    { name: "seed", node: "1", input: "seed", label: "Seed", group: "More", control: { kind: "seed" } },
    {
      name: "mode",
      node: "1",
      input: "mode",
      label: "Mode",
      control: { kind: "choice", choices: [{ value: 1, label: "Quick" }, { value: 2 }] },
      default: 1,
    },
    { name: "strength", node: "1", input: "strength", label: "Strength", control: { kind: "number", max: 1 }, default: 0.5 },
  ],
});
const app = (change: Partial<AppView> = {}): AppView => ({
  id: "app-1",
  title: "Poster",
  text: "Makes a poster.",
  tags: [],
  hasCover: false,
  maker: { id: "ada", name: "Ada" },
  access: "team",
  version: 1,
  updatedAt: 0,
  isFavourite: false,
  canEdit: false,
  canRun: true,
  connectionId: "home",
  inputs,
  limits: {},
  canSeeWorkflow: false,
  ...change,
});
const run = (id: string, given: AppRun["inputs"], change: Partial<AppRun> = {}): AppRun => ({
  id,
  appId: "app-1",
  version: 1,
  state: "completed",
  createdAt: Date.now(),
  inputs: given,
  results: [{ number: 0, label: "Poster", kind: "image", name: `${id}.png`, path: `/api/apps/app-1/runs/${id}/outputs/0` }],
  ...change,
});

type Sent = { method: string; path: string; key: string | null; body: unknown };
let shown: AppView;
let sent: Sent[];
let runs: AppRun[];
let answers: { status: number; body: unknown }[];

beforeEach(() => {
  shown = app();
  sent = [];
  runs = [];
  answers = [];
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => undefined, removeEventListener: () => undefined }));
  vi.stubGlobal("fetch", async (address: string, { method = "GET", headers, body }: RequestInit = {}) => {
    const path = new URL(address, "http://localhost").pathname;
    const answer = (status: number, value: unknown) => new Response(writeExactJson(value), { status });
    if (method === "GET") {
      if (path === "/api/apps/app-1") return answer(200, { app: shown });
      if (path === "/api/apps/app-1/runs") return answer(200, { runs });
      return answer(200, { presets: [{ id: "p1", name: "Foxes", inputs: { prompt: "two foxes" }, isTeam: false, canChange: true }] });
    }
    sent.push({ method, path, key: new Headers(headers).get("idempotency-key"), body: parseExactJson(String(body), { means: undefined }) });
    const next = answers.shift();
    if (next) return answer(next.status, next.body);
    runs = [run(`run-${sent.length}`, {}), ...runs];
    return answer(202, { run: runs[0] });
  });
});
afterEach(() => {
  cleanup();
  sessionStorage.clear();
  vi.unstubAllGlobals();
});

type Who = { role: Role; isReadOnly?: boolean };

async function show(who: Who = { role: "operator" }) {
  await act(async () => {
    renderInApp(
      <AtPage pathname="/apps/app-1">
        <SWRConfig value={{ provider: () => new Map() }}>
          <Suspense>
            <MemberProvider {...who}>
              <AppScreen id="app-1" app={Promise.resolve(ok({ value: shown, atMs: Date.now() }))} />
            </MemberProvider>
          </Suspense>
        </SWRConfig>
      </AtPage>,
    );
  });
  await screen.findByRole("form", { name: "Inputs" });
}
const press = (name: string) => act(async () => void fireEvent.click(screen.getByRole("button", { name })));
const pressRun = () => press("Run");
const type = (name: string, value: string) => act(async () => void fireEvent.change(screen.getByLabelText(name), { target: { value } }));
const withPicture = async (who?: Who) => {
  runs = [run("earlier", { prompt: "a crow", photo: "aa.png", seed: 7, mode: 2, strength: 1 })];
  await show(who);
  await screen.findByRole("button", { name: "Use these inputs" });
  await press("Use these inputs");
};

it("says beside the field what an app still needs, in the app's words, and sends nothing", async () => {
  await show();
  await pressRun();
  const field = screen.getByRole("group", { name: "Picture" });
  expect(within(field).getByText("Picture: needs an image")).toBeDefined();
  expect(document.activeElement).toBe(within(field).getByRole("button", { name: "Choose a picture" }));
  expect(screen.queryByText(/field-|#1/)).toBeNull();
  await type("Strength optional", "2");
  await pressRun();
  expect(screen.getByText("Strength: must be at most 1")).toBeDefined();
  expect(sent).toEqual([]);
});

it("sends what the form shows, with one thing changed since an earlier run", async () => {
  await withPicture();
  await type("Prompt", "a red crow");
  await act(async () => void fireEvent.change(screen.getByLabelText("Mode optional"), { target: { value: "0" } }));
  await pressRun();
  expect(sent).toMatchObject([
    {
      method: "POST",
      path: "/api/apps/app-1/runs",
      body: { inputs: { prompt: "a red crow", photo: "aa.png", seed: 7, mode: 1, strength: 1 } },
    },
  ]);
});

it("shows what is sent of a field that was emptied, and asks again for what must be filled in", async () => {
  await withPicture();
  await type("Strength optional", "");
  expect(screen.getByLabelText<HTMLInputElement>("Strength optional").placeholder).toBe("0.5");
  await type("Prompt", "");
  await pressRun();
  expect(screen.getByText("Prompt: needs a text")).toBeDefined();
  expect(sent).toEqual([]);
  await type("Prompt", "an owl");
  await pressRun();
  const [{ body } = { body: undefined }] = sent;
  const filled = fillApp({ inputs, graph: {} }, objectOf(objectOf(body)?.inputs) ?? {});
  expect(filled).toMatchObject({ ok: true, values: { prompt: "an owl", strength: 0.5 } });
});

it("takes a picture out again where none is needed: back to the app's own", async () => {
  const free = inputs.map((one) => (one.name === "photo" ? { ...one, isRequired: false } : one));
  shown = app({ inputs: free });
  await withPicture();
  const field = within(screen.getByRole("group", { name: "Picture optional" }));
  expect(field.getByText("aa.png")).toBeDefined();
  await act(async () => void fireEvent.click(field.getByRole("button", { name: "Remove" })));
  expect(field.getByText("No picture chosen")).toBeDefined();
  expect(field.queryByRole("button", { name: "Remove" })).toBeNull();
  await pressRun();
  expect(sent[0]?.body).not.toHaveProperty("inputs.photo");
});

it("shows an example below its field, as the form calls it", async () => {
  const examples: Record<string, AppInput["example"]> = { prompt: "a red fox", mode: 1, photo: "b.png" };
  shown = app({ inputs: inputs.map((one) => ({ ...one, example: examples[one.name] })) });
  await show();
  expect(screen.getByRole("textbox", { name: "Prompt" }).getAttribute("aria-describedby")).toBe("app-prompt-help");
  expect(screen.getAllByText(/^For example/).map(({ textContent }) => textContent)).toEqual([
    "For example: a red fox",
    "For example: Quick",
  ]);
});

it("keeps what was filled in over a reload of the page", async () => {
  await show();
  await type("Prompt", "an owl");
  cleanup();
  await show();
  expect(screen.getByLabelText<HTMLTextAreaElement>("Prompt").value).toBe("an owl");
});

it("says that the console is read-only where nobody can run anything", async () => {
  shown = app({ canRun: false });
  await show({ role: "operator", isReadOnly: true });
  expect(screen.getByText("Lightdesk is read-only for now.")).toBeDefined();
  expect(screen.queryByRole("button", { name: "Run" })).toBeNull();
});

it.each(["runner", "viewer", "operator"] as const)(
  "lets a mask be drawn, and a picture be chosen from what one may see: %s",
  async (role) => {
    const masked = inputs.map((one) => (one.name === "photo" ? { ...one, control: { kind: "picture" as const, hasMask: true } } : one));
    shown = app({ inputs: masked });
    await withPicture({ role });
    expect(screen.getByRole("button", { name: "Draw a mask" })).toBeDefined();
    expect(screen.getByRole("button", { name: role === "runner" ? "From your pictures" : "From assets" })).toBeDefined();
  },
);

it("keeps the key of what was not answered, so that to try again starts nothing twice", async () => {
  await withPicture();
  answers = [{ status: 503, body: { error: { code: "UPSTREAM_UNREACHABLE", message: "away" } } }];
  await pressRun();
  await screen.findByRole("button", { name: "Try again" });
  await press("Try again");
  const [first, second] = sent;
  expect(sent).toHaveLength(2);
  expect(first?.key).toMatch(/^[0-9a-f]{32}$/);
  expect(second).toEqual(first);
});

it("sends what the form shows by now when it is tried again, as another run", async () => {
  await withPicture();
  answers = [{ status: 503, body: { error: { code: "UPSTREAM_UNREACHABLE", message: "away" } } }];
  await pressRun();
  await type("Prompt", "an owl");
  await screen.findByRole("button", { name: "Try again" });
  await press("Try again");
  const [first, second] = sent;
  expect(second?.body).toMatchObject({ inputs: { prompt: "an owl" } });
  expect(second?.key).not.toBe(first?.key);
});

it("says once that a run was not sent, and offers to cancel only what became a job", async () => {
  const words = "The console stopped before this was sent. Nothing ran: run it again.";
  runs = [
    run("c", {}, { state: "unsent", results: [], error: { message: "The console ended before it was sent." } }),
    run("b", {}, { state: "sending", results: [] }),
    run("a", {}, { state: "pending", results: [] }),
  ];
  await show();
  const [unsent, sending, pending] = (await screen.findAllByRole("article")).map((card) => within(card));
  expect(unsent?.getByText(words)).toBeDefined();
  expect(unsent?.queryByRole("alert")).toBeNull();
  expect(sending?.queryByRole("button", { name: "Cancel" })).toBeNull();
  expect(pending?.getByRole("button", { name: "Cancel" })).toBeDefined();
});

it("says why a run failed in the reader's words, with the node one press away for whoever is told of it", async () => {
  const problems = [
    { input: "strength", label: "Strength", control: "number" as const, code: "too_large" as const, limit: 1 },
    { input: "prompt", label: "Prompt", message: "is too odd" },
  ];
  const failed = { state: "failed" as const, results: [] };
  runs = [
    run("e", {}, { state: "unknown", results: [], error: { message: "English", code: "answer_lost" } }),
    run("d", {}, { ...failed, error: { message: "English", code: "workflow" } }),
    run("c", {}, { ...failed, jobId: "job-c", error: { message: "English", code: "inputs", problems, node: "12:3" } }),
    run("b", {}, { ...failed, jobId: "job-b", error: { message: "out of memory", node: "7" } }),
    run("a", {}, { ...failed, error: { message: "out of memory" } }),
  ];
  await show();
  const cards = (await screen.findAllByRole("article")).map((card) => within(card));
  expect(screen.queryByText(/English/)).toBeNull();
  expect(cards[0]?.getByText(/stopped while it waited for the service's answer/)).toBeDefined();
  expect(cards.slice(1).map((card) => card.getByRole("alert").textContent)).toEqual([
    "Its workflow is refused. Ada can mend it.",
    "Strength: must be at most 1Prompt: is too odd",
    "out of memory",
    "out of memory",
  ]);
  const links = cards.map((card) => card.queryByRole("link", { name: "Show the node" })?.getAttribute("href"));
  expect(links).toEqual([
    undefined,
    undefined,
    "/run?job=job-c&connection=home#node-12%3A3",
    "/run?job=job-b&connection=home#node-7",
    undefined,
  ]);
});

it("keeps every digit of a limit that the server tells", async () => {
  await withPicture();
  const problems = [{ input: "seed", label: "Seed", code: "too_large", limit: 18446744073709551615n }];
  answers = [{ status: 422, body: { error: { code: "UNPROCESSABLE", message: "…", details: { problems } } } }];
  await pressRun();
  expect(screen.getByText("Seed: must be at most 18446744073709551615")).toBeDefined();
});

it("starts as many runs as were asked for, each with a key of its own", async () => {
  await withPicture();
  await act(async () => void fireEvent.click(screen.getByLabelText("New with every run")));
  await act(async () => void fireEvent.change(screen.getByLabelText("How many runs"), { target: { value: "4" } }));
  await pressRun();
  expect(sent).toHaveLength(4);
  expect(new Set(sent.map(({ key }) => key)).size).toBe(4);
  expect(sent[0]?.body).toMatchObject({ inputs: { seed: "random" } });
});

it("shows what the server says of an input beside that input", async () => {
  await withPicture();
  const problems = [{ input: "photo", label: "Picture", code: "not_yours" }];
  answers = [{ status: 422, body: { error: { code: "UNPROCESSABLE", message: "…", details: { problems } } } }];
  await pressRun();
  const field = screen.getByRole("group", { name: "Picture" });
  expect(within(field).getByText("Picture: the file is not there any more. Choose it again")).toBeDefined();
  expect(screen.queryByRole("button", { name: "Try again" })).toBeNull();
});

it("fills the form from values that were saved by name", async () => {
  await show();
  await screen.findByRole("option", { name: "Foxes" });
  await act(async () => void fireEvent.change(screen.getByLabelText("Fill in with …"), { target: { value: "p1" } }));
  expect(screen.getByLabelText<HTMLTextAreaElement>("Prompt").value).toBe("two foxes");
});

it("tells of each run what was changed since the one before it, and hands its picture out", async () => {
  runs = [run("b", { prompt: "a red crow", mode: 1 }), run("a", { prompt: "a crow", mode: 1 })];
  await show();
  const [newest] = await screen.findAllByRole("article");
  const card = within(newest ?? document.body);
  expect(card.getAllByText("a red crow")).toHaveLength(2);
  expect(card.getAllByText("Quick")).toHaveLength(1);
  expect(card.getByRole("link", { name: "Download b.png" }).getAttribute("href")).toBe("/api/apps/app-1/runs/b/outputs/0");
});

it("writes a line for a shell that keeps quotes, and sends files beside the values", () => {
  const text: AppInput = {
    name: "p",
    node: "1",
    input: "t",
    label: "P",
    help: "",
    group: "",
    control: { kind: "text", isLong: false },
    isRequired: true,
    example: "it's",
  };
  expect(curlLine("https://desk.example/api/apps/x/runs", [text])).toBe(
    String.raw`curl -H "Authorization: Bearer $LIGHTDESK_TOKEN" -H 'Content-Type: application/json' -d '{"inputs":{"p":"it'\''s"}}' 'https://desk.example/api/apps/x/runs'`,
  );
  expect(curlLine("https://desk.example/x", inputs)).toContain("-F 'photo=@photo'");
});
