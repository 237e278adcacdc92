// One pipeline for every provider operation: faults at the door, credentials, replay, processing, commit, faults on the answer.
import { setTimeout as sleep } from "node:timers/promises";
import { TLSSocket } from "node:tls";
import type { FastifyReply, FastifyRequest } from "fastify";
import { bytesAnswer } from "./answer.js";
import type { Answer } from "./answer.js";
import type { FaultKind, FaultRule } from "../engine/faults.js";
import { formParts } from "./operation.js";
import type { Arrival, Call, Operation, SandboxProvider } from "./operation.js";
import type { SandboxParts } from "../engine/parts.js";

/** As a captive portal, or the page to log in of a proxy, answers in the provider's place. */
const WEB_PAGE = Buffer.from("<!DOCTYPE html>\n<html><title>Sign in</title></html>");

async function arrivalOf(
  request: FastifyRequest,
  provider: string,
  { name, other }: Operation,
): Promise<Arrival> {
  const rawBody = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  // A list of recipients is large, and stays where it is.
  const mayBeJson = !/^text\/(csv|html)\b/i.test(request.headers["content-type"] ?? "");
  let body: unknown;
  try {
    body = rawBody.length > 0 && mayBeJson ? JSON.parse(rawBody.toString("utf8")) : undefined;
  } catch {
    body = undefined;
  }
  const query = Object.fromEntries(
    Object.entries(request.query as Record<string, string | string[]>).map(([key, value]) => [
      key,
      String(value),
    ]),
  );
  const params = request.params as Record<string, string | undefined>;
  const { headers } = request;
  const form = await formParts(headers["content-type"], rawBody);
  const { socket } = request.raw;
  const clientName =
    socket instanceof TLSSocket ? socket.getPeerCertificate().subject?.CN : undefined;
  const operation = `${provider}.${other?.is(body) ? other.name : name}`;
  return { operation, headers, query, params, body, form, rawBody, clientName };
}

export async function exchange(
  parts: SandboxParts,
  provider: SandboxProvider,
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { clock, faults, ledger } = parts;
  const refuse = operation.refuse ?? provider.refuse;
  const arrival = await arrivalOf(request, provider.name, operation);
  const { operation: name } = arrival;
  const description = operation.describe(arrival);
  const { intent } = description;
  if (description.magicKey && description.magicFaults)
    faults.learn(description.magicKey, description.magicFaults);
  const { account, denial, missing } = provider.authenticate(arrival);
  const rules = faults.take({ operation: name, account: account?.username, ...description });
  const fault = (kind: FaultKind) => rules.find((rule) => rule.kind === kind);
  const given = { fault, refuse };
  const call: Call | undefined = account && { ...arrival, account, at: clock.now() };

  function note(status: number | null): void {
    const kinds = rules.map((rule) => rule.kind);
    const username = account?.username ?? null;
    parts.requests.note({ operation: name, account: username, intent, status, faults: kinds });
    parts.changed();
  }
  const write = ({ status, headers, body }: Answer) =>
    reply.status(status).headers(headers).send(body);
  function send(answer: Answer | undefined, sent: Answer | "cut" | "half"): FastifyReply {
    const status = sent === "cut" ? undefined : sent === "half" ? answer?.status : sent.status;
    const crash = fault("cut-after-commit") ?? fault("error-after-commit");
    const isCached = crash ? crash.cached === true : true;
    if (call) operation.end?.(call, description, answer, { status, isCached });
    note(status ?? null);
    if (typeof sent !== "string") return write(sent);
    reply.hijack();
    if (sent === "cut" || !answer) request.raw.socket.destroy();
    else writeHalf(reply, answer);
    return reply;
  }

  const door = atTheDoor(given) ?? denial;
  if (missing && door !== "cut") {
    const detail = `no ${missing} header`;
    ledger.violate({ operation: name, at: clock.now() }, "missingAuthorization", intent, detail);
  }
  if (door || !call) return send(undefined, door ?? refuse(401, "Sandbox", "nobody's request"));
  const replay = operation.begin?.(call, description);
  if (replay) {
    note(replay.status);
    return write(replay);
  }
  await pause(rules, "slow", parts.closing);
  const answer = operation.perform({ ...call, at: clock.now() }, rules);
  await parts.committed();
  await pause(rules, "slow-answer", parts.closing);
  return send(answer, spoilt(given, answer));
}

function writeHalf({ raw }: FastifyReply, { status, headers, body }: Answer): void {
  raw.writeHead(status, { ...headers, "content-length": body.length });
  raw.write(body.subarray(0, body.length >> 1), () => raw.socket?.destroy());
}

/** The faults that hit the call, and how its provider refuses. */
interface Given {
  fault: (kind: FaultKind) => FaultRule | undefined;
  refuse: SandboxProvider["refuse"];
}

function atTheDoor({ fault, refuse }: Given): Answer | "cut" | undefined {
  if (fault("cut")) return "cut";
  const reject = fault("reject");
  if (reject) {
    const answer = refuse(reject.status ?? 503, "Sandbox", `refused by ${reject.id}`);
    if (reject.retryAfterSeconds !== undefined)
      answer.headers["retry-after"] = String(reject.retryAfterSeconds);
    return answer;
  }
  if (fault("web-page")) return bytesAnswer("text/html; charset=utf-8", WEB_PAGE);
  const coded = fault("code");
  return coded && refuse(coded.status ?? 500, coded.code ?? "Sandbox", `refused by ${coded.id}`);
}

function spoilt({ fault, refuse }: Given, answer: Answer): Answer | "cut" | "half" {
  if (fault("cut-after-commit")) return "cut";
  if (fault("cut-mid-body")) return "half";
  const error = fault("error-after-commit");
  if (error) return refuse(error.status ?? 500, error.code ?? "Sandbox", `failed by ${error.id}`);
  if (fault("unreadable")) return { ...answer, status: 200, body: Buffer.from('{"unreadable') };
  return answer;
}

async function pause(
  rules: FaultRule[],
  kind: "slow" | "slow-answer",
  signal: AbortSignal,
): Promise<void> {
  for (const rule of rules)
    if (rule.kind === kind) await sleep(rule.ms ?? 5000, undefined, { signal }).catch(() => {});
}
