import { createTranslator } from "next-intl";
import { describe, expect, it } from "vitest";
import { stateText } from "@/components/transfers/uploads/upload-state";
import * as messages from "@/lib/messages/en";
import { failed, ok } from "@/lib/shared/result";
import { until } from "@/tests/support/until";
import { hashed, line, stored } from "./upload-line";

const of = { locale: "en", messages } as const;
const words = {
  ...of,
  t: createTranslator({ ...of, namespace: "uploads" }),
  errors: createTranslator({ ...of, namespace: "errors" }),
};
const refused = (parts: string[], status = 503) => failed({ parts, failure: { code: "UPSTREAM_UNAVAILABLE", message: "", status } });

async function storedFile() {
  const desk = line();
  desk.add("a");
  await desk.answer("hash", hashed("a"));
  await desk.answer("fromHash", stored({ name: "a" }));
  await until("it is stored", () => desk.item().status.kind === "done");
  const call = (about: object) => desk.store.describe(new Set([desk.item().key]), (one) => ({ ...one.about, ...about }));
  return { ...desk, call };
}

describe("what could not be written to a stored asset", () => {
  it("is named, and only that is written when it is tried again", async () => {
    const { answer, call, item, store, waiting } = await storedFile();
    call({ name: "A cat", tags: ["input", "cats"], metadata: { shot: 1 } });
    await answer("change", refused(["name", "metadata"]));
    await until("it was refused", () => typeof item().changing === "object");
    expect(stateText(item(), words)).toMatch(/^not saved: name, metadata \(/);
    store.again(item().key);
    const { what } = await answer("change", ok(undefined));
    const changes = { addedTags: [], removedTags: [], fields: { name: "A cat", user_metadata: { shot: 1 } } };
    expect(what).toBe(`asset-1 ${JSON.stringify(changes)}`);
    await until("it is written", () => item().changing === undefined);
    store.again(item().key);
    expect(waiting("change")).toEqual([]);
  });

  it("is announced to lists once it was written, since they show names and previews", async () => {
    const { answer, call, item, announced } = await storedFile();
    call({ name: "A cat" });
    await answer("change", refused(["name"]));
    await until("it was refused", () => typeof item().changing === "object");
    expect(announced).toEqual(["asset-1"]);
    call({ tags: ["input", "more"] });
    await answer("change", ok(undefined));
    await until("it is written", () => item().changing === undefined);
    expect(announced).toEqual(["asset-1", "asset-1"]);
  });

  it("goes along with what is described next, also where that is the same once more", async () => {
    const { answer, call, item } = await storedFile();
    call({ name: "A cat" });
    await answer("change", refused(["name"]));
    await until("it was refused", () => typeof item().changing === "object");
    call({ name: "A cat" });
    expect((await answer("change", refused(["name"]))).what).toContain('"name":"A cat"');
    await until("it was refused again", () => typeof item().changing === "object");
    call({ tags: ["input", "more"] });
    expect((await answer("change", ok(undefined))).what).toContain('"addedTags":["more"],"removedTags":[],"fields":{"name":"A cat"}');
  });
});
