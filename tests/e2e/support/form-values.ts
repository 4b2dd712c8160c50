// Compares every control of a form with the body of the request that Run sends.
import { readFileSync } from "node:fs";
import { type Page, type Request } from "@playwright/test";
import { expect } from "./test";

export type Graph = Record<string, { class_type: string; inputs: Record<string, unknown> }>;
type FormControl = { kind: "text" | "choice" | "switch" | "fixed"; value: string };

const messages: Record<"answer" | "faults", { anyway: string }> & { advanced: { targets: string } } = JSON.parse(
  readFileSync("lib/messages/en/run.json", "utf8"),
);
/** Returns each control of the form by its id. */
export function readControls(page: Page): Promise<Record<string, FormControl>> {
  return page.evaluate(() => {
    const readControl = (element: Element): FormControl | undefined => {
      if (element instanceof HTMLSelectElement) return { kind: "choice", value: element.selectedOptions[0]?.text ?? "" };
      if (element instanceof HTMLTextAreaElement) return { kind: "text", value: element.value };
      // If a file's shown name differs from the sent name, its title is the sent name.
      if (element instanceof HTMLOutputElement) return { kind: "text", value: element.title || element.innerText };
      if (element.tagName === "CODE") return { kind: "fixed", value: element.textContent };
      if (!(element instanceof HTMLInputElement)) return undefined;
      return element.type === "checkbox"
        ? { kind: "switch", value: String(element.checked) }
        : { kind: "text", value: element.title || element.value };
    };
    const controls = [...document.querySelectorAll("[id^='field-']")].flatMap((element) => {
      const control = readControl(element);
      return control ? [[element.id, control] as const] : [];
    });
    const ids = controls.map(([id]) => id);
    if (new Set(ids).size !== ids.length) throw new Error("Two form fields have the same id.");
    return Object.fromEntries(controls);
  });
}

/** Clicks Run, withholds the request from the service, and returns each control's shown and sent value. */
async function runAndCompare(page: Page): Promise<{ shownValues: Record<string, string>; sentValues: Record<string, string> }> {
  await page.route("**/api/prompt*", (route) => route.fulfill({ json: { prompt_id: crypto.randomUUID(), number: 1, node_errors: {} } }));
  const pendingRequest = page.waitForRequest((request) => request.method() === "POST" && request.url().includes("/api/prompt"));
  const runButton = page.getByRole("button", { name: "Run", exact: true }).filter({ visible: true });
  const runAnywayButton = page
    .getByRole("button", { name: messages.answer.anyway })
    .or(page.getByRole("button", { name: messages.faults.anyway }));
  // While a file check is running, Run only highlights it. The race below handles both outcomes.
  await runButton.dispatchEvent("click");
  const isRefused = await Promise.race([pendingRequest.then(() => false), runAnywayButton.waitFor().then(() => true)]);
  if (isRefused) await runAnywayButton.click();
  const request = await pendingRequest;
  await expectAdvancedIsSent(page, request);
  const controls = await readControls(page);
  const values = readSent(request, controls);
  // Omit the empty last item of a growing list.
  for (const [id, { value }] of Object.entries(controls)) if (value === "" && !values.has(id)) delete controls[id];
  const sentValues = Object.fromEntries(Object.keys(controls).map((id) => [id, values.get(id) ?? "nothing"]));
  expect(Object.keys(controls).sort()).toEqual([...values.keys()].sort());
  // A choice that the service doesn't offer has a suffix after its value.
  const getShownValue = (id: string, { kind, value }: FormControl) =>
    kind === "choice" && value.startsWith(`${sentValues[id]} (`) ? sentValues[id] : value;
  return {
    shownValues: Object.fromEntries(Object.entries(controls).map(([id, control]) => [id, getShownValue(id, control) ?? ""])),
    sentValues,
  };
}

const isLink = (value: unknown) => Array.isArray(value) && typeof value[0] === "string" && typeof value[1] === "number";

/** Returns the sent values by control id, with normalized line breaks and one entry per field. */
function readSent(request: Request, controls: Record<string, FormControl>): Map<string, string> {
  const { prompt }: { prompt: Graph } = request.postDataJSON();
  return new Map(
    Object.entries(prompt).flatMap(([node, { inputs }]) =>
      Object.entries(inputs).flatMap(([name, value]): [string, string][] => {
        const id = `field-${node}-${name}`;
        if (isLink(value)) return [];
        if (typeof value !== "object" || value === null) return [[id, String(value).replaceAll(/\r\n?/g, "\n")]];
        if (controls[id]?.kind === "fixed") return [[id, JSON.stringify(value)]];
        return Object.entries(value).map(([part, field]) => [part === "x" ? id : `${id}-${part}`, String(field)]);
      }),
    ),
  );
}

/** Checks that the selected outputs and the entered extra_data are sent. */
async function expectAdvancedIsSent(page: Page, request: Request): Promise<void> {
  const body: { partial_execution_targets?: string[]; extra_data: object } = request.postDataJSON();
  const outputs = await page
    .getByRole("group", { name: messages.advanced.targets, includeHidden: true })
    .getByRole("checkbox", { includeHidden: true })
    .evaluateAll((boxes) =>
      boxes.map((box) => ({
        id: /#(\S+)$/.exec(box.closest("label")?.innerText ?? box.closest("label")?.textContent ?? "")?.[1],
        isOn: box instanceof HTMLInputElement && box.checked,
      })),
    );
  const selectedIds = outputs.filter(({ isOn }) => isOn).map(({ id }) => id);
  expect(body.partial_execution_targets ?? outputs.map(({ id }) => id)).toEqual(selectedIds);
  const extraData = await page.locator("#run-extra-data").inputValue();
  expect(body.extra_data).toMatchObject(JSON.parse(extraData || "{}"));
}

export async function expectFormIsSent(page: Page): Promise<Record<string, string>> {
  const { shownValues: shown, sentValues } = await runAndCompare(page);
  expect(shown).toEqual(sentValues);
  return sentValues;
}
