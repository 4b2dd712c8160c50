import { describe, expect, it } from "vitest";
import { until } from "@/tests/support/until";
import { hashed, hashOf, line, refused, stored, unknownHash } from "./upload-line";

const sameAs = hashed("a");

describe("two files of the same content", () => {
  it("are sent once: the second waits, makes room meanwhile, and is found by its hash", async () => {
    const { add, answer, item, kinds, waiting } = line();
    add("a", "b", "c", "d");
    await answer("hash", sameAs);
    await until("a is asked for", () => waiting("fromHash").length === 1);
    await answer("hash", sameAs);
    await until("b has made room", () => kinds().join() === "a asking,b waiting,c hashing,d hashing");
    expect(item(1).status).toEqual({ kind: "waiting", isBehind: true });
    await answer("fromHash", unknownHash);
    const sent = await answer("send", stored({ asset_hash: hashOf("a") }));
    expect(sent.what).toMatch(/^a /);
    const offered = await answer("fromHash", stored({ asset_hash: hashOf("a"), created_new: false }));
    expect(offered.what).toBe(`b ${hashOf("a")}`);
    await until("b is done", () => item(1).status.kind === "done");
    expect(item(1).status).toMatchObject({ sentBytes: 0, check: { kind: "verified" } });
    expect(waiting("send")).toEqual([]);
  });

  it("do not hang on one another: where the first is refused, paused or taken away the second goes by itself", async () => {
    const { add, answer, item, store, waiting } = line();
    add("a", "b", "c");
    for (const _ of [1, 2, 3]) await answer("hash", sameAs);
    await answer("fromHash", unknownHash);
    await answer("send", refused(507, "STORAGE_FULL"));
    await until("b is asked for", () => waiting("fromHash")[0]?.what.startsWith("b "));
    expect(item(0).status.kind).toBe("failed");
    expect(item(2).status.kind).toBe("waiting");
    store.pause(item(1).key);
    const third = await answer("fromHash", unknownHash).then(() => answer("fromHash", unknownHash));
    expect(third.what).toMatch(/^c /);
    await until("c is sent", () => item(2).status.kind === "sending");
    store.again(item(1).key);
    expect(item(1).status.kind).toBe("waiting");
    store.remove(item(2).key);
    await until("b goes on", () => waiting("fromHash")[0]?.what.startsWith("b "));
  });

  it("at two connections have nothing to do with each other", async () => {
    const { store, answer, item, waiting } = line();
    const file = () => ({ file: new File(["x"], "x"), about: { name: "", tags: ["input"], metadata: {} } });
    store.add([file()], "one");
    store.add([file()], "two");
    await answer("hash", sameAs);
    await answer("hash", sameAs);
    await until("both are asked for", () => waiting("fromHash").length === 2);
    expect([item(0).status.kind, item(1).status.kind]).toEqual(["asking", "asking"]);
  });
});
