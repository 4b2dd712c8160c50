import { once } from "node:events";
import { PassThrough, Readable } from "node:stream";
import { expect, test } from "vitest";
import { toWebStream } from "@/lib/shared/web-stream";

test("a reader that goes away ends a source that says nothing", async () => {
  const source = new PassThrough();
  const reader = toWebStream(source).getReader();
  const pending = reader.read();
  await reader.cancel();
  expect(source.destroyed).toBe(true);
  expect(await pending).toEqual({ done: true, value: undefined });
});

test.each(["data", "end", "close"])("a reader that goes away at the last %s of a source harms nobody", async (event) => {
  const source = new Readable({
    read() {
      source.push("x");
      source.push(null);
    },
  });
  const closed = once(source, "close");
  const readers: ReadableStreamDefaultReader[] = [];
  source.prependListener(event, () => readers.forEach((one) => void one.cancel()));
  const reader = toWebStream(source).getReader();
  readers.push(reader);
  for (let step = await reader.read(); !step.done;) step = await reader.read();
  await closed;
  await new Promise(setImmediate);
});

test("a source that ends with an error where it is left harms nobody", async () => {
  const source = new Readable({ read: () => undefined, destroy: (_, done) => done(new Error("left")) });
  const closed = new Promise((resolve) => source.once("close", resolve));
  await toWebStream(source).cancel();
  await closed;
  expect(source.destroyed).toBe(true);
});

test("an error arrives as that error", async () => {
  const source = new PassThrough();
  const reading = toWebStream(source).getReader().read();
  const broken = new Error("the disk broke");
  source.destroy(broken);
  await expect(reading).rejects.toBe(broken);
});

test("what nobody asks for is not read", async () => {
  let made = 0;
  const source = new Readable({ highWaterMark: 1, read: () => void source.push(made++ < 100 ? Buffer.alloc(1024) : null) });
  const reader = toWebStream(source).getReader();
  await reader.read();
  await new Promise(setImmediate);
  expect(made).toBeLessThan(4);
  await reader.cancel();
});
