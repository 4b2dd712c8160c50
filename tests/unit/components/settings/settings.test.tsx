import { act, cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { findInvalidField } from "@/components/frame/failure/failure-message";
import { ConnectionCheckNotice } from "@/components/settings/check-notices";
import { ConnectionForm, parseConnectionForm } from "@/components/settings/connections/connection-form";
import { ConnectionsScreen } from "@/components/settings/connections/connections-screen";
import { checkOutcomes } from "@/lib/contract/connections";
import { renderInApp } from "../render";
import { press, renderScreen } from "../render-screen";

describe("connection check", () => {
  it("shows a different message for each outcome", () => {
    renderInApp(
      checkOutcomes.map((outcome) => <ConnectionCheckNotice key={outcome} check={{ outcome, message: "", dialect: "interface" }} />),
    );
    const statuses = screen.getAllByRole("status").map((element) => element.textContent);
    expect(statuses).toHaveLength(checkOutcomes.length);
    expect(new Set(statuses).size).toBe(checkOutcomes.length);
  });

  it.each([
    ["no key for a local server", { outcome: "active", message: "", dialect: "local" }, /local server.*No key needed/],
    ["a short wait by default", { outcome: "failing", message: "", dialect: "interface" }, /Try again in a moment\./],
    [
      "only the requested wait",
      { outcome: "failing", message: "", dialect: "interface", retryAfterMs: 29_200 },
      /^(?!.*in a moment).*Try again in 30 s\./,
    ],
    ["the service's message when the check fails", { outcome: "refused", message: "key revoked", dialect: "interface" }, /key revoked/],
    ["no message when the check succeeds", { outcome: "active", message: "fine", dialect: "interface" }, /^(?!.*fine)/],
  ] as const)("shows %s", (_, check, text) => {
    expect(renderInApp(<ConnectionCheckNotice check={check} />).container.textContent).toMatch(text);
  });
});

describe("connection form", () => {
  async function show() {
    const [onSaved, onClose] = [vi.fn(), vi.fn()];
    await renderScreen(<ConnectionForm canShare onSaved={onSaved} onClose={onClose} />);
    const urlField = screen.getByLabelText<HTMLInputElement>("Base URL");
    const enterUrl = (value: string) => {
      fireEvent.change(urlField, { target: { value } });
      return document.getElementById(urlField.getAttribute("aria-describedby") ?? "")?.textContent;
    };
    return { onSaved, onClose, urlField, enterUrl };
  }
  function parse(fields: Record<string, string>) {
    const data = new FormData();
    for (const [name, value] of Object.entries(fields)) data.set(name, value);
    return parseConnectionForm(data);
  }

  it("keeps the stored key when empty and clears an empty account URL", () => {
    const fields = { name: " Studio ", baseUrl: "https://a.example", accountUrl: "", key: "" };
    expect(parse(fields)).toEqual({ name: "Studio", baseUrl: "https://a.example", accountUrl: "" });
  });

  it("adds a scheme to the URL", () => {
    for (const localAddress of ["localhost:3438", "127.0.0.1:8188/studio", "[::1]:8188", "my.localhost"])
      expect(parse({ baseUrl: localAddress }).baseUrl).toBe(`http://${localAddress}`);
    for (const remoteAddress of ["gpu.example", "localhost.example:8188", "192.168.1.5:8188"])
      expect(parse({ baseUrl: remoteAddress }).baseUrl).toBe(`https://${remoteAddress}`);
    for (const completeUrl of ["http://gpu.example", "HTTPS://gpu.example", "ftp://gpu.example"])
      expect(parse({ baseUrl: completeUrl }).baseUrl).toBe(completeUrl);
  });

  it("shows the stored URL when the entered one ends in /api or has no scheme", async () => {
    const { urlField, enterUrl } = await show();
    for (const url of ["https://a.example/api", " https://a.example/api// "])
      expect(enterUrl(url)).toMatch(/Saved as https:\/\/a\.example$/);
    expect(enterUrl("https://a.example/api/api")).toMatch(/Saved as https:\/\/a\.example\/api$/);
    for (const url of ["https://a.example/", "https://a.example/apis", "https://api.example"])
      expect(enterUrl(url)).toMatch(/without \/api$/);
    expect(enterUrl("localhost:3438/api")).toMatch(/Saved as http:\/\/localhost:3438$/);
    expect(enterUrl("gpu.example")).toMatch(/saved as https:\/\/gpu\.example$/);
    // The browser's own validation would accept only complete URLs.
    expect(urlField.validity.valid).toBe(true);
  });

  it("takes the focus when opened and returns it when closed", async () => {
    const viewer = { memberId: "m", name: "Ana" };
    await renderScreen(<ConnectionsScreen viewer={viewer} connections={Promise.resolve([])} canChangeShared canAdd />);
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

  it("ignores the response when the form is closed", async () => {
    let respond: () => void = () => undefined;
    const fetchUntilAborted = (_path: string, { signal }: RequestInit) =>
      new Promise<Response>((resolve, reject) => {
        signal?.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
        respond = () => resolve(Response.json({ check: { outcome: "active", message: "" }, connection: { id: "c" } }));
      });
    vi.stubGlobal("fetch", fetchUntilAborted);
    const { onSaved, onClose, enterUrl } = await show();
    fireEvent.change(screen.getByLabelText("Name"), { target: { value: "Studio" } });
    enterUrl("https://a.example");
    await press("Save and check");
    cleanup();
    await act(async () => respond());
    expect([onSaved.mock.calls.length, onClose.mock.calls.length]).toEqual([0, 0]);
  });

  it("saves a connection with a refused key only on a second press", async () => {
    const bodies: unknown[] = [];
    vi.stubGlobal("fetch", async (_path: string, { body }: RequestInit) => {
      bodies.push(JSON.parse(String(body)));
      const check = { outcome: "refused", message: "no" };
      return Response.json(bodies.length === 1 ? { check } : { check, connection: { id: "c" } });
    });
    const { onSaved, onClose, enterUrl } = await show();
    fireEvent.change(screen.getByLabelText("Name"), { target: { value: "Studio" } });
    enterUrl("https://a.example");
    fireEvent.change(screen.getByLabelText("Key"), { target: { value: "k" } });
    await press("Save and check");
    expect(await screen.findByText("The service refused the key")).toBeDefined();
    expect(screen.getByText(/^Nothing was saved/)).toBeDefined();
    expect([onSaved.mock.calls.length, onClose.mock.calls.length]).toEqual([0, 0]);
    await press("Save anyway");
    await waitFor(() => expect(onClose).toHaveBeenCalledOnce());
    expect(bodies[1]).toMatchObject({ name: "Studio", key: "k", keep: true });
    expect(onSaved).toHaveBeenCalledOnce();
  });
});
