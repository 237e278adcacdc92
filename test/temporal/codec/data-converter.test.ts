// What a worker makes of a payload that no holder of the keys has written (decision 22); with a server: test/long/temporal/codec.
import { expect, test } from "vitest";
import { defaultPayloadConverter } from "@temporalio/common";
import type { DataConverter, Payload } from "@temporalio/common";
import { policyMark, problemMark } from "../../../src/contracts/shared/payload-marks.js";
import type { PayloadProblem } from "../../../src/contracts/shared/payload-marks.js";
import { activityGuard } from "../../../src/temporal/codec/activity-guard.js";
import { EncryptionCodec } from "../../../src/temporal/codec/codec.js";
import { workerConverters } from "../../../src/temporal/codec/data-converter.js";
import { freshRing } from "../support.js";

const [ring, writeRing] = [freshRing(), freshRing("w1")];
const context = { type: "workflow", namespace: "default", workflowId: "x" } as const;
const all: PayloadProblem[] = ["plaintext", "unreadable", "forged", "untagged"];
const marked = {
  metadata: {
    encoding: Buffer.from("json/plain"),
    [problemMark]: Buffer.from("forged"),
    [policyMark]: Buffer.from("none"),
  },
  data: Buffer.from('"value"'),
};
const codecOf = ({ payloadCodecs }: DataConverter) => payloadCodecs![0]!;
const by = async (codec: Pick<EncryptionCodec, "encode">, workflowId = "x") =>
  (await codec.encode([marked], { ...context, workflowId }))[0]!;
const worker = () => codecOf(workerConverters({ ring, writeRing }, []).activities);
const textOf = (bytes: Uint8Array | null | undefined) => bytes && Buffer.from(bytes).toString();

async function cut(): Promise<Payload> {
  const { metadata, data } = await by(worker());
  return { data: data!, metadata: { ...metadata, "trustflow-write-tag": Buffer.from("cut") } };
}

async function isRun(argument: unknown): Promise<unknown> {
  const { execute } = activityGuard({} as never).inbound!;
  const input = { args: ["first", argument], headers: {} };
  return execute!(input, async () => "run").catch((error: unknown) => error);
}

test.each<[string, () => Promise<Payload>, PayloadProblem?]>([
  ["of a worker", () => by(worker())],
  ["in clear", async () => marked, "plaintext"],
  ["without a tag", () => by(new EncryptionCodec(ring)), "untagged"],
  ["with the tag of another key", () => by(new EncryptionCodec(ring, freshRing("w2"))), "untagged"],
  ["with a part of a tag", cut, "untagged"],
  ["of another process", () => by(worker(), "y"), "untagged"],
  [
    "of a key that is not here",
    () => by(new EncryptionCodec(freshRing("k2"), writeRing)),
    "unreadable",
  ],
  ["of a key that only has the same name", () => by(new EncryptionCodec(freshRing())), "forged"],
])("a payload %s: what a workflow and an activity see of it", async (_, write, problem) => {
  const payload = await write();
  const isOpen = problem !== "unreadable" && problem !== "forged";
  for (const refused of [[], ["plaintext"], ["untagged"], all] as PayloadProblem[][]) {
    const { workflows, activities } = workerConverters({ ring, writeRing }, refused);
    const [shown] = await codecOf(workflows).decode([payload], context);
    expect(textOf(shown?.metadata?.[problemMark])).toBe(problem);
    expect(textOf(shown?.metadata?.[policyMark])).toBe(refused.join());
    if (isOpen) expect(defaultPayloadConverter.fromPayload(shown!)).toBe("value");
    else expect(shown?.data).toEqual(payload.data);
    const [argument] = await codecOf(activities).decode([payload], context);
    const value = defaultPayloadConverter.fromPayload<object>(argument!);
    const isRefused = !isOpen || (problem !== undefined && refused.includes(problem));
    const refusal = { trustflowRefused: problem, reason: expect.stringMatching(/./) };
    expect(value).toEqual(isRefused ? refusal : "value");
    const failure = { type: "NotEncrypted", nonRetryable: isOpen };
    expect(await isRun(value)).toEqual(isRefused ? expect.objectContaining(failure) : "run");
  }
});

test("without a key for tags none is asked for", async () => {
  const payload = await by(new EncryptionCodec(ring));
  const { workflows } = workerConverters({ ring, writeRing: undefined }, all);
  const [shown] = await codecOf(workflows).decode([payload], context);
  expect(shown?.metadata).not.toHaveProperty(problemMark);
});
