import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import { type RunApi } from "@/components/run/run-actions";
import { failed, ok } from "@/lib/shared/result";
import {
  createApi,
  createPromptService,
  dropFile,
  getDescription,
  getField,
  getRunButton,
  openText,
  pressRun,
  type PromptService,
  runJob,
  showRunPage,
  showSample,
} from "./run-page";
import { readRecordedRefusals, readSampleText } from "./workflow-fixtures";

let service: PromptService;
beforeEach(() => void (service = createPromptService()));

describe("running", () => {
  it("submits the form once per click and links to the job", async () => {
    await showSample(createApi(service));
    fireEvent.change(getField("width"), { target: { value: "640" } });
    const button = getRunButton();
    fireEvent.click(button);
    fireEvent.click(button);
    fireEvent.keyDown(window, { key: "Enter", ctrlKey: true });
    await service.accept("9f2c41ab-0000");
    const link = await screen.findByRole("link", { name: "Open job 9f2c41ab" });
    expect(link.getAttribute("href")).toBe("/jobs/9f2c41ab-0000");
    expect(service.submissions).toHaveLength(1);
    expect(service.submissions[0]?.prompt["1"]?.inputs.width).toBe(640);
    expect(service.submissions[0]?.extra_data.extra_pnginfo.workflow).toMatchObject({ name: "Pasted workflow" });
    await runJob(service, "second");
    expect(service.submissions).toHaveLength(2);
  });

  it("ignores Ctrl+Enter while an input method or a dialog is open", async () => {
    await showSample(createApi(service));
    const pressEnter = (options: object) => fireEvent.keyDown(getField("width"), { key: "Enter", ctrlKey: true, ...options });
    for (const composing of [{ isComposing: true }, { keyCode: 229 }]) pressEnter(composing);
    fireEvent.click(screen.getAllByRole("button", { name: "Copies" })[0] ?? document.body);
    const dialog = await screen.findByRole("dialog");
    pressEnter({});
    expect(screen.queryAllByRole("button", { name: "Submitting" })).toEqual([]);
    fireEvent.click(within(dialog).getByRole("button", { name: "Cancel" }));
    pressEnter({});
    expect(screen.queryAllByRole("button", { name: "Submitting" })).not.toEqual([]);
  });

  it("shows the job only with its own workflow", async () => {
    await showSample(createApi(service));
    await runJob(service, "mine");
    const queryJobLink = () => screen.queryByRole("link", { name: "Open job mine" });
    await dropFile("broken.json", "{");
    await screen.findByRole("alert");
    expect(queryJobLink()).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: "Dismiss" }));
    expect(queryJobLink()).toBeTruthy();
    await openText(readSampleText("07-bad-graph"));
    await waitFor(() => expect(queryJobLink()).toBeNull());
    expect(within(screen.getByRole("region", { name: "Started from this page" })).getByRole("link", { name: "mine" })).toBeTruthy();
    await openText(readSampleText("01-invert"));
    await waitFor(() => expect(queryJobLink()).toBeTruthy());
  });

  it("keeps an outage visible until it is dismissed or the form changes or reruns", async () => {
    let isUnavailable = true;
    const sendPrompt: RunApi["sendPrompt"] = async () =>
      isUnavailable
        ? failed({ code: "UPSTREAM_UNREACHABLE", message: "", status: 502, details: { sent: false } })
        : ok({ prompt_id: "mine" });
    await showSample(createApi(undefined, { sendPrompt }));
    pressRun();
    await screen.findByRole("alert");
    fireEvent.click(screen.getByRole("button", { name: "Dismiss" }));
    expect(screen.queryByRole("alert")).toBeNull();
    pressRun();
    await screen.findByRole("alert");
    fireEvent.change(getField("width"), { target: { value: "640" } });
    expect(screen.queryByRole("alert")).toBeNull();
    pressRun();
    await screen.findByRole("alert");
    isUnavailable = false;
    fireEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByRole("link", { name: "Open job mine" })).toBeTruthy();
    expect(screen.queryByRole("alert")).toBeNull();
  });

  it("shows the service's errors on fields, focuses the first and keeps input", async () => {
    await showSample(createApi(service), "07-bad-graph");
    pressRun();
    const response = readRecordedRefusals()["bad-graph"]?.answer.error;
    await service.refuse(400, { code: "prompt_outputs_failed_validation", message: "", ...response });
    expect(await screen.findByText("3 nodes need a fix")).toBeTruthy();
    const [width] = screen.getAllByRole("textbox", { name: "width" });
    await waitFor(() => expect(document.activeElement).toBe(width));
    expect(width?.getAttribute("aria-invalid")).toBe("true");
    expect(getDescription(width)).toBe("-5 is too small. The minimum is 1.");
    expect(screen.getByText("tall is not a valid value for height.")).toBeTruthy();
    expect(getField("height").value).toBe("tall");
    fireEvent.change(getField("width"), { target: { value: "8" } });
    expect(getField("width").getAttribute("aria-invalid")).toBeNull();
  });

  it("reports a missing class and highlights its nodes", async () => {
    await showSample(createApi(service), "08-production-sdxl");
    pressRun();
    const message = "Node 'CheckpointLoaderSimple' not found.";
    await service.refuse(400, { code: "missing_node_type", message, details: "Node ID '#1'" });
    expect((await screen.findByRole("alert")).textContent).toContain("This service has no node class CheckpointLoaderSimple");
    expect(document.getElementById("node-1")?.dataset.problem).toBe("true");
    expect(document.getElementById("node-2")?.dataset.problem).toBe("true");
    expect(document.getElementById("node-10")?.dataset.problem).toBeUndefined();
  });

  it("is disabled for viewers, with an explanation", async () => {
    showRunPage(createApi(service), { canRun: false });
    // The explanation is shown before a workflow is opened.
    expect(screen.getByText(/^Viewers can edit/)).toBeTruthy();
    await openText(readSampleText("01-invert"));
    expect(screen.getByRole("button", { name: "Download the workflow" })).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Save" })).toBeNull();
    const button = getRunButton();
    expect(button.getAttribute("aria-disabled")).toBe("true");
    expect(button.hasAttribute("disabled")).toBe(false);
    expect(getDescription(button)).toMatch(/^Viewers can edit and download workflows/);
    fireEvent.click(button);
    fireEvent.keyDown(window, { key: "Enter", ctrlKey: true });
    expect(screen.queryByRole("button", { name: "Submitting" })).toBeNull();
    expect(getRunButton().getAttribute("aria-busy")).toBeNull();
    expect(service.submissions).toEqual([]);
  });

  it("offers viewers no upload, drawing or drop", async () => {
    const paths: string[] = [];
    const sendPicture: RunApi["sendPicture"] = async ({ name }) => {
      paths.push(name);
      return ok({ name });
    };
    const api = createApi(undefined, { sendPicture, decode: async () => undefined });
    const editActions = ["Replace", "From assets", "Draw a mask"];
    const findEditActions = () => editActions.filter((name) => screen.queryByRole("button", { name }));
    const page = await showSample(api, "02-poster-from-photo", { canRun: false });
    expect(findEditActions()).toEqual([]);
    expect(screen.queryByText("Drop an image here")).toBeNull();
    expect(getField("Image name").value).toBe("photo.png");
    await dropFile("mine.png", "x", "image/png", screen.getByRole("img", { name: "Image of Photo" }));
    expect((await screen.findByRole("alert")).textContent).toMatch(/mine.png was not opened/);
    expect(paths).toEqual([]);
    page.unmount();
    showRunPage(api);
    await screen.findAllByRole("button", { name: "Run" });
    expect(findEditActions()).toEqual(editActions);
  });

  it("explains a missing permission and keeps the form", async () => {
    await showSample(createApi(service));
    pressRun();
    await service.refuse(403, { code: "ROLE_TOO_LOW", message: "" });
    expect((await screen.findByRole("alert")).textContent).toContain("Your role does not allow this");
    expect(screen.getByText(/Nothing was started/)).toBeTruthy();
    expect(getField("width").value).toBe("512");
  });
});
