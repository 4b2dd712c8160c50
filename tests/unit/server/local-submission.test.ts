// What the console adds to a workflow for a local server.
import { expect, test } from "vitest";
import { operations } from "@/lib/contract/operations";
import { speakLocal } from "@/lib/server/upstream/local-dialect/speak-local";
import { createUpstream } from "@/lib/server/upstream/upstream";

test("what the console submits bears the name by which it listens, unless whoever submits has given one", async () => {
  const names: unknown[] = [];
  const server = async (request: Request) => {
    const body: { client_id?: string } = await request.json();
    names.push(body.client_id);
    return Response.json({ prompt_id: "job-1", number: 1, node_errors: {} });
  };
  const upstream = createUpstream({ baseUrl: "http://studio.test", apiKey: undefined, send: speakLocal(server, Date.now, "me") });
  const prompt = { "1": { class_type: "Note", inputs: { text: "x" } } };
  for (const json of [{ prompt }, { prompt, client_id: "an-editor" }])
    expect(await upstream.call(operations.submitPrompt, { json })).toMatchObject({ ok: true });
  expect(names).toEqual(["me", "an-editor"]);
});
