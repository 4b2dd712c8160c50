// Runs nginx with the example in docs/examples. By default, only names, ports and certificates are changed.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type StartedProcess, startProgram } from "./start-process";

type Ports = { listenPort: number; consoles: readonly number[]; basePathPort: number };

/** `folder`: an empty folder. `edit`: applies an operator's changes to the example. */
export function startNginx(
  program: string,
  folder: string,
  { listenPort, consoles, basePathPort }: Ports,
  edit: (example: string) => string = (example) => example,
): StartedProcess {
  const example = consoles
    .reduce(
      (text, port, index) => text.replace(new RegExp(`(# )?server 127\\.0\\.0\\.1:${3000 + index} `), `server 127.0.0.1:${port} `),
      readFileSync("docs/examples/nginx.conf", "utf8"),
    )
    .replaceAll("listen 443 ssl;", `listen 127.0.0.1:${listenPort};`)
    .replaceAll(/ *ssl_certificate.*\n/g, "")
    .replace(/(location ~ \^\/desk[^}]*proxy_pass http:\/\/)lightdesk;/, `$1127.0.0.1:${basePathPort};`);
  const tempPaths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`).join(" ");
  const user = process.getuid?.() === 0 ? "user root;" : "";
  const http = `http { access_log off; ${tempPaths}\n${edit(example)} }`;
  writeFileSync(join(folder, "nginx.conf"), `daemon off; ${user} pid ${folder}/pid; error_log ${folder}/log; events {}\n${http}\n`);
  return startProgram(program, ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", join(folder, "log")], folder);
}
