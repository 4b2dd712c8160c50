// Two nodes of our own, to try out slow and failing work. They pass their input on, and are never cached.

import { type NodeDefinition, NodeFailure } from "../definition";
import { field, optional, output } from "./fields";

const TICK_MS = 100;

export const wait: NodeDefinition = {
  name: "Wait",
  displayName: "Wait",
  description: "Lets time pass, then hands on what it was given.",
  category: "practice",
  inputs: [field("FLOAT", "seconds", { default: 1, min: 0, max: 3600, step: 0.1 }), optional(field("*", "anything", {}))],
  outputs: [output("*", "anything")],
  cacheable: false,
  async run(inputs, context) {
    const total = inputs.number("seconds") * 1000;
    const start = performance.now();
    for (let past = 0; past < total; past = performance.now() - start) {
      context.tick(past / total);
      await context.wait(Math.min(TICK_MS, total - past));
    }
    return { values: [inputs.anything("anything")] };
  },
};

export const fail: NodeDefinition = {
  name: "Fail",
  displayName: "Fail",
  description: "Ends the job with an error that carries the message.",
  category: "practice",
  inputs: [field("STRING", "message", { default: "This node always fails." }), optional(field("*", "anything", {}))],
  outputs: [output("*", "anything")],
  cacheable: false,
  run(inputs) {
    throw new NodeFailure("RuntimeError", inputs.text("message"));
  },
};
