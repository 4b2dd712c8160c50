import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import { type RunApi } from "@/components/run/run-actions";
import { failed, ok } from "@/lib/shared/result";
import { until } from "@/tests/support/until";
import { refusals, sampleText } from "./files";
import { createApi, drop, field, openText, pressRun, type PromptServer, runButton, show } from "./page";
import { startPromptServer } from "./prompt-server";

let service: PromptServer;
beforeEach(async () => void (service = await startPromptServer()));

describe("running", () => {
  it("sends the form once per press and links to the job", async () => {
    show(createApi(service));
    await openText(sampleText("01-invert"));
    fireEvent.change(field("width"), { target: { value: "640" } });
    const button = runButton();
    fireEvent.click(button);
    fireEvent.click(button);
    fireEvent.keyDown(window, { key: "Enter", ctrlKey: true });
    await until("an answer is asked for", () =>
      service.respond({ status: 200, body: { prompt_id: "9f2c41ab-0000", number: 1, node_errors: {} } }),
    );
    const link = await screen.findByRole("link", { name: "Open job 9f2c41ab" });
    expect(link.getAttribute("href")).toBe("/jobs/9f2c41ab-0000");
    expect(service.submissions).toHaveLength(1);
    expect(service.submissions[0]?.prompt["1"]?.inputs.width).toBe(640);
    expect(service.submissions[0]?.extra_data.extra_pnginfo.workflow).toMatchObject({ name: "Pasted workflow" });
    pressRun();
    await until("the second run is asked for", () => service.respond({ status: 200, body: { prompt_id: "second", node_errors: {} } }));
    await screen.findByRole("link", { name: "Open job second" });
    expect(service.submissions).toHaveLength(2);
  });

  it.each([{ isComposing: true }, { keyCode: 229 }])(
    "sends nothing on Ctrl Enter while an input method is open (%j)",
    async (composing) => {
      show(createApi(service));
      await openText(sampleText("01-invert"));
      fireEvent.keyDown(field("width"), { key: "Enter", ctrlKey: true, ...composing });
      expect(screen.queryAllByRole("button", { name: "Submitting" })).toEqual([]);
      fireEvent.keyDown(field("width"), { key: "Enter", ctrlKey: true });
      expect(screen.queryAllByRole("button", { name: "Submitting" })).not.toEqual([]);
    },
  );

  it("shows its job only at its own workflow", async () => {
    show(createApi(service));
    await openText(sampleText("01-invert"));
    pressRun();
    await until("an answer is asked for", () => service.respond({ status: 200, body: { prompt_id: "mine", node_errors: {} } }));
    await screen.findByRole("link", { name: "Open job mine" });
    const card = () => screen.queryByRole("link", { name: "Open job mine" });
    await drop("broken.json", "{");
    await screen.findByRole("alert");
    expect(card()).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: "Dismiss" }));
    expect(card()).toBeTruthy();
    await openText(sampleText("07-bad-graph"));
    await waitFor(() => expect(card()).toBeNull());
    expect(within(screen.getByRole("region", { name: "Started from this page" })).getByRole("link", { name: "mine" })).toBeTruthy();
    await openText(sampleText("01-invert"));
    await waitFor(() => expect(card()).toBeTruthy());
  });

  it("keeps an outage visible until dismissed, rerun or changed", async () => {
    let isUnavailable = true;
    const sendPrompt: RunApi["sendPrompt"] = async () =>
      isUnavailable
        ? failed({ code: "UPSTREAM_UNREACHABLE", message: "", status: 502, details: { sent: false } })
        : ok({ prompt_id: "mine" });
    show(createApi(service, { sendPrompt }));
    await openText(sampleText("01-invert"));
    pressRun();
    await screen.findByRole("alert");
    fireEvent.click(screen.getByRole("button", { name: "Dismiss" }));
    expect(screen.queryByRole("alert")).toBeNull();
    pressRun();
    await screen.findByRole("alert");
    fireEvent.change(field("width"), { target: { value: "640" } });
    expect(screen.queryByRole("alert")).toBeNull();
    pressRun();
    await screen.findByRole("alert");
    isUnavailable = false;
    fireEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByRole("link", { name: "Open job mine" })).toBeTruthy();
    expect(screen.queryByRole("alert")).toBeNull();
  });

  it("shows the service's errors on fields, focuses the first and keeps input", async () => {
    show(createApi(service));
    await openText(sampleText("07-bad-graph"));
    pressRun();
    const response = refusals()["bad-graph"]?.answer.error;
    await until("an answer is asked for", () =>
      service.respond({ status: 400, body: { code: "prompt_outputs_failed_validation", message: "", ...response } }),
    );
    expect(await screen.findByText("3 nodes need a fix")).toBeTruthy();
    const [width] = screen.getAllByRole("textbox", { name: "width" });
    await waitFor(() => expect(document.activeElement).toBe(width));
    expect(width?.getAttribute("aria-invalid")).toBe("true");
    const described = document.getElementById(width?.getAttribute("aria-describedby") ?? "");
    expect(described?.textContent).toBe("-5 is too small. The minimum is 1.");
    expect(screen.getByText("tall is not a valid value for height.")).toBeTruthy();
    expect(field("height").value).toBe("tall");
    fireEvent.change(field("width"), { target: { value: "8" } });
    expect(field("width").getAttribute("aria-invalid")).toBeNull();
  });

  it("names the class that the service lacks and highlights its node", async () => {
    show(createApi(service));
    await openText(sampleText("08-production-sdxl"));
    pressRun();
    const message = "Node 'CheckpointLoaderSimple' not found.";
    await until("an answer is asked for", () =>
      service.respond({ status: 400, body: { code: "missing_node_type", message, details: "Node ID '#1'" } }),
    );
    expect((await screen.findByRole("alert")).textContent).toContain("This service has no node class CheckpointLoaderSimple");
    expect(document.getElementById("node-1")?.dataset.problem).toBe("true");
    expect(document.getElementById("node-2")?.dataset.problem).toBe("true");
    expect(document.getElementById("node-10")?.dataset.problem).toBeUndefined();
  });

  it("is shown as unknown after a disconnect and not repeated", async () => {
    show(createApi(service));
    await openText(sampleText("01-invert"));
    pressRun();
    await until("an answer is asked for", () => service.respond("cut"));
    expect((await screen.findByRole("alert")).textContent).toContain("Couldn't confirm that the job was accepted");
    expect(service.submissions).toHaveLength(1);
    expect(field("width").value).toBe("512");
  });

  it("is disabled for viewers with an explanation, by press and key", async () => {
    show(createApi(service), false);
    // At the top, before anything is opened or tried.
    expect(screen.getByText(/^Viewers can edit/)).toBeTruthy();
    await openText(sampleText("01-invert"));
    expect(screen.getByRole("button", { name: "Download the workflow" })).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Save" })).toBeNull();
    const button = runButton();
    expect(button.getAttribute("aria-disabled")).toBe("true");
    expect(button.hasAttribute("disabled")).toBe(false);
    const element = document.getElementById(button.getAttribute("aria-describedby") ?? "");
    expect(element?.textContent).toMatch(/^Viewers can edit and download workflows/);
    fireEvent.click(button);
    fireEvent.keyDown(window, { key: "Enter", ctrlKey: true });
    expect(screen.queryByRole("button", { name: "Submitting" })).toBeNull();
    expect(runButton().getAttribute("aria-busy")).toBeNull();
    expect(service.submissions).toHaveLength(0);
  });

  it("offers viewers no upload, drawing or drop", async () => {
    const paths: string[] = [];
    const sendPicture: RunApi["sendPicture"] = async ({ name }) => {
      paths.push(name);
      return ok({ name });
    };
    const ports = createApi(service, { sendPicture, decode: async () => undefined });
    const offered = ["Replace", "From assets", "Draw a mask"];
    const offeredButtons = () => offered.filter((name) => screen.queryByRole("button", { name }));
    const page = show(ports, false);
    await openText(sampleText("02-poster-from-photo"));
    expect(offeredButtons()).toEqual([]);
    expect(screen.queryByText("Drop a picture here")).toBeNull();
    expect(field("Picture name").value).toBe("photo.png");
    await drop("mine.png", "x", "image/png", screen.getByRole("img", { name: "Picture of Photo" }));
    expect((await screen.findByRole("alert")).textContent).toMatch(/mine.png was not opened/);
    expect(paths).toEqual([]);
    page.unmount();
    show(ports);
    await screen.findAllByRole("button", { name: "Run" });
    expect(offeredButtons()).toEqual(offered);
  });

  it("explains missing rights and keeps everything", async () => {
    show(createApi(service));
    await openText(sampleText("01-invert"));
    pressRun();
    await until("an answer is asked for", () => service.respond({ status: 403, body: { code: "ROLE_TOO_LOW", message: "" } }));
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("Your role does not allow this");
    expect(screen.getByText(/Nothing was started/)).toBeTruthy();
    expect(field("width").value).toBe("512");
  });
});
