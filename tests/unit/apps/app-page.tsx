// Renders an app's page against a fake console that records requests.
import { act, fireEvent, screen } from "@testing-library/react";
import { Suspense } from "react";
import { SWRConfig } from "swr";
import { beforeEach, vi } from "vitest";
import { AppScreen } from "@/components/apps/app-screen";
import { MemberProvider } from "@/components/frame/member-context";
import { appDefinitionSchema, type AppPicture, type AppRun, type AppView } from "@/lib/contract/apps/app";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { type Role } from "@/lib/contract/members/roles";
import { ok } from "@/lib/shared/result";
import { PageProvider } from "@/tests/support/page-provider";
import { renderInApp } from "../components/render";

const node = { class_type: "Any", inputs: { text: "", seed: 1, image: "", strength: 0.5, mode: "a" } };
export const { inputs } = appDefinitionSchema.parse({
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
export const createApp = (overrides: Partial<AppView> = {}): AppView => ({
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
  ...overrides,
});
export const createRun = (id: string, inputs: AppRun["inputs"], overrides: Partial<AppRun> = {}): AppRun => ({
  id,
  appId: "app-1",
  version: 1,
  state: "completed",
  createdAt: Date.now(),
  inputs,
  results: [{ number: 0, label: "Poster", kind: "image", name: `${id}.png`, path: `/api/apps/app-1/runs/${id}/outputs/0` }],
  ...overrides,
});

type SentRequest = { method: string; path: string; key: string | null; body: unknown };
type Page = {
  app: AppView;
  requests: SentRequest[];
  runs: AppRun[];
  responses: { status: number; body: unknown }[];
  pictures: AppPicture[];
  /** Files that no longer exist. */
  missingFiles: string[];
  arePresetsUnavailable: boolean;
};

function createPage(): Page {
  return { app: createApp(), requests: [], runs: [], responses: [], pictures: [], missingFiles: [], arePresetsUnavailable: false };
}

/** The fake console's state and requests. `responses` replace its default responses in order. */
export const page: Page = createPage();

beforeEach(() => {
  Object.assign(page, createPage());
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => undefined, removeEventListener: () => undefined }));
  vi.stubGlobal("fetch", async (address: string, { method = "GET", headers, body }: RequestInit = {}) => {
    const { pathname: path, searchParams } = new URL(address, "http://localhost");
    const jsonResponse = (status: number, value: unknown) => new Response(writeExactJson(value), { status });
    if (method === "HEAD") return new Response(null, { status: page.missingFiles.includes(searchParams.get("name") ?? "") ? 404 : 200 });
    if (method === "GET") {
      if (path === "/api/apps/app-1/pictures") return jsonResponse(200, { pictures: page.pictures });
      if (path === "/api/apps/app-1") return jsonResponse(200, { app: page.app });
      const run = page.runs.find(({ id }) => path === `/api/apps/app-1/runs/${id}`);
      if (run) return jsonResponse(200, { run });
      if (path === "/api/apps/app-1/runs") return jsonResponse(200, { runs: page.runs });
      if (page.arePresetsUnavailable)
        return jsonResponse(503, { code: "SERVICE_UNAVAILABLE", message: "The console's database does not answer." });
      return jsonResponse(200, {
        presets: [
          { id: "p1", name: "Foxes", inputs: { prompt: "two foxes", photo: "fox.png" }, isTeam: false, canChange: true },
          { id: "p2", name: "Crows", inputs: { prompt: "a crow" }, isTeam: true, canChange: true },
        ],
      });
    }
    page.requests.push({
      method,
      path,
      key: new Headers(headers).get("idempotency-key"),
      body: parseExactJson(String(body), { emptyValue: undefined }),
    });
    const nextResponse = page.responses.shift();
    if (nextResponse) return jsonResponse(nextResponse.status, nextResponse.body);
    page.runs = [createRun(`run-${page.requests.length}`, {}), ...page.runs];
    return jsonResponse(202, { run: page.runs[0] });
  });
});

type Viewer = { role: Role; canChange?: boolean };

/** Renders like Next.js: `response` is the app's first response. */
export const createAppElement = (viewer: Viewer, response = Promise.resolve(ok({ value: page.app, atMs: Date.now() }))) => (
  <PageProvider pathname="/apps/app-1">
    <SWRConfig value={{ provider: () => new Map() }}>
      <Suspense>
        <MemberProvider {...viewer}>
          <AppScreen id="app-1" app={response} />
        </MemberProvider>
      </Suspense>
    </SWRConfig>
  </PageProvider>
);

export async function showApp(viewer: Viewer = { role: "operator" }) {
  await act(async () => void renderInApp(createAppElement(viewer)));
  await screen.findByRole("form", { name: "Inputs" });
}
export const press = (name: string) => act(async () => void fireEvent.click(screen.getByRole("button", { name })));
export const pressRun = () => press("Run");
export const typeInto = (name: string, value: string) =>
  act(async () => void fireEvent.change(screen.getByLabelText(name), { target: { value } }));
export const showWithEarlierInputs = async (viewer?: Viewer) => {
  page.runs = [createRun("earlier", { prompt: "a crow", photo: "aa.png", seed: 7, mode: 2, strength: 1 })];
  await showApp(viewer);
  await screen.findByRole("button", { name: "Use these inputs" });
  await press("Use these inputs");
};
