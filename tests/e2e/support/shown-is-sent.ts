// Compares every control of a form with the body of the request that Run sends.
import { readFileSync } from "node:fs";
import { type Page, type Request } from "@playwright/test";
import { expect } from "./test";

export type Graph = Record<string, { class_type: string; inputs: Record<string, unknown> }>;
type ShownControl = { kind: "text" | "choice" | "switch" | "fixed"; value: string };

const messages: Record<"answer" | "faults", { anyway: string }> & { advanced: { targets: string } } = JSON.parse(
  readFileSync("lib/messages/en/run.json", "utf8"),
);
/** Each control of the form, by its id. */
export function readShown(page: Page): Promise<Record<string, ShownControl>> {
  return page.evaluate(() => {
    const readControl = (element: Element): ShownControl | undefined => {
      if (element instanceof HTMLSelectElement) return { kind: "choice", value: element.selectedOptions[0]?.text ?? "" };
      if (element instanceof HTMLTextAreaElement) return { kind: "text", value: element.value };
      // If the shown name of a file differs from the name that is sent, its title has the latter.
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
    if (new Set(ids).size !== ids.length) throw new Error("one input has two fields");
    return Object.fromEntries(controls);
  });
}

/** Clicks Run, withholds the request from the service, and returns each control's shown and sent value. */
async function compare(page: Page): Promise<{ shownValue: Record<string, string>; sent: Record<string, string> }> {
  await page.route("**/api/prompt*", (route) => route.fulfill({ json: { prompt_id: crypto.randomUUID(), number: 1, node_errors: {} } }));
  const pending = page.waitForRequest((request) => request.method() === "POST" && request.url().includes("/api/prompt"));
  const run = page.getByRole("button", { name: "Run", exact: true }).filter({ visible: true });
  const anyway = page.getByRole("button", { name: messages.answer.anyway }).or(page.getByRole("button", { name: messages.faults.anyway }));
  // A file check may still be running; Run then only highlights it, and the response below decides.
  await run.dispatchEvent("click");
  const isRefused = await Promise.race([pending.then(() => false), anyway.waitFor().then(() => true)]);
  if (isRefused) await anyway.click();
  const request = await pending;
  await expectAdvancedIsSent(page, request);
  const controls = await readShown(page);
  const values = readSent(request, controls);
  // Drops the empty place at the end of a list that grows.
  for (const [id, { value }] of Object.entries(controls)) if (value === "" && !values.has(id)) delete controls[id];
  const sentValues = Object.fromEntries(Object.keys(controls).map((id) => [id, values.get(id) ?? "nothing"]));
  expect(Object.keys(controls).sort()).toEqual([...values.keys()].sort());
  // A choice that the service does not offer has a note after its value.
  const valueOf = (id: string, { kind, value }: ShownControl) =>
    kind === "choice" && value.startsWith(`${sentValues[id]} (`) ? sentValues[id] : value;
  return {
    shownValue: Object.fromEntries(Object.entries(controls).map(([id, control]) => [id, valueOf(id, control) ?? ""])),
    sent: sentValues,
  };
}

const isLink = (value: unknown) => Array.isArray(value) && typeof value[0] === "string" && typeof value[1] === "number";

/** Normalizes values: text areas normalize line breaks, and values with several fields are sent as one. */
function readSent(request: Request, controls: Record<string, ShownControl>): Map<string, string> {
  const { prompt }: { prompt: Graph } = request.postDataJSON();
  return new Map(
    Object.entries(prompt).flatMap(([node, { inputs }]) =>
      Object.entries(inputs).flatMap(([name, value]): [string, string][] => {
        const id = `field-${node}-${name}`;
        if (isLink(value)) return [];
        if (typeof value !== "object" || value === null) return [[id, String(value).replaceAll(/\r\n?/g, "\n")]];
        if (controls[id]?.kind === "fixed") return [[id, JSON.stringify(value)]];
        return Object.entries(value).map(([part, each]) => [part === "x" ? id : `${id}-${part}`, String(each)]);
      }),
    ),
  );
}

/** Checks the ticked outputs (if a part of them is ticked) and the written extra_data. */
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
  const ticked = outputs.filter(({ isOn }) => isOn).map(({ id }) => id);
  expect(body.partial_execution_targets ?? outputs.map(({ id }) => id)).toEqual(ticked);
  const extraData = await page.locator("#run-extra-data").inputValue();
  expect(body.extra_data).toMatchObject(JSON.parse(extraData || "{}"));
}

export async function expectShownIsSent(page: Page): Promise<Record<string, string>> {
  const { shownValue: shown, sent } = await compare(page);
  expect(shown).toEqual(sent);
  return sent;
}
