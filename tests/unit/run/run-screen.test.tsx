// @vitest-environment jsdom
import { File } from "node:buffer";
import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { renderToString } from "react-dom/server";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ConnectionProvider } from "@/components/frame/connection-context";
import { CountsProvider, useCounts } from "@/components/frame/counts-context";
import { type RunPorts } from "@/components/run/run-ports";
import { RunScreen } from "@/components/run/run-screen";
import { createRunStore } from "@/components/run/run-store";
import { failed, ok } from "@/lib/shared/result";
import { until } from "@/tests/support/until";
import { refusals, sampleText } from "./files";
import { startPromptServer } from "./prompt-server";
import { inPage, renderPage } from "./render";

let service: Awaited<ReturnType<typeof startPromptServer>>;
beforeEach(async () => {
  service = await startPromptServer();
});
afterEach(async () => {
  cleanup();
  sessionStorage.clear();
  vi.unstubAllGlobals();
  await service.stop();
});

const noPicture = async () => failed({ code: "INTERNAL", message: "", status: 500 });

function show(ports: Partial<RunPorts> = {}, canRun = true) {
  const all: RunPorts = {
    sendPrompt: service.send,
    sendPicture: noPicture,
    loadSample: async (name) => ok(sampleText(name)),
    ...ports,
  };
  return renderPage(<RunScreen canRun={canRun} memberId="ada" store={createRunStore()} ports={all} />);
}

async function openText(text: string) {
  fireEvent.paste(document.body, { clipboardData: { files: [], getData: () => text } });
  await screen.findAllByRole("button", { name: "Run" });
}

async function drop(name: string, text: string) {
  const file = new File([text], name, { type: "application/json" });
  await act(async () => void fireEvent.drop(window, { dataTransfer: { types: ["Files"], files: [file] } }));
}

const field = (name: string) => screen.getByRole<HTMLInputElement>("textbox", { name });
// Twice in the page: in the header, and under the thumb on narrow screens.
const runButton = () => screen.getAllByRole("button", { name: "Run" })[0] ?? document.body;
const pressRun = () => fireEvent.click(runButton());

