// Answers as a fixture shows: a body, a file, a ZIP, or a broken exchange (test/fixtures/evi-post/README.md).
import type { ServerResponse } from "node:http";
import { zipSync } from "fflate";
import type { Fixture } from "../harness/fixtures/fixtures.js";

export function sendAnswer(answer: ServerResponse, response: Fixture): void {
  const { status, headers = {}, body, text, bytes, zip, cut } = response as any;
  if (cut === "never") return;
  if (cut === "beforeAnswer") return void answer.destroy();
  if (cut === "inBody") {
    answer.writeHead(status, { ...headers, "content-length": 100 });
    answer.write("{", () => setTimeout(() => answer.destroy(), 20));
    return;
  }
  answer.writeHead(status, headers);
  if (zip !== undefined) {
    const entries = zip.map((entry: any) => [
      entry.name,
      new Uint8Array(Buffer.from(entry.content, "base64")),
    ]);
    answer.end(zipSync(Object.fromEntries(entries)));
  } else if (bytes !== undefined) answer.end(Buffer.from(bytes, "base64"));
  else answer.end(body === undefined ? text : JSON.stringify(body));
}
