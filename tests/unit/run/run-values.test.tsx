import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { checkGraph } from "@/components/run/form/checks";
import { RunScreen } from "@/components/run/run-screen";
import { createRunStore } from "@/components/run/run-store";
import { type Submission } from "@/components/run/submit/submission";
import { BUILT_IN_MODULE } from "@/lib/contract/nodes/input-spec";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import * as messages from "@/lib/messages/en";
import { ok } from "@/lib/shared/result";
import { catalogue, sampleGraph, sampleText } from "./files";
import { createApi, field, openText, pressRun, show } from "./page";
import { renderPage } from "./render";

/** The same classes as those of the embedded service. */
const getBuiltInCatalogue = () =>
  Object.fromEntries(Object.entries(catalogue()).map(([name, info]) => [name, { ...info, python_module: BUILT_IN_MODULE }]));

const listReports = (graph: Graph, info: ObjectInfo = getBuiltInCatalogue()) =>
  Object.entries(checkGraph(graph, info)?.errors ?? {}).flatMap(([id, { errors }]) =>
    errors.map(({ type, extra_info: { input_name, edge } }) => [id, input_name, edge, type].filter(Boolean).join(" ")),
  );

describe("the catalogue's rules", () => {
  const graph = (inputs: Graph[string]["inputs"]): Graph => ({
    "1": { class_type: "Noise", inputs },
    "2": { class_type: "Save", inputs: { images: ["1", 0] } },
  });
  const info = {
    Noise: {
      python_module: BUILT_IN_MODULE,
      input: { required: { seed: ["INT", { min: 0, max: 18446744073709551615n }] }, optional: { size: ["FLOAT", { min: 1, max: 8 }] } },
    },
    Save: { input: { required: { images: ["IMAGE", {}], many: ["COMFY_AUTOGROW_V3", {}] } }, output_node: true },
  };
  it.each([
    ["the first number of a range", { seed: 0, size: 1 }, []],
    ["the last one, of twenty digits", { seed: 18446744073709551615n, size: 8 }, []],
    ["one more than that", { seed: 18446744073709551616n }, ["1 seed value_bigger_than_max"]],
    ["less than the least", { seed: -1, size: 0.5 }, ["1 seed value_smaller_than_min", "1 size value_smaller_than_min"]],
    ["letters", { seed: "tall", size: "" }, ["1 seed invalid_input_type", "1 size invalid_input_type"]],
    ["a number as a text", { seed: "1_000", size: "inf" }, []],
    ["a fraction where whole numbers are wanted", { seed: 12.5, size: 2.5 }, ["1 seed value_not_whole"]],
    ["a fraction as a text there", { seed: "12.5", size: "2.5" }, ["1 seed invalid_input_type"]],
    ["a link", { seed: ["2", 0], size: ["2", 0] }, []],
    ["nothing where something is required", { size: 2 }, ["1 seed required_input_missing"]],
  ] satisfies [string, Graph[string]["inputs"], string[]][])("%s", (_, inputs, messages) => {
    expect(listReports(graph(inputs), info)).toEqual(messages);
  });

  const aimed = {
    Crop: { input: { required: { crop: ["BOUNDING_BOX", {}], fill: ["COLOR", {}] } }, output_node: true },
  };
  const box = { x: 0, y: 0, width: 64, height: 64 };
  it.each([
    ["a box in whole pixels, and a colour", { crop: box, fill: "#10203F" }, []],
    ["a box that begins within a pixel", { crop: { ...box, x: 12.5 } }, ["1 crop x value_not_whole"]],
    [
      "letters for an edge, and an edge that was emptied",
      { crop: { ...box, y: "top", height: "" } },
      ["1 crop y invalid_input_type", "1 crop height invalid_input_type"],
    ],
    ["a box without its edges", { crop: { x: 1, y: 1, width: 2 } }, ["1 crop height invalid_input_type"]],
    ["letters for a colour", { fill: "bluish" }, ["1 fill invalid_input_type"]],
  ] satisfies [string, Graph[string]["inputs"], string[]][])("%s", (_, inputs, messages) => {
    const aim: Graph = { "1": { class_type: "Crop", inputs: { crop: box, fill: "#fff", ...inputs } } };
    expect(listReports(aim, aimed)).toEqual(messages);
  });

  it("is empty for a node that no output needs and without a catalogue", () => {
    expect(listReports({ ...graph({ seed: 1 }), "3": { class_type: "Noise", inputs: { seed: -1 } } }, info)).toEqual([]);
    expect(checkGraph(graph({ seed: -1 }), undefined)).toBeUndefined();
  });

  it("names every node of a bad workflow that the service would name", () => {
    expect(new Set(listReports(sampleGraph("07-bad-graph")).map((line) => line[0]))).toEqual(new Set(["1", "2", "4"]));
  });
});

