import { fireEvent, screen, waitFor } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import { checkGraph } from "@/components/run/form/checks";
import { createRunStore } from "@/components/run/run-store";
import { BUILT_IN_MODULE } from "@/lib/contract/nodes/input-spec";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import * as messages from "@/lib/messages/en";
import {
  createAcceptingApi,
  getDescription,
  getField,
  openText,
  pressRun,
  reloadPage,
  showRunPage,
  showSample,
  stubNodeList,
} from "./run-page";
import { readCatalogueFixture, readSampleGraph } from "./workflow-fixtures";

/** Marks every class as built in, as the embedded service does. */
const getBuiltInCatalogue = () =>
  Object.fromEntries(Object.entries(readCatalogueFixture()).map(([name, info]) => [name, { ...info, python_module: BUILT_IN_MODULE }]));

const listErrors = (graph: Graph, info: ObjectInfo = getBuiltInCatalogue()) =>
  Object.entries(checkGraph(graph, info)?.errors ?? {}).flatMap(([id, { errors }]) =>
    errors.map(({ type, extra_info: { input_name, edge } }) => [id, input_name, edge, type].filter(Boolean).join(" ")),
  );

describe("validation by the catalogue", () => {
  const createGraph = (inputs: Graph[string]["inputs"]): Graph => ({
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
    ["the last number of a range, with twenty digits", { seed: 18446744073709551615n, size: 8 }, []],
    ["a number above the range", { seed: 18446744073709551616n }, ["1 seed value_bigger_than_max"]],
    ["numbers below the range", { seed: -1, size: 0.5 }, ["1 seed value_smaller_than_min", "1 size value_smaller_than_min"]],
    ["letters", { seed: "tall", size: "" }, ["1 seed invalid_input_type", "1 size invalid_input_type"]],
    ["numbers as text", { seed: "1_000", size: "inf" }, []],
    ["a fraction for an integer", { seed: 12.5, size: 2.5 }, ["1 seed value_not_whole"]],
    ["a fraction as text for an integer", { seed: "12.5", size: "2.5" }, ["1 seed invalid_input_type"]],
    ["a link", { seed: ["2", 0], size: ["2", 0] }, []],
    ["a missing required input", { size: 2 }, ["1 seed required_input_missing"]],
  ] satisfies [string, Graph[string]["inputs"], string[]][])("checks %s", (_, inputs, messages) => {
    expect(listErrors(createGraph(inputs), info)).toEqual(messages);
  });

  const cropInfo = { Crop: { input: { required: { crop: ["BOUNDING_BOX", {}], fill: ["COLOR", {}] } }, output_node: true } };
  const box = { x: 0, y: 0, width: 64, height: 64 };
  it.each([
    ["a valid box and colour", { crop: box, fill: "#10203F" }, []],
    ["a box with a fractional origin", { crop: { ...box, x: 12.5 } }, ["1 crop x value_not_whole"]],
    [
      "letters and empty text for box edges",
      { crop: { ...box, y: "top", height: "" } },
      ["1 crop y invalid_input_type", "1 crop height invalid_input_type"],
    ],
    ["a box without a height", { crop: { x: 1, y: 1, width: 2 } }, ["1 crop height invalid_input_type"]],
    ["letters for a colour", { fill: "bluish" }, ["1 fill invalid_input_type"]],
  ] satisfies [string, Graph[string]["inputs"], string[]][])("checks %s", (_, inputs, messages) => {
    const cropGraph: Graph = { "1": { class_type: "Crop", inputs: { crop: box, fill: "#fff", ...inputs } } };
    expect(listErrors(cropGraph, cropInfo)).toEqual(messages);
  });

  it("reports nothing for a node that no output needs, or without a catalogue", () => {
    expect(listErrors({ ...createGraph({ seed: 1 }), "3": { class_type: "Noise", inputs: { seed: -1 } } }, info)).toEqual([]);
    expect(checkGraph(createGraph({ seed: -1 }), undefined)).toBeUndefined();
  });

  it("reports the same nodes of an invalid workflow as the service", () => {
    expect(new Set(listErrors(readSampleGraph("07-bad-graph")).map((report) => report[0]))).toEqual(new Set(["1", "2", "4"]));
  });
});

