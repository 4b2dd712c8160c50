import { fireEvent, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { SaveWorkflow, toFileName, toStoredJobText, toStoredPath, toStoredText } from "@/components/graph/save-workflow";
import { readWorkflow } from "@/lib/contract/workflow/graph";
import { eventually } from "@/tests/support/eventually";
import { renderInApp } from "../components/render";

const graph = { "1": { class_type: "Noise", inputs: { seed: 18446744073709551615n } } };

describe("a stored workflow", () => {
  it("contains the bare graph without extras and keeps every digit", () => {
    const text = toStoredText(graph, undefined);
    expect(text).toContain("18446744073709551615");
    expect(readWorkflow(text)).toMatchObject({ ok: true, value: { graph } });
  });

  it("keeps extras but removes a partner key", () => {
    const extra_data = { api_key_comfy_org: "sk-secret", extra_pnginfo: { workflow: { id: "x", name: "hero" } } };
    const text = toStoredJobText({ prompt: graph, extra_data }) ?? "";
    expect(readWorkflow(text)).toMatchObject({ ok: true, value: { title: "hero" } });
    expect(text).not.toContain("sk-secret");
    expect(toStoredJobText("nothing")).toBeUndefined();
  });

  it.each([
    ["hero", "workflows/hero.json"],
    [" /a b/hero.JSON ", "workflows/a b/hero.json"],
    ["..", undefined],
    ["a/../b", undefined],
    ["a\\b", undefined],
    ["", undefined],
    ["x".repeat(300), undefined],
  ])("stores the name %j at %j", (name, path) => expect(toStoredPath(name)).toBe(path));

  it("suggests a valid filename", () => {
    expect(toStoredPath(toFileName("../hero: 50% <b>"))).toMatch(/^workflows\/[^/]+\.json$/);
    expect(toFileName("日本 100% #1 (a+b)")).toBe("日本 100% #1 (a+b)");
    // The limit counts bytes. 200 bytes are 66 of these characters, and none is cut in half.
    expect(toFileName("本".repeat(200))).toBe("本".repeat(66));
  });
});

describe("saving", () => {
  const requests: { url: string; body: string }[] = [];
  let hasConflict = false;
  beforeEach(() => {
    requests.length = 0;
    hasConflict = false;
    vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
      requests.push({ url, body: String(init.body) });
      const isRefused = hasConflict && url.includes("overwrite=false");
      return isRefused ? Response.json({ code: "CONFLICT", message: "" }, { status: 409 }) : Response.json({ path: "x" });
    });
  });

  it("confirms before replacing a file, and again for another name", async () => {
    hasConflict = true;
    renderInApp(<SaveWorkflow title="hero" getText={() => "{}"} connection="c1" />);
    fireEvent.click(screen.getByRole("button", { name: "Save" }));
    fireEvent.click(screen.getAllByRole("button", { name: "Save" })[1] ?? document.body);
    expect((await screen.findByRole("alert")).textContent).toBe("workflows/hero.json already exists. Replacing it can't be undone.");
    fireEvent.change(screen.getByRole("textbox"), { target: { value: "hero 2" } });
    expect(screen.queryByRole("button", { name: "Replace" })).toBeNull();
    fireEvent.change(screen.getByRole("textbox"), { target: { value: "hero" } });
    fireEvent.click(screen.getByRole("button", { name: "Replace" }));
    await eventually(() => expect(screen.queryByRole("textbox")).toBeNull());
    expect(requests.map(({ url }) => url)).toEqual([
      "/api/userdata/workflows%2Fhero.json?overwrite=false&full_info=true&connection=c1",
      "/api/userdata/workflows%2Fhero.json?overwrite=true&full_info=true&connection=c1",
    ]);
  });
});