describe("an invalid value", () => {
  beforeEach(() => {
    vi.stubGlobal("fetch", async (path: unknown) =>
      String(path).includes("object_info") ? Response.json(getBuiltInCatalogue()) : Response.json({ code: "NOT_FOUND" }, { status: 404 }),
    );
  });

  it.each([
    ["99999", "99999 is too large. The maximum is 16384."],
    ["wide", "wide is not a valid value for width."],
  ])("is reported at its field as soon as it is %s, and by Run", async (typed, sentence) => {
    let sentCount = 0;
    show(createApi(undefined, { sendPrompt: async () => ok({ prompt_id: `job-${++sentCount}`, node_errors: {} }) }));
    await openText(sampleText("01-invert"));
    await screen.findAllByText("1 to 4096");
    expect(field("width").getAttribute("aria-invalid")).toBeNull();
    fireEvent.change(field("width"), { target: { value: typed } });
    expect(field("width").getAttribute("aria-invalid")).toBe("true");
    expect(document.getElementById(field("width").getAttribute("aria-describedby") ?? "")?.textContent).toBe(sentence);
    pressRun();
    expect((await screen.findByRole("alert")).textContent).toContain("One node needs a fix");
    expect(document.activeElement).toBe(field("width"));
    expect(sentCount).toBe(0);
    fireEvent.change(field("width"), { target: { value: "16384" } });
    expect(field("width").getAttribute("aria-invalid")).toBeNull();
    expect(screen.queryByRole("alert")).toBeNull();
    fireEvent.change(field("width"), { target: { value: typed } });
    pressRun();
    fireEvent.click(await screen.findByRole("button", { name: messages.run.answer.anyway }));
    expect(await screen.findByRole("link", { name: "Open job job-1" })).toBeTruthy();
  });

  it("is a warning if the class is not built in, and Run sends it immediately", async () => {
    vi.stubGlobal("fetch", async (path: unknown) =>
      String(path).includes("object_info") ? Response.json(catalogue()) : Response.json({ code: "NOT_FOUND" }, { status: 404 }),
    );
    show(createApi(undefined, { sendPrompt: async () => ok({ prompt_id: "job-1", node_errors: {} }) }));
    await openText(sampleText("01-invert"));
    await screen.findAllByText("1 to 4096");
    fireEvent.change(field("width"), { target: { value: "99999" } });
    expect(field("width").getAttribute("aria-invalid")).toBeNull();
    expect(document.getElementById(field("width").getAttribute("aria-describedby") ?? "")?.textContent).toBe(
      "99999 is too large. The maximum is 16384. You can still run it.",
    );
    pressRun();
    expect(await screen.findByRole("link", { name: "Open job job-1" })).toBeTruthy();
  });

  it("is never a fraction in an integer input", async () => {
    let sentCount = 0;
    show(createApi(undefined, { sendPrompt: async () => ok({ prompt_id: `job-${++sentCount}`, node_errors: {} }) }));
    await openText(sampleText("01-invert"));
    await screen.findAllByText("1 to 4096");
    fireEvent.change(field("width"), { target: { value: "12.5" } });
    expect(field("width").getAttribute("aria-invalid")).toBe("true");
    expect(document.getElementById(field("width").getAttribute("aria-describedby") ?? "")?.textContent).toBe(
      "width takes whole numbers only, and 12.5 is not one.",
    );
    pressRun();
    expect((await screen.findByRole("alert")).textContent).toContain("One node needs a fix");
    expect(screen.queryByRole("button", { name: messages.run.answer.anyway })).toBeNull();
    fireEvent.change(field("width"), { target: { value: "13" } });
    expect(screen.queryByRole("alert")).toBeNull();
    pressRun();
    expect(await screen.findByRole("link", { name: "Open job job-1" })).toBeTruthy();
  });
});