describe("an invalid value", () => {
  beforeEach(() => stubNodeList(() => Response.json(getBuiltInCatalogue())));

  async function showInvertWithCatalogue() {
    const { submissions, api } = createAcceptingApi();
    await showSample(api);
    await screen.findAllByText("1 to 4096");
    return submissions;
  }
  const typeWidth = (value: string) => fireEvent.change(getField("width"), { target: { value } });
  const isWidthInvalid = () => getField("width").getAttribute("aria-invalid") === "true";

  it("is reported at its field and by Run, until it is run anyway", async () => {
    const submissions = await showInvertWithCatalogue();
    expect(isWidthInvalid()).toBe(false);
    typeWidth("99999");
    expect(isWidthInvalid()).toBe(true);
    expect(getDescription(getField("width"))).toBe("99999 is too large. The maximum is 16384.");
    pressRun();
    expect((await screen.findByRole("alert")).textContent).toContain("One node needs a fix");
    expect(document.activeElement).toBe(getField("width"));
    expect(submissions).toEqual([]);
    typeWidth("16384");
    expect(isWidthInvalid()).toBe(false);
    expect(screen.queryByRole("alert")).toBeNull();
    typeWidth("99999");
    pressRun();
    fireEvent.click(await screen.findByRole("button", { name: messages.run.answer.anyway }));
    expect(await screen.findByRole("link", { name: "Open job job-1" })).toBeTruthy();
  });

  it("is only a warning when the class is not built in", async () => {
    stubNodeList(() => Response.json(readCatalogueFixture()));
    await showInvertWithCatalogue();
    typeWidth("99999");
    expect(isWidthInvalid()).toBe(false);
    expect(getDescription(getField("width"))).toBe("99999 is too large. The maximum is 16384. You can still run it.");
    pressRun();
    expect(await screen.findByRole("link", { name: "Open job job-1" })).toBeTruthy();
  });

  it("can't be run when it is a fraction for an integer", async () => {
    await showInvertWithCatalogue();
    typeWidth("12.5");
    expect(isWidthInvalid()).toBe(true);
    expect(getDescription(getField("width"))).toBe("width must be a whole number, not 12.5.");
    pressRun();
    expect((await screen.findByRole("alert")).textContent).toContain("One node needs a fix");
    expect(screen.queryByRole("button", { name: messages.run.answer.anyway })).toBeNull();
    typeWidth("13");
    expect(screen.queryByRole("alert")).toBeNull();
    pressRun();
    expect(await screen.findByRole("link", { name: "Open job job-1" })).toBeTruthy();
  });
});

const seed = "18446744073709551615";
const noiseWorkflowText = `{"1": {"class_type": "Noise", "inputs": {"seed": ${seed}, "text": "a fox"}}}`;

it("shows, edits and submits a twenty-digit seed exactly", async () => {
  const { submissions, api } = createAcceptingApi();
  showRunPage(api);
  await openText(noiseWorkflowText);
  expect(getField("seed").value).toBe(seed);
  fireEvent.change(getField("text"), { target: { value: "a blue fox" } });
  pressRun();
  await waitFor(() => expect(submissions).toHaveLength(1));
  expect(submissions[0]?.prompt["1"]?.inputs).toEqual({ seed: 18446744073709551615n, text: "a blue fox" });
  fireEvent.change(getField("seed"), { target: { value: "9007199254740993" } });
  await screen.findByRole("link", { name: "Open job job-1" });
  pressRun();
  await waitFor(() => expect(submissions).toHaveLength(2));
  expect(submissions[1]?.prompt["1"]?.inputs.seed).toBe(9007199254740993n);
});

/** Returns the displayed value of each form control by the control's id. */
function readDisplayedValues(): Record<string, string> {
  const controls = [...document.querySelectorAll("[id^='field-']")].flatMap((element): [string, string][] => {
    if (element instanceof HTMLSelectElement) return [[element.id, element.selectedOptions[0]?.text ?? ""]];
    if (element instanceof HTMLTextAreaElement) return [[element.id, element.value]];
    if (element instanceof HTMLInputElement && element.type === "checkbox") return [[element.id, String(element.checked)]];
    return element instanceof HTMLInputElement ? [[element.id, element.title || element.value]] : [];
  });
  expect(new Set(controls.map(([id]) => id)).size).toBe(controls.length);
  return Object.fromEntries(controls);
}
const listSubmittedValues = (prompt: Graph) =>
  Object.entries(prompt).flatMap(([node, { inputs }]) =>
    Object.entries(inputs).flatMap(([name, value]) => (Array.isArray(value) ? [] : [[`field-${node}-${name}`, String(value)]])),
  );

const runAnywayLabels = [messages.run.answer.anyway, messages.run.faults.anyway];
it.each(["03-composite-with-mask", "08-production-sdxl"])(
  "submits the displayed values of sample %s, also after a reload",
  async (name) => {
    stubNodeList(() => Response.json(getBuiltInCatalogue()));
    const { submissions, api } = createAcceptingApi();
    await showSample(api, name);
    for (const runCount of [1, 2]) {
      await waitFor(() => expect(document.querySelectorAll("select[id^='field-'], [aria-describedby]").length).toBeGreaterThan(0));
      const values = readDisplayedValues();
      expect(Object.keys(values).length).toBeGreaterThan(1);
      pressRun();
      await waitFor(() => {
        const [runAnywayButton] = runAnywayLabels.flatMap((name) => screen.queryAllByRole("button", { name }));
        if (runAnywayButton && submissions.length < runCount) fireEvent.click(runAnywayButton);
        expect(submissions).toHaveLength(runCount);
      });
      expect(Object.entries(values)).toEqual(expect.arrayContaining(listSubmittedValues(submissions.at(-1)?.prompt ?? {})));
      expect(listSubmittedValues(submissions.at(-1)?.prompt ?? {})).toHaveLength(Object.keys(values).length);
      reloadPage(api);
      await screen.findAllByRole("button", { name: "Run" });
    }
  },
);

it("replaces typed text when the value changes externally", async () => {
  const store = createRunStore();
  showRunPage(createAcceptingApi().api, { store });
  await openText(noiseWorkflowText);
  fireEvent.change(getField("text"), { target: { value: "typed" } });
  const serial = store.get().openWorkflow?.serial ?? 0;
  store.edit(serial, { nodeId: "1", name: "text", value: "from elsewhere" });
  await waitFor(() => expect(getField("text").value).toBe("from elsewhere"));
});