describe("opening a workflow", () => {
  it("from a sample, by a press", async () => {
    show();
    fireEvent.click(screen.getByRole("button", { name: /Poster from a photo/ }));
    expect(await screen.findByText("02-poster-from-photo")).toBeTruthy();
    expect(field("Name of the picture").value).toBe("photo.png");
  });

  it.each([
    ["broken.json", '{ "1": ', /was not opened/, /not JSON: line 1, column 8/],
    ["list.json", "[1]", /was not opened/, /a list/],
    ["ui.json", '{"nodes": [{}], "links": []}', /was not opened/, /Export \(API\)/],
    [
      "loop.json",
      JSON.stringify(refusals().cycle?.prompt),
      /was not opened/,
      /circle.*#\d ImageInvert → #\d ImageInvert → #\d ImageInvert/,
    ],
    ["dangling.json", JSON.stringify(refusals()["dangling-link"]?.prompt), /was not opened/, /Input image of #1 ImageInvert .* node #9/],
  ])("of %s is refused with the reason, and what was open and typed stays", async (name, text, title, reason) => {
    show();
    await openText(sampleText("01-invert"));
    fireEvent.change(field("width"), { target: { value: "640" } });
    await drop(name, text);
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toMatch(title);
    expect(alert.textContent).toMatch(reason);
    expect(alert.textContent).toContain("What was open is still here.");
    expect(field("width").value).toBe("640");
  });

  it("takes one file at a time, and says that none of several was opened", async () => {
    show();
    await openText(sampleText("01-invert"));
    const files = ["a.json", "b.json"].map((name) => new File([sampleText("05-slow")], name, { type: "application/json" }));
    await act(async () => void fireEvent.drop(window, { dataTransfer: { types: ["Files"], files } }));
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("2 files were dropped at once, and none was opened");
    expect(alert.textContent).toContain("One workflow opens at a time");
    expect(alert.textContent).not.toContain("pasted");
    expect(field("width").value).toBe("512");
  });

  it("leaves a paste into a field to the field", async () => {
    show();
    await openText(sampleText("01-invert"));
    fireEvent.paste(field("width"), { clipboardData: { files: [], getData: () => sampleText("05-slow") } });
    expect(field("width").value).toBe("512");
    expect(screen.queryByText("Slow step")).toBeNull();
  });
});

describe("a reload", () => {
  /** What the browser tells a page that is left, and a page that begins anew: a store of its own, the same tab. */
  function reload(): boolean {
    const leave = new Event("beforeunload", { cancelable: true });
    window.dispatchEvent(leave);
    window.dispatchEvent(new Event("pagehide"));
    cleanup();
    show();
    return leave.defaultPrevented;
  }

  it("brings back the workflow with everything typed, without a question", async () => {
    show();
    await openText(sampleText("01-invert"));
    fireEvent.change(field("width"), { target: { value: "640" } });
    expect(reload()).toBe(false);
    expect((await screen.findByRole<HTMLInputElement>("textbox", { name: "width" })).value).toBe("640");
    expect(screen.getByText(/changed/)).toBeTruthy();
  });

  it("brings back nothing that was closed", async () => {
    show();
    await openText(sampleText("01-invert"));
    reload();
    fireEvent.click(await screen.findByRole("button", { name: "Close the workflow" }));
    expect(reload()).toBe(false);
    expect(screen.getByText("Drop a workflow file here")).toBeTruthy();
  });

  it("is asked about where the work is too large to keep, until it was run", async () => {
    show();
    await openText(sampleText("01-invert"));
    fireEvent.change(field("filename_prefix"), { target: { value: "x".repeat(1_000_001) } });
    const leave = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
    expect(leave()).toBe(true);
    pressRun();
    await until("an answer is asked for", () => service.answer({ status: 200, body: { prompt_id: "a" } }));
    await screen.findByRole("link", { name: "Open job a" });
    expect(leave()).toBe(false);
  });

  it("is the same page for the server and for the browser that takes it over", async () => {
    show();
    await openText(sampleText("01-invert"));
    window.dispatchEvent(new Event("pagehide"));
    cleanup();
    const container = document.body.appendChild(document.createElement("div"));
    const page = inPage(<RunScreen canRun memberId="ada" store={createRunStore()} />);
    container.innerHTML = renderToString(page);
    expect(container.textContent).toContain("Drop a workflow file here");
    // A mismatch is an error on the console, and that fails the test.
    render(page, { container, hydrate: true });
    expect(await screen.findByRole("button", { name: "Close the workflow" })).toBeTruthy();
  });
});

describe("running", () => {
  it("sends what is seen, once, however often Run is pressed, and shows the way to the job", async () => {
    show();
    await openText(sampleText("01-invert"));
    fireEvent.change(field("width"), { target: { value: "640" } });
    const button = runButton();
    fireEvent.click(button);
    fireEvent.click(button);
    fireEvent.keyDown(window, { key: "Enter", ctrlKey: true });
    await until("an answer is asked for", () =>
      service.answer({ status: 200, body: { prompt_id: "9f2c41ab-0000", number: 1, node_errors: {} } }),
    );
    const link = await screen.findByRole("link", { name: "Open job 9f2c41ab" });
    expect(link.getAttribute("href")).toBe("/jobs/9f2c41ab-0000");
    expect(service.received).toHaveLength(1);
    expect(service.received[0]?.prompt["1"]?.inputs.width).toBe(640);
    expect(service.received[0]?.extra_data.extra_pnginfo.workflow).toMatchObject({ name: "Pasted workflow" });
    pressRun();
    await until("the second run is asked for", () => service.answer({ status: 200, body: { prompt_id: "second", node_errors: {} } }));
    await screen.findByRole("link", { name: "Open job second" });
    expect(service.received).toHaveLength(2);
  });

  it("makes the counts of the navigation follow at once", async () => {
    let pending = 0;
    const answerCounts = (path: string) => {
      const total = path.includes("status=pending") ? pending : 0;
      return Promise.resolve(Response.json({ jobs: [], pagination: { total, limit: 1, offset: 0, has_more: false } }));
    };
    vi.stubGlobal("fetch", (path: unknown) => answerCounts(String(path)));
    const Waiting = () => <output>{`${useCounts().pending} waiting`}</output>;
    const sendPrompt = () => Promise.resolve(ok({ prompt_id: `job-${++pending}` }));
    const ports = { sendPrompt, sendPicture: noPicture, loadSample: async (name: string) => ok(sampleText(name)) };
    renderPage(
      <ConnectionProvider currentId="here" connections={[{ id: "here", name: "Here", embedded: true }]}>
        <CountsProvider>
          <Waiting />
          <RunScreen canRun memberId="ada" store={createRunStore()} ports={ports} />
        </CountsProvider>
      </ConnectionProvider>,
    );
    await screen.findByText("0 waiting");
    await openText(sampleText("01-invert"));
    for (const count of [1, 2]) {
      pressRun();
      // Left to itself the navigation asks again after many seconds.
      await screen.findByText(`${count} waiting`);
    }
  });

  it("puts what the service says on its fields, brings the first one under the keys, and keeps what was typed", async () => {
    show();
    await openText(sampleText("07-bad-graph"));
    pressRun();
    const answer = refusals()["bad-graph"]?.answer.error;
    await until("an answer is asked for", () =>
      service.answer({ status: 400, body: { code: "prompt_outputs_failed_validation", message: "", ...answer } }),
    );
    expect(await screen.findByText("3 nodes need a correction")).toBeTruthy();
    const [width] = screen.getAllByRole("textbox", { name: "width" });
    await waitFor(() => expect(document.activeElement).toBe(width));
    expect(width?.getAttribute("aria-invalid")).toBe("true");
    const described = document.getElementById(width?.getAttribute("aria-describedby") ?? "");
    expect(described?.textContent).toBe("-5 is too small: the smallest value is 1.");
    expect(screen.getByText("tall is not a value that height can take.")).toBeTruthy();
    expect(field("height").value).toBe("tall");
    fireEvent.change(field("width"), { target: { value: "8" } });
    expect(field("width").getAttribute("aria-invalid")).toBeNull();
  });

  it("names the class that the service lacks, and lights its node", async () => {
    show();
    await openText(sampleText("08-production-sdxl"));
    pressRun();
    const message = "Node 'CheckpointLoaderSimple' not found.";
    await until("an answer is asked for", () =>
      service.answer({ status: 400, body: { code: "missing_node_type", message, details: "Node ID '#1'" } }),
    );
    expect((await screen.findByRole("alert")).textContent).toContain("The service has no node class CheckpointLoaderSimple");
    expect(document.getElementById("node-1")?.dataset.problem).toBe("true");
    expect(document.getElementById("node-2")?.dataset.problem).toBe("true");
    expect(document.getElementById("node-10")?.dataset.problem).toBeUndefined();
  });

  it("that breaks off in the middle is told as unknown, and is not sent again by itself", async () => {
    show();
    await openText(sampleText("01-invert"));
    pressRun();
    await until("an answer is asked for", () => service.answer("cut"));
    expect((await screen.findByRole("alert")).textContent).toContain("may or may not have been accepted");
    expect(service.received).toHaveLength(1);
    expect(field("width").value).toBe("512");
  });

  it("is not for a viewer: the button stays under the keys, says why, and sends nothing by press or by key", async () => {
    show({}, false);
    await openText(sampleText("01-invert"));
    const button = runButton();
    expect(button.getAttribute("aria-disabled")).toBe("true");
    expect(button.hasAttribute("disabled")).toBe(false);
    const why = document.getElementById(button.getAttribute("aria-describedby") ?? "");
    expect(why?.textContent).toMatch(/^Your role, viewer, may look but not run/);
    fireEvent.click(button);
    fireEvent.keyDown(window, { key: "Enter", ctrlKey: true });
    expect(screen.queryByRole("button", { name: "Sending" })).toBeNull();
    expect(runButton().getAttribute("aria-busy")).toBeNull();
    expect(service.received).toHaveLength(0);
  });

  it("without the right to it says whose matter that is, and keeps everything", async () => {
    show();
    await openText(sampleText("01-invert"));
    pressRun();
    await until("an answer is asked for", () => service.answer({ status: 403, body: { code: "ROLE_TOO_LOW", message: "" } }));
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("Your role does not permit this");
    expect(screen.getByText(/Nothing was started/)).toBeTruthy();
    expect(field("width").value).toBe("512");
  });
});

describe("the fields", () => {
  it("hand on a number as soon as what is typed is one, and what was typed otherwise", async () => {
    show();
    await openText(sampleText("01-invert"));
    const width = field("width");
    for (const text of ["1", "1.", "1.5", "", "abc"]) {
      fireEvent.change(width, { target: { value: text } });
      expect(width.value).toBe(text);
    }
    pressRun();
    await until("an answer is asked for", () => service.answer({ status: 200, body: { prompt_id: "a" } }));
    await screen.findByRole("link", { name: "Open job a" });
    expect(service.received[0]?.prompt["1"]?.inputs.width).toBe("abc");
  });

  it("show a colour as a colour, and write it as the number of the family", async () => {
    show();
    await openText(sampleText("01-invert"));
    const swatch = screen.getByLabelText<HTMLInputElement>("color as a colour");
    expect(swatch.value).toBe("#3366cc");
    fireEvent.change(swatch, { target: { value: "#ff0000" } });
    expect(field("color").value).toBe("16711680");
  });
});
