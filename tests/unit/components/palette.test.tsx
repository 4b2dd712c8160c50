import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { ToolBar } from "@/components/frame/list/tool-bar";
import { MemberProvider } from "@/components/frame/member-context";
import { CommandPalette } from "@/components/frame/palette/command-palette";
import { findItems, type PaletteItem, parseJobId } from "@/components/frame/palette/use-palette-items";
import { Shortcuts } from "@/components/frame/shortcuts";
import { usePageKey } from "@/components/ui/hooks/page-events";
import { type Role } from "@/lib/contract/members/roles";
import { PageProvider } from "@/tests/support/page-provider";
import { renderInApp } from "./render";

describe("palette", () => {
  const createItem = (key: string, group: PaletteItem["group"], label: string, overrides: Partial<PaletteItem> = {}): PaletteItem => ({
    key,
    group,
    label,
    run: () => undefined,
    ...overrides,
  });

  const visitedPaths: string[] = [];
  const router = {
    push: (href: string) => void visitedPaths.push(href),
    replace: () => undefined,
    refresh: () => undefined,
    bfcacheId: "test",
    back: () => undefined,
    forward: () => undefined,
    prefetch: () => undefined,
  };

  beforeAll(() => {
    // jsdom doesn't implement scrolling, which returns a promise in browsers.
    Object.assign(Element.prototype, { scrollIntoView: () => Promise.resolve() });
  });
  beforeEach(() => void visitedPaths.splice(0));

  it("finds commands by label or search term, with prefix matches first", () => {
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

  const connections = [{ id: "studio", name: "Studio", embedded: false }];

  function renderPalette(role: Role = "owner") {
    let isClosed = false;
    renderInApp(
      <PageProvider router={router}>
        <ConnectionProvider currentId={undefined} connections={[]}>
          <MemberProvider role={role}>
            <CommandPalette onClose={() => (isClosed = true)} />
          </MemberProvider>
        </ConnectionProvider>
      </PageProvider>,
    );
    const field = screen.getByRole("combobox", { name: "Page, job, workflow, asset or action" });
    return {
      field,
      getSelectedText: () => document.getElementById(field.getAttribute("aria-activedescendant") ?? "")?.textContent,
      isClosed: () => isClosed,
    };
  }

  it("keeps the focus in the field and runs the selected item on Enter", () => {
    const { field, getSelectedText, isClosed } = renderPalette();
    expect(document.activeElement).toBe(field);
    expect(getSelectedText()).toBe("Overview");
    fireEvent.keyDown(field, { key: "ArrowUp" });
    expect(getSelectedText()).toBe("Sign out");
    for (let press = 0; press < 3; press++) fireEvent.keyDown(field, { key: "ArrowDown" });
    expect(getSelectedText()).toContain("Queue");
    expect(screen.getByRole("option", { name: "Queue" }).getAttribute("aria-selected")).toBe("true");
    fireEvent.keyDown(field, { key: "Enter" });
    expect(visitedPaths).toEqual(["/queue"]);
    expect(isClosed()).toBe(true);
  });

  it("ignores Enter when nothing is found", () => {
    const { field, isClosed } = renderPalette();
    fireEvent.change(field, { target: { value: "zzz" } });
    expect(screen.getByRole("status").textContent).toMatch(/^Nothing found\.$/);
    expect(screen.queryAllByRole("option")).toEqual([]);
    fireEvent.keyDown(field, { key: "Enter" });
    fireEvent.keyDown(field, { key: "ArrowDown" });
    expect(isClosed()).toBe(false);
  });

  it("ignores Enter when an input method is active", () => {
    const { field, isClosed } = renderPalette();
    fireEvent.keyDown(field, { key: "Enter", isComposing: true });
    expect(isClosed()).toBe(false);
  });

  it("offers other languages only when they are searched for", () => {
    const { field } = renderPalette();
    expect(screen.queryByRole("option", { name: /^简体中文/ })).toBeNull();
    fireEvent.change(field, { target: { value: "language" } });
    expect(screen.getByRole("option", { name: /^简体中文/ })).toBeDefined();
  });

  it("opens a sample, and an invitation form when the role allows it", () => {
    const { field } = renderPalette();
    expect(screen.queryByRole("option", { name: /^Invert/ })).toBeNull();
    fireEvent.change(field, { target: { value: "invert" } });
    fireEvent.click(screen.getByRole("option", { name: /^Invert/ }));
    expect(visitedPaths).toEqual(["/run?sample=01-invert"]);
    fireEvent.change(field, { target: { value: "invite" } });
    fireEvent.click(screen.getByRole("option", { name: "Invite a member" }));
    expect(visitedPaths[1]).toBe("/settings/members?invite=1");
    cleanup();
    renderPalette("operator");
    expect(screen.queryByRole("option", { name: "Invite a member" })).toBeNull();
  });

  async function search(query: string, respond: () => Response) {
    const requests: string[] = [];
    vi.stubGlobal("fetch", async (path: string) => {
      requests.push(path);
      return path.startsWith("/api/assets")
        ? respond()
        : Response.json({ jobs: [], pagination: { offset: 0, limit: 100, total: 0, has_more: false } });
    });
    renderInApp(
      <PageProvider router={router}>
        <ConnectionProvider currentId="studio" connections={connections}>
          <CommandPalette onClose={() => undefined} />
        </ConnectionProvider>
      </PageProvider>,
    );
    fireEvent.change(screen.getByRole("combobox"), { target: { value: query } });
    return requests;
  }

  it("finds assets by part of their name", async () => {
    const asset = {
      id: "a-1",
      name: "poster-07.png",
      size: 1,
      tags: [],
      created_at: "2026-01-01T00:00:00Z",
      updated_at: "2026-01-01T00:00:00Z",
    };
    const requests = await search("poster-0", () => Response.json({ assets: [asset], total: 1, has_more: false }));
    fireEvent.click(await screen.findByRole("option", { name: "poster-07.png" }));
    expect(visitedPaths).toEqual(["/assets/a-1"]);
    expect(requests.find((path) => path.startsWith("/api/assets"))).toContain("name_contains=poster-0");
  });

  it("reports that assets were not searched when the service is unreachable", async () => {
    await search("zzz", () => Response.json({ code: "UPSTREAM_UNREACHABLE", message: "" }, { status: 502 }));
    expect(await screen.findByText(/^Assets could not be searched:/)).toBeDefined();
    cleanup();
    const requests = await search("zzz", () => Response.json({ code: "NOT_IMPLEMENTED", message: "" }, { status: 501 }));
    await waitFor(() => expect(requests.some((path) => path.startsWith("/api/assets"))).toBe(true));
    expect(screen.queryByText(/^Assets could not be searched:/)).toBeNull();
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
    renderInApp(
      <PageProvider router={router}>
        <ConnectionProvider currentId="studio" connections={connections}>
          <CommandPalette onClose={() => undefined} />
        </ConnectionProvider>
      </PageProvider>,
    );
    expect((await screen.findByRole("option", { name: /^Poster.*Feb 28.*9:05.*Failed$/ })).textContent).toContain("Failed");
    fireEvent.change(screen.getByRole("combobox"), { target: { value: "0191beef" } });
    fireEvent.click(screen.getByRole("option", { name: /^Job 0191beef/ }));
    expect(visitedPaths).toEqual(["/jobs/0191beef-0000-7000-8000-000000000002"]);
  });

  it("offers to cancel waiting jobs only when the role allows it", () => {
    renderPalette("operator");
    fireEvent.click(screen.getByRole("option", { name: "Cancel waiting jobs…" }));
    fireEvent.click(screen.getByRole("option", { name: "Show failed jobs" }));
    expect(visitedPaths).toEqual(["/queue?clear=1", "/jobs?status=failed"]);
    cleanup();
    renderPalette("viewer");
    expect(screen.queryByRole("option", { name: "Cancel waiting jobs…" })).toBeNull();
  });
});

it("focuses the filter field or the first filter when / is pressed", () => {
  const { unmount } = renderInApp(
    <>
      <Shortcuts />
      <ToolBar label="Filters">
        <a href="#all">All</a>
        <input type="search" aria-label="Name" />
      </ToolBar>
    </>,
  );
  fireEvent.keyDown(document.body, { key: "/" });
  expect(document.activeElement).toBe(screen.getByRole("searchbox", { name: "Name" }));
  unmount();
  renderInApp(
    <>
      <Shortcuts />
      <ToolBar label="Filters">
        <a href="#all">All</a>
      </ToolBar>
    </>,
  );
  fireEvent.keyDown(document.body, { key: "/" });
  expect(document.activeElement).toBe(screen.getByRole("link", { name: "All" }));
});

it("ignores / and ? in text fields or with a modifier key", () => {
  renderInApp(
    <>
      <Shortcuts />
      <ToolBar label="Filters">
        <a href="#all">All</a>
      </ToolBar>
      <textarea aria-label="Text" />
    </>,
  );
  const text = screen.getByRole("textbox", { name: "Text" });
  text.focus();
  expect(fireEvent.keyDown(text, { key: "/" })).toBe(true);
  expect(fireEvent.keyDown(text, { key: "?" })).toBe(true);
  expect(fireEvent.keyDown(document.body, { key: "/", ctrlKey: true })).toBe(true);
  expect(document.activeElement).toBe(text);
  expect(screen.queryByRole("dialog", { hidden: true })).toBeNull();
});

it("ignores keys when an input method is open", () => {
  const { container } = renderInApp(
    <>
      <Shortcuts />
      <ToolBar label="Filters">
        <a href="#all">All</a>
      </ToolBar>
    </>,
  );
  fireEvent.keyDown(container, { key: "/", isComposing: true });
  fireEvent.keyDown(container, { key: "/", keyCode: 229 });
  expect(document.activeElement).toBe(document.body);
});

it("opens a page when g and its letter are pressed in sequence", () => {
  const openedPaths: string[] = [];
  const onRowKey = vi.fn();
  function Page() {
    usePageKey((event) => void onRowKey(event.key));
    return <input aria-label="Name" />;
  }
  renderInApp(
    <PageProvider router={{ push: (href) => void openedPaths.push(href) }}>
      <Page />
      <Shortcuts />
    </PageProvider>,
  );
  for (const letter of ["j", "q", "h", "a", "f", "r", "s", "z"]) {
    fireEvent.keyDown(document.body, { key: "g" });
    fireEvent.keyDown(document.body, { key: letter });
  }
  expect(openedPaths).toEqual(["/jobs", "/queue", "/history", "/assets", "/files", "/run", "/settings"]);
  fireEvent.keyDown(document.body, { key: "j" });
  fireEvent.keyDown(screen.getByRole("textbox", { name: "Name" }), { key: "g" });
  fireEvent.keyDown(screen.getByRole("textbox", { name: "Name" }), { key: "j" });
  expect(openedPaths).toHaveLength(7);
  expect(onRowKey.mock.calls.map(([key]) => key).filter((key) => key !== "g")).toEqual(["z", "j", "j"]);
});
