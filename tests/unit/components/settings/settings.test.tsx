import { act, cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { Suspense } from "react";
import { describe, expect, it, vi } from "vitest";
import { findInvalidField } from "@/components/frame/failure/failure-message";
import { ConnectionCheckNotice } from "@/components/settings/check-notices";
import { ConnectionForm, parseConnectionForm } from "@/components/settings/connections/connection-form";
import { ConnectionsScreen } from "@/components/settings/connections/connections-screen";
import { checkOutcomes } from "@/lib/contract/connections";
import { PageProvider } from "@/tests/support/page-provider";
import { renderInApp } from "../render";

const mockRouter = {
  back: vi.fn(),
  forward: vi.fn(),
  refresh: vi.fn(),
  push: vi.fn(),
  replace: vi.fn(),
  prefetch: vi.fn(),
  bfcacheId: "",
};

describe("connection check", () => {
  it("shows a different message for each outcome", () => {
    renderInApp(
      checkOutcomes.map((outcome) => <ConnectionCheckNotice key={outcome} check={{ outcome, message: "", dialect: "interface" }} />),
    );
    const statuses = screen.getAllByRole("status").map((element) => element.textContent);
    expect(statuses).toHaveLength(checkOutcomes.length);
    expect(new Set(statuses).size).toBe(checkOutcomes.length);
  });

  it("doesn't mention a key for a local server", () => {
    renderInApp(<ConnectionCheckNotice check={{ outcome: "active", message: "", dialect: "local" }} />);
    expect(screen.getByRole("status").textContent).toMatch(/local server.*No key needed/);
  });

  it("shows the wait that the service requested", () => {
    const getStatusText = (retryAfterMs?: number) => {
      renderInApp(<ConnectionCheckNotice check={{ outcome: "failing", message: "", dialect: "interface", retryAfterMs }} />);
      const statusText = screen.getByRole("status").textContent;
      cleanup();
      return statusText;
    };
    expect(getStatusText()).toContain("Try again in a moment.");
    expect(getStatusText(29_200)).toContain("Try again in 30 s.");
    expect(getStatusText(29_200)).not.toContain("in a moment");
  });

  it("shows the service's message only when the check fails", () => {
    renderInApp(
      <>
        <ConnectionCheckNotice check={{ outcome: "active", message: "fine", dialect: "interface" }} />
        <ConnectionCheckNotice check={{ outcome: "refused", message: "key revoked", dialect: "interface" }} />
      </>,
    );
    expect(screen.queryByText("fine")).toBeNull();
    expect(screen.getByText("key revoked")).toBeDefined();
  });
});

describe("connection form", () => {
  it("keeps the stored key when empty and clears an empty account URL", () => {
    const data = new FormData();
    for (const [name, value] of Object.entries({ name: " Studio ", baseUrl: "https://a.example", accountUrl: "", key: "" }))
      data.set(name, value);
    expect(parseConnectionForm(data)).toEqual({ name: "Studio", baseUrl: "https://a.example", accountUrl: "" });
  });

  it("shows the stored URL when the entered one ends in /api", () => {
    renderInApp(
      <PageProvider router={mockRouter}>
        <ConnectionForm canShare onSaved={vi.fn()} onClose={vi.fn()} />
      </PageProvider>,
    );
    const field = screen.getByLabelText("Base URL");
    const enterValue = (value: string) => {
      fireEvent.change(field, { target: { value } });
      return document.getElementById(field.getAttribute("aria-describedby") ?? "")?.textContent;
    };
    for (const url of ["https://a.example/api", " https://a.example/api// "])
      expect(enterValue(url)).toMatch(/Saved as https:\/\/a\.example$/);
    expect(enterValue("https://a.example/api/api")).toMatch(/Saved as https:\/\/a\.example\/api$/);
    for (const url of ["https://a.example/", "https://a.example/apis", "https://api.example"])
      expect(enterValue(url)).toMatch(/without \/api$/);
  });

  it("adds a scheme to the URL and shows the result", () => {
    const parse = (baseUrl: string) => {
      const data = new FormData();
      data.set("baseUrl", baseUrl);
      return parseConnectionForm(data).baseUrl;
    };
    for (const localAddress of ["localhost:3438", "127.0.0.1:8188/studio", "[::1]:8188", "my.localhost"])
      expect(parse(localAddress)).toBe(`http://${localAddress}`);
    for (const remoteAddress of ["gpu.example", "localhost.example:8188", "192.168.1.5:8188"])
      expect(parse(remoteAddress)).toBe(`https://${remoteAddress}`);
    for (const completeUrl of ["http://gpu.example", "HTTPS://gpu.example", "ftp://gpu.example"])
      expect(parse(completeUrl)).toBe(completeUrl);
    renderInApp(
      <PageProvider router={mockRouter}>
        <ConnectionForm canShare onSaved={vi.fn()} onClose={vi.fn()} />
      </PageProvider>,
    );
    const field = screen.getByLabelText<HTMLInputElement>("Base URL");
    fireEvent.change(field, { target: { value: "localhost:3438/api" } });
    expect(document.getElementById(field.getAttribute("aria-describedby") ?? "")?.textContent).toMatch(/Saved as http:\/\/localhost:3438$/);
    fireEvent.change(field, { target: { value: "gpu.example" } });
    expect(document.getElementById(field.getAttribute("aria-describedby") ?? "")?.textContent).toMatch(/saved as https:\/\/gpu\.example$/);
    // The browser's own validation would accept only complete URLs.
    expect(field.validity.valid).toBe(true);
  });

  it("takes the focus when opened and returns it when closed", async () => {
    await act(async () => {
      renderInApp(
        <PageProvider router={mockRouter}>
          <Suspense>
            <ConnectionsScreen viewer={{ memberId: "m", name: "Ana" }} connections={Promise.resolve([])} canChangeShared canAdd />
          </Suspense>
        </PageProvider>,
      );
    });
    fireEvent.click(screen.getByRole("button", { name: "Add a connection" }));
    expect(document.activeElement).toBe(screen.getByLabelText("Name"));
    fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
    expect(document.activeElement).toBe(screen.getByRole("button", { name: "Add a connection" }));
  });

  it("finds the invalid field of a refusal", () => {
    const failure = { code: "INVALID_BODY", status: 400, message: "baseUrl: must be an address that begins with http:// or https://" };
    const names = ["name", "baseUrl"] as const;
    expect(findInvalidField(failure, names)).toBe("baseUrl");
    expect(findInvalidField(failure, ["name"])).toBeUndefined();
    expect(findInvalidField({ ...failure, message: "nonsense: is no field" }, names)).toBeUndefined();
    expect(findInvalidField({ ...failure, status: 502 }, names)).toBeUndefined();
  });
});

describe("connection with a refused key", () => {
  it("reports that nothing was saved and saves on a second press", async () => {
    const bodies: unknown[] = [];
    vi.stubGlobal("fetch", (_path: string, init: RequestInit) => {
      const body: unknown = JSON.parse(String(init.body));
      bodies.push(body);
      const check = { outcome: "refused", message: "no" };
      return Promise.resolve(Response.json(bodies.length === 1 ? { check } : { check, connection: { id: "c" } }));
    });
    const router = { back: vi.fn(), forward: vi.fn(), refresh: vi.fn(), push: vi.fn(), replace: vi.fn(), prefetch: vi.fn(), bfcacheId: "" };
    const onSaved = vi.fn();
    const onClose = vi.fn();
    renderInApp(
      <PageProvider router={router}>
        <ConnectionForm canShare onSaved={onSaved} onClose={onClose} />
      </PageProvider>,
    );
    fireEvent.change(screen.getByLabelText("Name"), { target: { value: "Studio" } });
    fireEvent.change(screen.getByLabelText("Base URL"), { target: { value: "https://a.example" } });
    fireEvent.change(screen.getByLabelText("Key"), { target: { value: "k" } });
    fireEvent.click(screen.getByRole("button", { name: "Save and check" }));
    expect(await screen.findByText("The service refused the key")).toBeDefined();
    expect(screen.getByText(/^Nothing was saved/)).toBeDefined();
    expect([onSaved.mock.calls.length, onClose.mock.calls.length]).toEqual([0, 0]);
    fireEvent.click(screen.getByRole("button", { name: "Save anyway" }));
    await waitFor(() => expect(onClose).toHaveBeenCalledOnce());
    expect(bodies[1]).toMatchObject({ name: "Studio", key: "k", keep: true });
    expect(onSaved).toHaveBeenCalledOnce();
  });
});
