#!/usr/bin/env node
// Writes the digest of the Dockerfile's base image behind its tag, as the registry has it now. `--registry URL` is for a mirror.
import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";

const DOCKER_HUB = "https://registry-1.docker.io";
const line = /^(ARG NODE_IMAGE=)([\w./-]+):([\w.-]+)(@sha256:[\da-f]{64})?$/m;
/** An index of all platforms, or the manifest of one. */
const accept = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
].join(", ");

const { values, positionals } = parseArgs({
  options: { registry: { type: "string", default: DOCKER_HUB } },
  allowPositionals: true,
});
const [file = new URL("../Dockerfile", import.meta.url)] = positionals;

try {
  const text = await readFile(file, "utf8");
  const [, , name = "", tag = ""] = line.exec(text) ?? [];
  if (name === "") throw new Error("the Dockerfile has no line ARG NODE_IMAGE=name:tag");
  const digest = await digestOf(
    values.registry,
    name.includes("/") ? name : `library/${name}`,
    tag,
  );
  await writeFile(file, text.replace(line, `$1$2:$3@${digest}`));
  console.log(`${name}:${tag}@${digest}`);
} catch (error) {
  const { message, cause } = /** @type {Error & { cause?: { code?: string } }} */ (error);
  console.error(
    `not pinned, nothing was changed: ${[message, cause?.code].filter(Boolean).join(" ")}`,
  );
  process.exitCode = 1;
}

/**
 * @param {string} registry
 * @param {string} name
 * @param {string} tag
 */
async function digestOf(registry, name, tag) {
  const url = `${registry}/v2/${name}/manifests/${tag}`;
  /** @param {Record<string, string>} headers */
  const ask = (headers = {}) =>
    fetch(url, {
      method: "HEAD",
      headers: { accept, ...headers },
      signal: AbortSignal.timeout(30_000),
    });
  let answer = await ask();
  if (answer.status === 401)
    answer = await ask({ authorization: `Bearer ${await tokenFrom(answer)}` });
  const digest = answer.headers.get("docker-content-digest") ?? "";
  if (!answer.ok || !/^sha256:[\da-f]{64}$/.test(digest))
    throw new Error(`the registry answers ${answer.status} and names no digest of ${name}:${tag}`);
  return digest;
}

/**
 * The registry names who gives out tokens, also for reading what is public.
 * @param {Response} refused
 */
async function tokenFrom(refused) {
  const challenge = refused.headers.get("www-authenticate") ?? "";
  const { realm, ...query } = Object.fromEntries(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value]),
  );
  if (realm === undefined) throw new Error("the registry refuses to answer");
  const answer = await fetch(`${realm}?${new URLSearchParams(query).toString()}`, {
    signal: AbortSignal.timeout(30_000),
  });
  const { token, access_token: accessToken } = /** @type {Record<string, string>} */ (
    await answer.json()
  );
  return token ?? accessToken;
}
