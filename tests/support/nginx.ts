// nginx with the example in docs/examples; by default only names, ports and certificates are changed.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type StartedProcess, startProgram } from "./start-process";

type Ports = { front: number; consoles: readonly number[]; below: number };

/** `own`: an empty folder. `edit`: applies an operator's changes to the example. */
export function startNginx(
  program: string,
  own: string,
  { front, consoles, below }: Ports,
  edit: (example: string) => string = (example) => example,
): StartedProcess {
  const example = consoles
    .reduce(
      (text, port, at) => text.replace(new RegExp(`(# )?server 127\\.0\\.0\\.1:${3000 + at} `), `server 127.0.0.1:${port} `),
      readFileSync("docs/examples/nginx.conf", "utf8"),
    )
    .replaceAll("listen 443 ssl;", `listen 127.0.0.1:${front};`)
    .replaceAll(/ *ssl_certificate.*\n/g, "")
    .replace(/(location ~ \^\/desk[^}]*proxy_pass http:\/\/)lightdesk;/, `$1127.0.0.1:${below};`);
  const locations = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${own}/${name};`).join(" ");
  const user = process.getuid?.() === 0 ? "user root;" : "";
  const http = `http { access_log off; ${locations}\n${edit(example)} }`;
  writeFileSync(join(own, "nginx.conf"), `daemon off; ${user} pid ${own}/pid; error_log ${own}/log; events {}\n${http}\n`);
  return startProgram(program, ["-p", own, "-c", join(own, "nginx.conf"), "-e", join(own, "log")], own);
}
