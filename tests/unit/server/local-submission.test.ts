// A workflow for a local server that this console cannot prepare: nothing is sent, and the refusal says so.
import { expect, test } from "vitest";
import { operations } from "@/lib/contract/operations";
import { mayHaveStarted } from "@/lib/contract/workflow/submission";
import { speakLocal } from "@/lib/server/upstream/local-dialect/speak-local";
import { createUpstream } from "@/lib/server/upstream/upstream";

test("a large workflow that could not be prepared was not sent, and is no answer of the server", async () => {
  const sent: string[] = [];
  const server = (request: Request) => {
    sent.push(request.url);
    return Promise.resolve(Response.json({ prompt_id: "job-1", number: 1, node_errors: {} }));
  };
  const busy = { word: () => Promise.resolve({ ok: false as const, why: "too many large answers came at once" }) };
  const upstream = createUpstream({ baseUrl: "http://studio.test", apiKey: undefined, send: speakLocal(server, Date.now, busy, "me") });
  const prompt = { "1": { class_type: "Note", inputs: { text: "x".repeat(2 * 1024 ** 2) } } };
  const result = await upstream.call(operations.submitPrompt, { json: { prompt } });
  expect(result).toMatchObject({ ok: false, failure: { status: 503, message: expect.stringContaining("was not sent") } });
  expect(!result.ok && mayHaveStarted(result.failure)).toBe(false);
  expect(sent).toEqual([]);
});

test("what the console submits bears the name by which it listens, unless whoever submits has given one", async () => {
  const names: unknown[] = [];
  const server = async (request: Request) => {
    const body: { client_id?: string } = await request.json();
    names.push(body.client_id);
    return Response.json({ prompt_id: "job-1", number: 1, node_errors: {} });
  };
  const none = { word: () => Promise.reject(new Error("small answers need no thread")) };
  const upstream = createUpstream({ baseUrl: "http://studio.test", apiKey: undefined, send: speakLocal(server, Date.now, none, "me") });
  const prompt = { "1": { class_type: "Note", inputs: { text: "x" } } };
  for (const json of [{ prompt }, { prompt, client_id: "an-editor" }])
    expect(await upstream.call(operations.submitPrompt, { json })).toMatchObject({ ok: true });
  expect(names).toEqual(["me", "an-editor"]);
});
