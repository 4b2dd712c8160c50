import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formBuilder, withInput } from "@/components/run/form/form-model";
import { missingClassErrors, placeProblems } from "@/components/run/form/problems";
import { createRunStore } from "@/components/run/run-store";
import { openWorkflow } from "@/components/run/workflow/open-workflow";
import { own } from "@/lib/contract/json/own";
import { type NodeErrors } from "@/lib/contract/schemas/execution";

const inherited = ["__proto__", ...Object.getOwnPropertyNames(Object.prototype).filter((name) => name !== "__proto__")];
const word = fc.constantFrom(...inherited, "1", "image");

function open(id: string, classType: string, input: string) {
  const nodes = [
    [id, { class_type: classType, inputs: Object.fromEntries([[input, "text"]]) }],
    ["last", { class_type: "SaveImage", inputs: { images: [id, 0] } }],
  ];
  const opened = openWorkflow(JSON.stringify(Object.fromEntries(nodes)), "file.json");
  if (!opened.ok) throw new Error(`refused: ${opened.failure.reason.code}`);
  return opened.value;
}

const errorsOn = (id: string, classType: string, input: string): NodeErrors =>
  Object.fromEntries([
    [
      id,
      {
        class_type: classType,
        dependent_outputs: [],
        errors: [{ type: "value_not_in_list", message: "", details: "", extra_info: { input_name: input } }],
      },
    ],
  ]);

describe("a node, a class or an input called as what every object inherits", () => {
  it("opens, is edited, and carries its errors like any other", () => {
    fc.assert(
      fc.property(word, word, word, fc.boolean(), (id, classType, input, hasCatalogue) => {
        const file = open(id, classType, input);
        const form = formBuilder(file.graph, file.order, hasCatalogue ? {} : undefined)(file.graph);
        expect(form.map((node) => node.id)).toEqual([id, "last"]);
        expect(form[0]?.title).toBe(classType);
        expect(form[0]?.known).toBe(!hasCatalogue);
        expect(form[0]?.fields.map(({ name, value }) => [name, value])).toEqual([[input, "text"]]);
        expect(form[1]?.fields[0]?.control).toMatchObject({ kind: "link", fromId: id, fromTitle: classType });

        expect(placeProblems(form, {})).toEqual({ byNode: {}, strays: [], nodeCount: 0 });
        const placed = placeProblems(form, errorsOn(id, classType, input));
        expect(placed).toMatchObject({ strays: [], first: { nodeId: id, field: input }, nodeCount: 1 });
        expect(own(own(placed.byNode, id)?.fields, input)).toHaveLength(1);

        const store = createRunStore();
        store.open(file);
        store.edit(1, { nodeId: id, name: input, value: 7 });
        const typed = store.get();
        expect(own(own(typed.opened?.graph, id)?.inputs, input)).toBe(7);
        expect(Object.keys(typed.opened?.graph ?? {})).toEqual(Object.keys(file.graph));
      }),
    );
  });

  it("that no graph holds is not found in it", () => {
    const { graph } = open("1", "X", "text");
    for (const name of inherited) {
      expect(withInput(graph, name, "text", 1)).toBe(graph);
      expect(
        missingClassErrors(graph, { code: "missing_node_type", message: "", details: { node_id: name }, status: 400 }),
      ).toBeUndefined();
    }
  });

  it("that the service requires and the file lacks is a field to fill in", () => {
    for (const name of inherited) {
      const { graph, order } = open("1", "X", "other");
      const info = { X: { input: { required: Object.fromEntries([[name, ["STRING", {}]]]) } } };
      const field = formBuilder(graph, order, info)(graph)[0]?.fields.find((each) => each.name === name);
      expect(field).toEqual({ name, value: undefined, control: { kind: "text" } });
    }
  });
});
