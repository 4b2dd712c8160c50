import { describe, expect, it } from "vitest";
import { until } from "@/tests/support/until";
import { hashed, line, refused, stored, unknownHash } from "./upload-line";

describe("a queue that is paused", () => {
  it("goes on with one file alone where somebody asks for that one", async () => {
    const { add, kinds, item, store } = line();
    add("a", "b", "c", "d", "e");
    await until("three are hashed", () => kinds().filter((kind) => kind.endsWith("hashing")).length === 3);
    store.pauseAll();
    expect(kinds().every((kind) => kind.endsWith("paused"))).toBe(true);
    store.again(item(3).key);
    await until("it goes", () => kinds()[3] === "d hashing");
    expect(kinds().filter((kind) => kind.endsWith("paused"))).toHaveLength(4);
  });

  it.each([
    ["nobody answers", refused(0, "CONSOLE_UNREACHABLE")],
    ["nobody is signed in any more", refused(401, "UNAUTHORIZED")],
    ["the service cannot be reached", refused(502, "UPSTREAM_UNREACHABLE")],
  ])("pauses what waits where %s, so that not every file fails for the same reason, and goes on with one press", async (_, failure) => {
    const { add, answer, kinds, store } = line();
    add("a", "b", "c", "d", "e");
    await answer("hash", hashed("a"));
    await answer("fromHash", failure);
    await until("the others are paused", () => kinds().join() === "a failed,b hashing,c hashing,d paused,e paused");
    store.retryAll();
    await until("it is tried again", () => kinds()[0] === "a asking");
    await answer("fromHash", stored());
    await until("it is stored", () => kinds()[0] === "a done");
    expect(kinds().slice(3)).toEqual(["d paused", "e paused"]);
    store.resumeAll();
    await until("the next goes", () => kinds()[3] === "d hashing");
  });

  it("pauses nothing that comes after all that was paused was taken away", async () => {
    const { add, item, kinds, store } = line();
    add("a");
    store.pauseAll();
    store.remove(item().key);
    add("b");
    await until("b goes", () => kinds().join() === "b hashing");
  });

  it("is not paused for what may be the fault of one file", async () => {
    const { add, answer, kinds } = line();
    add("a", "b", "c", "d", "e");
    await answer("hash", { kind: "unreadable" });
    await until("d goes", () => kinds()[3] === "d hashing");
    await answer("hash", hashed("b"));
    await answer("fromHash", unknownHash);
    // A proxy that accepts no large file closes the connection.
    await answer("send", refused(0, "CONSOLE_UNREACHABLE"));
    await answer("byId", refused(404, "NOT_FOUND"));
    await until("e goes", () => kinds()[4] === "e hashing");
  });
});
