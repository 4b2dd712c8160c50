import { createServer } from "node:http";
import { expect, test } from "vitest";
import { Answer } from "@/lib/http/server";
import { finish } from "@/lib/server/requests/responses";

test("the length that a handler knows reaches whoever asked, in its own header alone", async () => {
  const server = createServer({ ServerResponse: Answer }, (_, response) => {
    const answer = finish(new Response("12345", { headers: { "content-length": "5" } }), "id");
    // As Next copies headers: all but the length, each as a list.
    answer.headers.forEach((value, name) => name === "content-length" || response.setHeader(name, [value]));
    response.write("123");
    response.end("45");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const answer = await fetch(`http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`);
  expect([answer.headers.get("content-length"), answer.headers.get("transfer-encoding"), await answer.text()]).toEqual([
    "5",
    null,
    "12345",
  ]);
  expect([...answer.headers.keys()].filter((name) => name.startsWith("x-lightdesk"))).toEqual([]);
  await new Promise((resolve) => server.close(resolve));
});
