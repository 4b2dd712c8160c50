import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { type SubmitApi } from "@/components/run/submit/attempt";
import { type Submission } from "@/components/run/submit/submission";
import { parseFailureResponse } from "@/lib/browser/parse-response";
import { failed, ok } from "@/lib/shared/result";
import { closeAfterwards } from "@/tests/support/close-afterwards";

type ServerReply = { status: number; body: unknown } | "disconnect";

/** Starts an HTTP server that records submissions. Each request waits until the test calls `respond`. */
export async function startPromptServer() {
  const submissions: Submission[] = [];
  const keys: string[] = [];
  const pendingReplies: ((response: ServerReply) => void)[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      const submission: Submission = JSON.parse(text);
      submissions.push(submission);
      pendingReplies.push((reply) => {
        if (reply === "disconnect") return void request.socket.destroy();
        response.writeHead(reply.status, { "content-type": "application/json" }).end(JSON.stringify(reply.body));
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port }: Partial<AddressInfo> = Object(server.address());
  const send: SubmitApi["sendPrompt"] = async (submission, key) => {
    keys.push(key);
    try {
      const response = await fetch(`http://127.0.0.1:${port}/api/prompt`, { method: "POST", body: JSON.stringify(submission) });
      const body = await response.text();
      return response.ok ? ok<unknown>(JSON.parse(body)) : failed(parseFailureResponse(response.status, null, body));
    } catch {
      return failed({ code: "CONSOLE_UNREACHABLE", message: "", status: 0 });
    }
  };
  closeAfterwards(async () => void server.close().closeAllConnections());
  return {
    send,
    submissions,
    /** The idempotency key of each submission, in order. */
    keys,
    /** Responds to the oldest waiting request; false if there is none. */
    respond: (response: ServerReply): boolean => {
      const reply = pendingReplies.shift();
      reply?.(response);
      return reply !== undefined;
    },
  };
}