const seed = "18446744073709551615";
const graph = `{"1": {"class_type": "Noise", "inputs": {"seed": ${seed}, "text": "a fox"}}}`;

function desk() {
  const submissions: Submission[] = [];
  const ports = createApi(undefined, {
    sendPrompt: async (submission) => {
      submissions.push(submission);
      return ok({ prompt_id: `job-${submissions.length}`, node_errors: {} });
    },
  });
  return { sent: submissions, ports };
}

it("shows, sends and types a twenty-digit seed exactly", async () => {
  const { sent, ports } = desk();
  show(ports);
  await openText(graph);
  expect(field("seed").value).toBe(seed);
  fireEvent.change(field("text"), { target: { value: "a blue fox" } });
  pressRun();
  await waitFor(() => expect(sent).toHaveLength(1));
  expect(sent[0]?.prompt["1"]?.inputs).toEqual({ seed: 18446744073709551615n, text: "a blue fox" });
  fireEvent.change(field("seed"), { target: { value: "9007199254740993" } });
  await screen.findByRole("link", { name: "Open job job-1" });
  pressRun();
  await waitFor(() => expect(sent).toHaveLength(2));
  expect(sent[1]?.prompt["1"]?.inputs.seed).toBe(9007199254740993n);
});

/** The value that each control of the form shows, by the control's id. */
function shownValues(): Record<string, string> {
  const controls = [...document.querySelectorAll("[id^='field-']")].flatMap((element): [string, string][] => {
    if (element instanceof HTMLSelectElement) return [[element.id, element.selectedOptions[0]?.text ?? ""]];
    if (element instanceof HTMLTextAreaElement) return [[element.id, element.value]];
    if (element instanceof HTMLInputElement && element.type === "checkbox") return [[element.id, String(element.checked)]];
    return element instanceof HTMLInputElement ? [[element.id, element.title || element.value]] : [];
  });
  expect(new Set(controls.map(([id]) => id)).size).toBe(controls.length);
  return Object.fromEntries(controls);
}
const sentValues = (prompt: Graph) =>
  Object.entries(prompt).flatMap(([node, { inputs }]) =>
    Object.entries(inputs).flatMap(([name, value]) => (Array.isArray(value) ? [] : [[`field-${node}-${name}`, String(value)]])),
  );

const anywayNames = [messages.run.answer.anyway, messages.run.faults.anyway];
it.each(["01-invert", "03-composite-with-mask", "08-production-sdxl", "10-light-leaks"])(
  "sends the values shown for the sample %s, also after a reload",
  async (name) => {
    vi.stubGlobal("fetch", async (path: unknown) =>
      String(path).includes("object_info") ? Response.json(getBuiltInCatalogue()) : Response.json({ code: "NOT_FOUND" }, { status: 404 }),
    );
    const { sent, ports } = desk();
    show(ports);
    await openText(sampleText(name));
    for (const press of [1, 2]) {
      await waitFor(() => expect(document.querySelectorAll("select[id^='field-'], [aria-describedby]").length).toBeGreaterThan(0));
      const values = shownValues();
      expect(Object.keys(values).length).toBeGreaterThan(1);
      pressRun();
      await waitFor(() => {
        const [anyway] = anywayNames.flatMap((name) => screen.queryAllByRole("button", { name }));
        if (anyway && sent.length < press) fireEvent.click(anyway);
        expect(sent).toHaveLength(press);
      });
      expect(Object.entries(values)).toEqual(expect.arrayContaining(sentValues(sent.at(-1)?.prompt ?? {})));
      expect(sentValues(sent.at(-1)?.prompt ?? {})).toHaveLength(Object.keys(values).length);
      window.dispatchEvent(new Event("pagehide"));
      cleanup();
      show(ports);
      await screen.findAllByRole("button", { name: "Run" });
    }
  },
);

it("inserts outside text into a typed text", async () => {
  const { ports } = desk();
  const store = createRunStore();
  renderPage(<RunScreen canRun memberId="ada" store={store} api={ports} />);
  await openText(graph);
  fireEvent.change(field("text"), { target: { value: "typed" } });
  const serial = store.get().openWorkflow?.serial ?? 0;
  store.edit(serial, { nodeId: "1", name: "text", value: "from elsewhere" });
  await waitFor(() => expect(field("text").value).toBe("from elsewhere"));
});
