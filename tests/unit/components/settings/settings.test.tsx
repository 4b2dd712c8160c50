import { act, cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { Suspense } from "react";
import { describe, expect, it, vi } from "vitest";
import { findInvalidField } from "@/components/frame/failure/failure-message";
import { ConnectionForm, readConnectionForm } from "@/components/settings/connections/connection-form";
import { ConnectionsScreen } from "@/components/settings/connections/connections-screen";
import { Outcome } from "@/components/settings/outcome";
import { checkOutcomes } from "@/lib/contract/connections";
import { AtPage } from "@/tests/support/at-page";
import { renderInApp } from "../render";

const stillRouter = {
  back: vi.fn(),
  forward: vi.fn(),
  refresh: vi.fn(),
  push: vi.fn(),
  replace: vi.fn(),
  prefetch: vi.fn(),
  bfcacheId: "",
};

describe("the response to a connection's check", () => {
  it("has its own message and remedy for each outcome", () => {
    renderInApp(checkOutcomes.map((outcome) => <Outcome key={outcome} check={{ outcome, message: "", dialect: "interface" }} />));
    const statuses = screen.getAllByRole("status").map((element) => element.textContent);
    expect(statuses).toHaveLength(checkOutcomes.length);
    expect(new Set(statuses).size).toBe(checkOutcomes.length);
  });

  it("doesn't mention a key for a local server", () => {
    renderInApp(<Outcome check={{ outcome: "active", message: "", dialect: "local" }} />);
    expect(screen.getByRole("status").textContent).toMatch(/local server.*No key needed/);
  });

  it("shows the service's requested wait instead of a moment", () => {
    const next = (retryAfterMs?: number) => {
      renderInApp(<Outcome check={{ outcome: "failing", message: "", dialect: "interface", retryAfterMs }} />);
      const statusText = screen.getByRole("status").textContent;
      cleanup();
      return statusText;
    };
    expect(next()).toContain("Try again in a moment.");
    expect(next(29_200)).toContain("The service requested a wait of 30 s.");
    expect(next(29_200)).not.toContain("in a moment");
  });

  it("repeats the other side's message only where something is wrong", () => {
    renderInApp(
      <>
        <Outcome check={{ outcome: "active", message: "fine", dialect: "interface" }} />
        <Outcome check={{ outcome: "refused", message: "key revoked", dialect: "interface" }} />
      </>,
    );
    expect(screen.queryByText("fine")).toBeNull();
    expect(screen.getByText("key revoked")).toBeDefined();
  });
});

describe("the connection's form", () => {
  it("keeps the stored key when empty and clears an empty account URL", () => {
    const data = new FormData();
    for (const [name, value] of Object.entries({ name: " Studio ", baseUrl: "https://a.example", accountUrl: "", key: "" }))
      data.set(name, value);
    expect(readConnectionForm(data)).toEqual({ name: "Studio", baseUrl: "https://a.example", accountUrl: "" });
  });

  it("explains what is stored instead of an address ending in /api", () => {
    renderInApp(
      <AtPage router={stillRouter}>
        <ConnectionForm canShare onSaved={vi.fn()} onClose={vi.fn()} />
      </AtPage>,
    );
    const field = screen.getByLabelText("Base URL");
    const enterValue = (value: string) => {
      fireEvent.change(field, { target: { value } });
      return document.getElementById(field.getAttribute("aria-describedby") ?? "")?.textContent;
    };
    for (const typed of ["https://a.example/api", " https://a.example/api// "])
      expect(enterValue(typed)).toMatch(/Saved as https:\/\/a\.example$/);
    expect(enterValue("https://a.example/api/api")).toMatch(/Saved as https:\/\/a\.example\/api$/);
    for (const typed of ["https://a.example/", "https://a.example/apis", "https://api.example"])
      expect(enterValue(typed)).toMatch(/without \/api$/);
  });

  it("completes an address without a scheme and explains how", () => {
    const parse = (baseUrl: string) => {
      const data = new FormData();
      data.set("baseUrl", baseUrl);
      return readConnectionForm(data).baseUrl;
    };
    for (const here of ["localhost:3438", "127.0.0.1:8188/studio", "[::1]:8188", "my.localhost"])
      expect(parse(here)).toBe(`http://${here}`);
    for (const away of ["gpu.example", "localhost.example:8188", "192.168.1.5:8188"]) expect(parse(away)).toBe(`https://${away}`);
    for (const whole of ["http://gpu.example", "HTTPS://gpu.example", "ftp://gpu.example"]) expect(parse(whole)).toBe(whole);
    renderInApp(
      <AtPage router={stillRouter}>
        <ConnectionForm canShare onSaved={vi.fn()} onClose={vi.fn()} />
      </AtPage>,
    );
    const field = screen.getByLabelText<HTMLInputElement>("Base URL");
    fireEvent.change(field, { target: { value: "localhost:3438/api" } });
    expect(document.getElementById(field.getAttribute("aria-describedby") ?? "")?.textContent).toMatch(/Saved as http:\/\/localhost:3438$/);
    fireEvent.change(field, { target: { value: "gpu.example" } });
    expect(document.getElementById(field.getAttribute("aria-describedby") ?? "")?.textContent).toMatch(/saved as https:\/\/gpu\.example$/);
    // The browser's own validation would accept only complete URLs.
    expect(field.validity.valid).toBe(true);
  });

  it("takes focus on opening and returns it on closing", async () => {
    await act(async () => {
      renderInApp(
        <AtPage router={stillRouter}>
          <Suspense>
            <ConnectionsScreen viewer={{ memberId: "m", name: "Ana" }} connections={Promise.resolve([])} canChangeShared canAdd />
          </Suspense>
        </AtPage>,
      );
    });
    fireEvent.click(screen.getByRole("button", { name: "Add a connection" }));
    expect(document.activeElement).toBe(screen.getByLabelText("Name"));
    fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
    expect(document.activeElement).toBe(screen.getByRole("button", { name: "Add a connection" }));
  });

  it("shows a refusal with its reason at the named field", () => {
    const failure = { code: "INVALID_BODY", status: 400, message: "baseUrl: must be an address that begins with http:// or https://" };
    const names = ["name", "baseUrl"] as const;
    expect(findInvalidField(failure, names)).toBe("baseUrl");
    expect(findInvalidField(failure, ["name"])).toBeUndefined();
    expect(findInvalidField({ ...failure, message: "nonsense: is no field" }, names)).toBeUndefined();
    expect(findInvalidField({ ...failure, status: 502 }, names)).toBeUndefined();
  });
});

describe("saving a refused connection", () => {
  it("keeps typed values, reports an unsaved state and saves on demand", async () => {
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
      <AtPage router={router}>
        <ConnectionForm canShare onSaved={onSaved} onClose={onClose} />
      </AtPage>,
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
