// A complete host page of Lightdesk. Outside a checkout, run `npm install jose` first.
//   LIGHTDESK=http://127.0.0.1:3000 LIGHTDESK_HOST=ID LIGHTDESK_SECRET=SECRET node docs/examples/embed-host.mjs
// Settings, Embedding shows the id and the secret. Add the printed URL as an origin of the host page.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { SignJWT } from "jose";

const { LIGHTDESK = "http://127.0.0.1:3000", LIGHTDESK_HOST = "", LIGHTDESK_SECRET = "", PORT = "4000" } = process.env;
if (!LIGHTDESK_HOST || !LIGHTDESK_SECRET) {
  console.error("Set LIGHTDESK_HOST and LIGHTDESK_SECRET. Settings, Embedding shows both.");
  process.exit(1);
}

/** Replace this with your session lookup. The example signs everyone in as one member. */
const signedIn = { email: process.env.MEMBER ?? "ada@example.com" };

function ticketFor({ email }, origin) {
  return new SignJWT({ role: "operator" })
    .setProtectedHeader({ alg: "HS256" })
    .setIssuer(origin)
    .setAudience(`${LIGHTDESK}/embed/${LIGHTDESK_HOST}`)
    .setSubject(email)
    .setJti(randomUUID())
    .setIssuedAt()
    .setExpirationTime("60s")
    .sign(new TextEncoder().encode(LIGHTDESK_SECRET));
}

const page = `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <title>A host page</title>
  <script src="${LIGHTDESK}/embed.js"></script>
  <h1>A host page</h1>
  <button id="jobs">Jobs</button> <button id="choose">Choose an asset</button> <button id="end">Sign out</button>
  <lightdesk-embed src="${LIGHTDESK}" host="${LIGHTDESK_HOST}" page="jobs" style="height: 700px"></lightdesk-embed>
  <ol id="events"></ol>
  <script>
    const embed = document.querySelector("lightdesk-embed");
    embed.getTicket = async () => (await fetch("/ticket", { method: "POST" })).text();
    jobs.onclick = () => embed.navigate("jobs");
    choose.onclick = () => embed.chooseAsset();
    end.onclick = () => embed.end();
    for (const name of ["ready", "navigated", "job-submitted", "job-ended", "asset-chosen", "session-ended", "error"])
      embed.addEventListener(name, ({ type, detail }) => {
        events.append(Object.assign(document.createElement("li"), { textContent: type + " " + JSON.stringify(detail) }));
      });
  </script>
</html>`;

createServer(async ({ method, url }, response) => {
  if (method === "POST" && url === "/ticket") return response.end(await ticketFor(signedIn, origin));
  response.writeHead(url === "/" ? 200 : 404, { "content-type": "text/html" }).end(url === "/" ? page : "");
}).listen(Number(PORT), "127.0.0.1", function () {
  origin = `http://localhost:${this.address().port}`;
  console.log(`Host page: ${origin}`);
});
let origin;
