// What every status means for every operation (P1 §7.3 shows none: by effect class), and whom a denial is about.
import { expect, test } from "vitest";
import { Secret } from "../../../src/contracts/shared/values.js";
import { deleteAuditData } from "../../../src/providers/video-identification/client.js";
import type { Operation } from "../../../src/providers/registry.js";
import { answering } from "../provider-server.js";
import type { Handler } from "../provider-server.js";
import {
  away,
  denied,
  errorAt,
  invisible,
  limited,
  meeting,
  meaningOf,
  protocol,
  refused,
  testRefusals,
  unknown,
} from "../refusals.js";
import { accountAt, calls, jwt, withToken } from "./account.js";

type VideoOperation = Operation<"video-identification">;

const all = Object.keys(calls) as VideoOperation[];
const once: VideoOperation[] = ["rejectCall"];
const writes: VideoOperation[] = ["registerAlertEmail", "deleteAuditData"];
const questions = all.filter((operation) => ![...once, ...writes].includes(operation));

testRefusals<VideoOperation>({
  call: (operation, url) => calls[operation](accountAt(url)),
  body: (code, message) => ({ code, message }),
  columns: [once, writes, questions],
  table: [
    // status, the rejection, what is repeatable, questions
    [302, unknown, away, protocol],
    [401, denied, denied, denied],
    [403, denied, denied, denied],
    [404, protocol, protocol, invisible],
    [405, protocol, protocol, protocol],
    [408, unknown, away, away],
    [409, unknown, away, away],
    [410, protocol, protocol, invisible],
    [413, protocol, protocol, protocol],
    [422, protocol, protocol, protocol],
    [429, limited, limited, limited],
    [500, unknown, away, away],
    [503, unknown, away, away],
  ],
  refusing: "rejectCall",
});

test.each(all)("a 400 of %s is a refusal only where nothing was done before", async (operation) => {
  const handler = answering({ code: "some_code", message: "words" }, 400);
  const error = await errorAt(handler, (url) => calls[operation](accountAt(url)));
  const isRefusal = ["rejectCall", "registerAlertEmail"].includes(operation);
  expect(meaningOf(error)).toBe(isRefusal ? refused : protocol);
});

test.each(all)("whom a 401 of %s is about: its credential's owner", async (operation) => {
  const error = await errorAt(answering("", 401), (url) => calls[operation](accountAt(url)));
  const isToken = withToken.includes(operation);
  expect(error.denies).toBe(isToken ? "operation" : "account");
});

const cut: Handler = (_, response) => void response.destroy();

test.each(all)("%s without an answer", async (operation) => {
  const error = await errorAt(cut, (url) => calls[operation](accountAt(url)));
  expect(meaningOf(error)).toBe(once.includes(operation) ? unknown : away);
});

test.each([404, 410])("a %i of a deletion is success only where it is repeated", async (status) => {
  const deletion = (isRepetition: boolean) => (url: string) =>
    deleteAuditData(accountAt(url), {
      idConference: "c1",
      token: new Secret(jwt),
      isRepetition,
    });
  expect(await meeting(answering("", status), deletion(true))).toBeUndefined();
  expect(meaningOf(await errorAt(answering("", status), deletion(false)))).toBe(protocol);
  expect(meaningOf(await errorAt(answering("", 500), deletion(true)))).toBe(away);
});
