import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { type ReactNode } from "react";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ToolBar } from "@/components/frame/list/tool-bar";
import { MemberProvider } from "@/components/frame/member-context";
import { CommandPalette } from "@/components/frame/palette/command-palette";
import { findItems, type PaletteItem, parseJobId } from "@/components/frame/palette/use-palette-items";
import { Shortcuts } from "@/components/frame/shortcuts";
import { usePageKey } from "@/components/ui/hooks/page-events";
import { type Role } from "@/lib/contract/members/roles";
import { createFakeRouter } from "@/tests/support/page-provider";
import { renderInApp } from "./render";
import { wrapInScreen } from "./render-screen";

const visitedPaths: string[] = [];
const router = createFakeRouter((href) => void visitedPaths.push(href));
beforeEach(() => void visitedPaths.splice(0));

describe("palette", () => {
  beforeAll(() => {
    // jsdom doesn't implement scrolling, which returns a promise in browsers.
    Object.assign(Element.prototype, { scrollIntoView: () => Promise.resolve() });
  });

  it("finds commands by label or search term, with prefix matches first", () => {
    const createItem = (key: string, group: PaletteItem["group"], label: string, overrides: Partial<PaletteItem> = {}): PaletteItem => ({
      ...{ key, group, label, run: () => undefined },
      ...overrides,
    });
    const items = [
      createItem("1", "pages", "Queue"),
      createItem("2", "actions", "Theme: dark"),
      createItem("3", "workflows", "Poster from a photo", { searchTerms: "wf-42" }),
      createItem("4", "workflows", "Photo poster"),
      createItem("5", "jobs", "0191aaaa", { onDemand: true }),
    ];
    const findKeys = (query: string) => findItems(items, query).map(({ key }) => key);
    expect(findKeys("")).toEqual(["1", "3", "4", "2"]);
    expect(findKeys("PHOTO")).toEqual(["4", "3"]);
    expect(findKeys("poster photo")).toEqual(["3", "4"]);
    expect(findKeys("wf-42")).toEqual(["3"]);
    expect(findKeys("0191")).toEqual(["5"]);
    expect(findKeys("nowhere")).toEqual([]);
  });

  it("parses only complete job ids", () => {
    expect(parseJobId(" 0191c0de-0000-7000-8000-000000000001\n")).toBe("0191c0de-0000-7000-8000-000000000001");
    for (const text of ["", "0191c0de", "a workflow of 2026 with spaces", "../../etc/passwd-0000000", "aaaaaaaaaaaaaaaaaaaaaaaa"]) {
      expect(parseJobId(text)).toBeUndefined();
    }
  });

  function renderPalette({ role = "owner", connectionId }: { role?: Role; connectionId?: string } = {}) {
    const onClose = vi.fn();
    const palette = (
      <MemberProvider role={role}>
        <CommandPalette onClose={onClose} />
      </MemberProvider>
    );
    renderInApp(wrapInScreen(palette, { router, connectionId }));
    const field = screen.getByRole("combobox", { name: "Page, job, workflow, asset or action" });
    return {
      field,
      onClose,
      getSelectedText: () => document.getElementById(field.getAttribute("aria-activedescendant") ?? "")?.textContent,
      type: (value: string) => fireEvent.change(field, { target: { value } }),
    };
  }
  const isOffered = (name: string | RegExp) => screen.queryByRole("option", { name }) !== null;

  it("keeps the focus in the field and runs the selected item on Enter", () => {
    const { field, getSelectedText, onClose } = renderPalette();
    expect(document.activeElement).toBe(field);
    expect(getSelectedText()).toBe("Overview");
    fireEvent.keyDown(field, { key: "ArrowUp" });
    expect(getSelectedText()).toBe("Sign out");
    for (let press = 0; press < 3; press++) fireEvent.keyDown(field, { key: "ArrowDown" });
    expect(getSelectedText()).toContain("Queue");
    expect(screen.getByRole("option", { name: "Queue" }).getAttribute("aria-selected")).toBe("true");
    fireEvent.keyDown(field, { key: "Enter", isComposing: true });
    expect(onClose).not.toHaveBeenCalled();
    fireEvent.keyDown(field, { key: "Enter" });
    expect(visitedPaths).toEqual(["/queue"]);
    expect(onClose).toHaveBeenCalled();
  });

  it("ignores Enter when nothing is found", () => {
    const { field, onClose, type } = renderPalette();
    type("zzz");
    expect(screen.getByRole("status").textContent).toMatch(/^Nothing found\.$/);
    expect(screen.queryAllByRole("option")).toEqual([]);
    fireEvent.keyDown(field, { key: "Enter" });
    fireEvent.keyDown(field, { key: "ArrowDown" });
    expect(onClose).not.toHaveBeenCalled();
  });

  it("offers languages and samples only in searches and opens filtered lists", () => {
    const { type } = renderPalette();
    expect([isOffered(/^简体中文/), isOffered(/^Invert/)]).toEqual([false, false]);
    type("language");
    expect(isOffered(/^简体中文/)).toBe(true);
    type("invert");
    fireEvent.click(screen.getByRole("option", { name: /^Invert/ }));
    type("failed");
    fireEvent.click(screen.getByRole("option", { name: "Show failed jobs" }));
    expect(visitedPaths).toEqual(["/run?sample=01-invert", "/jobs?status=failed"]);
  });

  it.each<[string, string, string, Role, Role]>([
    ["invite", "Invite a member", "/settings/members?invite=1", "owner", "operator"],
    ["cancel", "Cancel pending jobs…", "/queue?clear=1", "operator", "viewer"],
  ])("finds %s only when the role allows it", (query, name, path, allowedRole, otherRole) => {
    renderPalette({ role: allowedRole }).type(query);
    fireEvent.click(screen.getByRole("option", { name }));
    expect(visitedPaths).toEqual([path]);
    cleanup();
    renderPalette({ role: otherRole }).type(query);
    expect(isOffered(name)).toBe(false);
  });

  function search(query: string, respondToAssets: () => Response) {
    const requests: string[] = [];
    vi.stubGlobal("fetch", async (path: string) => {
      requests.push(path);
      return path.startsWith("/api/assets")
        ? respondToAssets()
        : Response.json({ jobs: [], pagination: { offset: 0, limit: 100, total: 0, has_more: false } });
    });
    renderPalette({ connectionId: "studio" }).type(query);
    return requests;
  }

  it("finds assets by part of their name", async () => {
    const times = { created_at: "2026-01-01T00:00:00Z", updated_at: "2026-01-01T00:00:00Z" };
    const asset = { id: "a-1", name: "poster-07.png", size: 1, tags: [], ...times };
    const requests = search("poster-0", () => Response.json({ assets: [asset], total: 1, has_more: false }));
    fireEvent.click(await screen.findByRole("option", { name: "poster-07.png" }));
    expect(visitedPaths).toEqual(["/assets/a-1"]);
    expect(requests.find((path) => path.startsWith("/api/assets"))).toContain("name_contains=poster-0");
  });

  it("reports that assets were not searched when the service is unreachable", async () => {
    search("zzz", () => Response.json({ code: "UPSTREAM_UNREACHABLE", message: "" }, { status: 502 }));
    expect(await screen.findByText(/^Couldn't search assets:/)).toBeDefined();
    cleanup();
    const requests = search("zzz", () => Response.json({ code: "NOT_IMPLEMENTED", message: "" }, { status: 501 }));
    await waitFor(() => expect(requests.some((path) => path.startsWith("/api/assets"))).toBe(true));
    expect(screen.queryByText(/^Couldn't search assets:/)).toBeNull();
  });

  it("lists recent jobs by name and time and finds them by id", async () => {
    const createJob = (id: string, overrides: object) => ({ id, status: "failed", create_time: Date.UTC(2026, 1, 28, 9, 5), ...overrides });
    const jobs = [
      createJob("0191c0de-0000-7000-8000-000000000001", { workflow_id: "w", workflow_name: "Poster" }),
      createJob("0191beef-0000-7000-8000-000000000002", {}),
    ];
    vi.stubGlobal("fetch", async (path: string) =>
      path.startsWith("/api/jobs?")
        ? Response.json({ jobs, pagination: { offset: 0, limit: 100, total: 2, has_more: false } })
        : Response.json({ jobs: [], assets: [], pagination: { offset: 0, limit: 12, total: 0, has_more: false } }),
    );
    const { type } = renderPalette({ connectionId: "studio" });
    expect((await screen.findByRole("option", { name: /^Poster.*Feb 28.*9:05.*Failed$/ })).textContent).toContain("Failed");
    type("0191beef");
    fireEvent.click(screen.getByRole("option", { name: /^Job 0191beef/ }));
    expect(visitedPaths).toEqual(["/jobs/0191beef-0000-7000-8000-000000000002"]);
  });
});

const renderShortcuts = (children: ReactNode) =>
  renderInApp(
    <>
      <Shortcuts />
      <ToolBar label="Filters">
        <a href="#all">All</a>
        {children}
      </ToolBar>
    </>,
  );

it.each([
  ["the filter field", <input type="search" aria-label="Name" />, "searchbox"],
  ["the first filter", null, "link"],
])("focuses %s when / is pressed", (_, field, role) => {
  renderShortcuts(field);
  fireEvent.keyDown(document.body, { key: "/" });
  expect(document.activeElement).toBe(screen.getByRole(role));
});

it("ignores / and ? while typing, with a modifier key and in an input method", () => {
  renderShortcuts(<textarea aria-label="Text" />);
  const text = screen.getByRole("textbox", { name: "Text" });
  text.focus();
  expect(fireEvent.keyDown(text, { key: "/" })).toBe(true);
  expect(fireEvent.keyDown(text, { key: "?" })).toBe(true);
  expect(fireEvent.keyDown(document.body, { key: "/", ctrlKey: true })).toBe(true);
  expect(fireEvent.keyDown(document.body, { key: "/", isComposing: true })).toBe(true);
  expect(fireEvent.keyDown(document.body, { key: "/", keyCode: 229 })).toBe(true);
  expect(document.activeElement).toBe(text);
  expect(screen.queryByRole("dialog", { hidden: true })).toBeNull();
});

it("opens a page when g and its letter are pressed in sequence", () => {
  const onRowKey = vi.fn();
  function Page() {
    usePageKey((event) => void onRowKey(event.key));
    return <input aria-label="Name" />;
  }
  const page = (
    <>
      <Page />
      <Shortcuts />
    </>
  );
  renderInApp(wrapInScreen(page, { router }));
  for (const letter of ["j", "q", "h", "a", "f", "r", "s", "z"]) {
    fireEvent.keyDown(document.body, { key: "g" });
    fireEvent.keyDown(document.body, { key: letter });
  }
  expect(visitedPaths).toEqual(["/jobs", "/queue", "/history", "/assets", "/files", "/run", "/settings"]);
  fireEvent.keyDown(document.body, { key: "j" });
  fireEvent.keyDown(screen.getByRole("textbox", { name: "Name" }), { key: "g" });
  fireEvent.keyDown(screen.getByRole("textbox", { name: "Name" }), { key: "j" });
  expect(visitedPaths).toHaveLength(7);
  expect(onRowKey.mock.calls.map(([key]) => key).filter((key) => key !== "g")).toEqual(["z", "j", "j"]);
});
