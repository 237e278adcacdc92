// One pipeline for every provider operation: faults at the door, credentials, replay, processing, commit, faults on the answer.
import { setTimeout as sleep } from "node:timers/promises";
import { TLSSocket } from "node:tls";
import type { FastifyReply, FastifyRequest } from "fastify";
import { bytesAnswer } from "./answer.js";
import type { Answer } from "./answer.js";
import type { FaultRule } from "../engine/faults.js";
import { formParts } from "./operation.js";
import type { Arrival, Call, Description, Operation, SandboxProvider } from "./operation.js";
import type { SandboxParts } from "../engine/parts.js";

/** As a captive portal, or the page to log in of a proxy, answers in the provider's place. */
const WEB_PAGE = Buffer.from("<!DOCTYPE html>\n<html><title>Sign in</title></html>");

async function arrivalOf(request: FastifyRequest): Promise<Omit<Arrival, "operation">> {
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
  return { headers, query, params, body, form, rawBody, clientName };
}

export class Exchange {
  readonly #parts: SandboxParts;
  readonly #provider: SandboxProvider;
  readonly #operation: Operation;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #refuse: SandboxProvider["refuse"];
  #name = "";
  #rules: FaultRule[] = [];

  constructor(
    parts: SandboxParts,
    provider: SandboxProvider,
    operation: Operation,
    request: FastifyRequest,
    reply: FastifyReply,
  ) {
    this.#parts = parts;
    this.#provider = provider;
    this.#operation = operation;
    this.#refuse = operation.refuse ?? provider.refuse;
    this.#request = request;
    this.#reply = reply;
  }

  async run(): Promise<FastifyReply> {
    const { faults, clock } = this.#parts;
    const { name: operation, other } = this.#operation;
    const arrived = await arrivalOf(this.#request);
    const name = `${this.#provider.name}.${other?.is(arrived.body) ? other.name : operation}`;
    const arrival: Arrival = { ...arrived, operation: name };
    this.#name = name;
    const description = this.#operation.describe(arrival);
    if (description.magicKey && description.magicFaults)
      faults.learn(description.magicKey, description.magicFaults);
    const { account, denial, missing } = this.#provider.authenticate(arrival);
    this.#rules = faults.take({ operation: name, account: account?.username, ...description });
    const call: Call | undefined = account && { ...arrival, account, at: clock.now() };
    const door = this.#atTheDoor() ?? denial;
    if (missing && door !== "cut") this.#noteMissing(missing, name, description);
    if (door || !call) {
      const nobody = () => this.#refuse(401, "Sandbox", "nobody's request");
      return this.#send(call, description, undefined, door ?? nobody());
    }
    const replay = this.#operation.begin?.(call, description);
    if (replay) {
      this.#note(call, description, replay.status);
      return this.#write(replay);
    }
    await this.#pause("slow");
    const answer = this.#operation.perform({ ...call, at: clock.now() }, this.#rules);
    await this.#parts.committed();
    await this.#pause("slow-answer");
    return this.#send(call, description, answer, this.#spoilt(answer));
  }

  #fault(kind: string): FaultRule | undefined {
    return this.#rules.find((rule) => rule.kind === kind);
  }

  #atTheDoor(): Answer | "cut" | undefined {
    if (this.#fault("cut")) return "cut";
    const reject = this.#fault("reject");
    if (reject) {
      const status = reject.status ?? 503;
      const answer = this.#refuse(status, "Sandbox", `refused by ${reject.id}`);
      if (reject.retryAfterSeconds !== undefined)
        answer.headers["retry-after"] = String(reject.retryAfterSeconds);
      return answer;
    }
    if (this.#fault("web-page")) return bytesAnswer("text/html; charset=utf-8", WEB_PAGE);
    const coded = this.#fault("code");
    return coded && this.#refuseBy(coded, `refused by ${coded.id}`);
  }

  #refuseBy({ status = 500, code }: FaultRule, message: string): Answer {
    return this.#refuse(status, code ?? "Sandbox", message);
  }

  #noteMissing(credential: string, operation: string, { intent }: Description): void {
    const { clock, ledger } = this.#parts;
    const call = { operation, at: clock.now() };
    ledger.violate(call, "missingAuthorization", intent, `no ${credential} header`);
  }

  #spoilt(answer: Answer): Answer | "cut" | "half" {
    if (this.#fault("cut-after-commit")) return "cut";
    if (this.#fault("cut-mid-body")) return "half";
    const error = this.#fault("error-after-commit");
    if (error) return this.#refuseBy(error, `failed by ${error.id}`);
    if (this.#fault("unreadable"))
      return { ...answer, status: 200, body: Buffer.from('{"unreadable') };
    return answer;
  }

  async #pause(kind: "slow" | "slow-answer"): Promise<void> {
    for (const rule of this.#rules) {
      if (rule.kind === kind)
        await sleep(rule.ms ?? 5000, undefined, { signal: this.#parts.closing }).catch(() => {});
    }
  }

  #send(
    call: Call | undefined,
    description: Description,
    answer: Answer | undefined,
    sent: Answer | "cut" | "half",
  ): FastifyReply {
    const status = sent === "cut" ? undefined : sent === "half" ? answer?.status : sent.status;
    const crash = this.#fault("cut-after-commit") ?? this.#fault("error-after-commit");
    if (call)
      this.#operation.end?.(call, description, answer, {
        status,
        isCached: crash ? crash.cached === true : true,
      });
    this.#note(call, description, status);
    if (sent === "cut") return this.#cut();
    if (sent === "half") return this.#half(answer!);
    return this.#write(sent);
  }

  #note(call: Call | undefined, description: Description, status: number | undefined): void {
    this.#parts.requests.note({
      operation: this.#name,
      account: call?.account.username ?? null,
      intent: description.intent,
      status: status ?? null,
      faults: this.#rules.map((rule) => rule.kind),
    });
    this.#parts.changed();
  }

  #write(answer: Answer): FastifyReply {
    return this.#reply.status(answer.status).headers(answer.headers).send(answer.body);
  }

  #cut(): FastifyReply {
    this.#reply.hijack();
    this.#request.raw.socket.destroy();
    return this.#reply;
  }

  #half(answer: Answer): FastifyReply {
    this.#reply.hijack();
    const raw = this.#reply.raw;
    raw.writeHead(answer.status, { ...answer.headers, "content-length": answer.body.length });
    raw.write(answer.body.subarray(0, answer.body.length >> 1), () => raw.socket?.destroy());
    return this.#reply;
  }
}
