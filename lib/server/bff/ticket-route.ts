// Turns a ticket of a host page into a session of the frame that brings it: a cookie if the browser keeps one, otherwise a bearer.
// Guarantees: attempts are limited by address; a bad ticket is refused without details; a ticket that could not be checked is not called
// bad, so that an open page asks again.

import "server-only";
import { type z } from "zod";
import { EMBED_SESSION_MS, type EmbedSessionBegun, type embedSessionSchema } from "@/lib/contract/embed/embedding";
import { networkOf } from "@/lib/shared/ip-address";
import { failed, ok } from "@/lib/shared/result";
import { embedCookie, embedCookieRules, probeCookie } from "../embed/cookies";
import { beginEmbedded, readEmbedAddress } from "../embed/sessions";
import { clientAddress } from "../limits/client-address";
import { readCookie } from "../read-cookie";
import { jsonAnswer } from "./answers";
import { type Handler, refusal, toActor, unguarded } from "./guard";
import { LONGEST_OF_STRANGERS, readJson } from "./read-request";

const KEEPER = "The person who runs Lightdesk can see why in Settings, Embedding.";

export function ticketRoute(schema: typeof embedSessionSchema): Handler {
  return unguarded("embedSession", async ({ request, console, note }) => {
    const waitMs = await console.ticketLimit.take(networkOf(clientAddress(request)));
    if (waitMs > 0) return failed({ ...refusal("RATE_LIMITED", "Too many attempts. Try again later."), retryAfterMs: waitMs });
    const body = await readJson<z.output<typeof schema>>(request, schema, LONGEST_OF_STRANGERS);
    if (!body.ok) return body;
    const { headers } = request;
    const embed = readEmbedAddress(headers);
    const begun = embed && (await beginEmbedded(embed, body.value, headers));
    if (!begun || (!begun.ok && begun.failure === "host"))
      return failed(refusal("NOT_FOUND", "This page is not set up to show Lightdesk."));
    if (!begun.ok && begun.failure === "keys")
      return failed(refusal("UPSTREAM_UNREACHABLE", `The ticket of this page could not be checked now. ${KEEPER}`));
    if (!begun.ok) return failed(refusal("UNAUTHORIZED", `The ticket of this page was not accepted. ${KEEPER}`, { embed: "ticket" }));
    const { token, session, member, isSame } = begun.value;
    // The same person returns every few minutes: the log records only when they first came.
    if (!isSame) note({ by: toActor(member), target: session.origin });
    const { basePath } = console.env;
    const [own, probe] = [embedCookie(embed.slot, basePath), probeCookie(embed.slot, basePath)];
    const keeps = [own, probe].some((name) => readCookie(headers.get("cookie"), name) !== undefined);
    const answer: EmbedSessionBegun = { leftMs: session.expiresAt - console.now(), isSame, ...(!keeps && { bearer: token }) };
    const sent = new Headers();
    if (keeps) {
      const seconds = EMBED_SESSION_MS / 1000;
      sent.append("set-cookie", `${own}=${token}; Max-Age=${seconds}; ${embedCookieRules(basePath)}`);
      sent.append("set-cookie", `${probe}=; Max-Age=0; ${embedCookieRules(basePath)}`);
    }
    return ok(jsonAnswer(answer, 201, sent));
  });
}
