// Nothing that travels shows in an error: not the URL, the headers, the body, the secrets or the provider's words (P1 §2.1–2.4, §5; P2 §5;
// docs/reading-the-specification.md §8).
import { expect, test } from "vitest";
import { Secret } from "../../../src/contracts/shared/values.js";
import { parseCallback as parseNotice } from "../../../src/providers/evi-notice/callback.js";
import { parseCallback as parsePost } from "../../../src/providers/evi-post/callback.js";
import * as wallet from "../credential-wallet/account.js";
import * as certificate from "../disposable-certificate/account.js";
import * as envelope from "../envelope-signature/account.js";
import * as notice from "../evi-notice/account.js";
import * as post from "../evi-post/account.js";
import * as gateway from "../messaging-gateway/account.js";
import * as oneShot from "../one-shot-signature/account.js";
import { operations } from "../operations.js";
import type { Called } from "../operations.js";
import { answering } from "../provider-server.js";
import { errorAt } from "../refusals.js";
import * as video from "../video-identification/account.js";
import { CANARY, brokenCalls, shown } from "./leaks.js";

const secret = new Secret(CANARY);
const say = () => CANARY;
const basic = { username: "canary", password: secret };
const links = {
  templateId: CANARY,
  operatorIds: [CANARY],
  verificationTemplateIds: [CANARY],
  issuanceServiceId: CANARY,
  verificationServiceId: CANARY,
};
const fields = { [CANARY]: CANARY };

/** Each operation with the canary in all that it is given. */
function canaryCall({ provider, operation }: Called, url: string): Promise<unknown> {
  const timeoutMs = 400;
  const of = <C>(calls: Record<string, C>) => calls[operation]!;
  switch (provider) {
    case "evi-post":
      return of(post.callsWith(say))(post.accountAt(url, { ...basic, timeoutMs }));
    case "evi-notice":
      return of(notice.callsWith(say))(notice.accountAt(url, { ...basic, timeoutMs }));
    case "disposable-certificate":
      return of(certificate.callsWith(say))(certificate.accountAt(url, { ...basic, timeoutMs }));
    case "messaging-gateway": {
      const credentials = { password: secret, apiKey: new Secret("canary"), timeoutMs };
      return of(gateway.callsWith(say))(gateway.accountAt(url, credentials));
    }
    case "one-shot-signature": {
      const credentials = { token: secret, tokenPrefix: "canary ", timeoutMs };
      return of(oneShot.callsWith(say))(oneShot.accountAt(url, credentials), CANARY);
    }
    case "envelope-signature": {
      const account = { ...envelope.accountAt(url, url, timeoutMs), apiToken: secret };
      return of(envelope.callsWith(say))(account);
    }
    case "credential-wallet":
      return of(wallet.calls)(
        wallet.accountAt(url, { apiToken: secret, timeoutMs }),
        fields,
        links,
      );
    case "video-identification": {
      const apiKey = new Secret(CANARY.replaceAll(/[^\w]/g, "-"));
      const given = { idConference: CANARY, token: "canary.canary.canary", fields };
      return of(video.calls)(video.accountAt(url, { apiKey, timeoutMs }), given);
    }
  }
}

/** In each member that some provider's answer or error has. */
const answerWith = (code: unknown) =>
  JSON.stringify({
    ...{ code, message: `firstName: ${CANARY}`, detail: CANARY, error: CANARY, type: CANARY },
    ...{ Type: CANARY, Title: CANARY, Detail: CANARY, RequestId: CANARY, stackTrace: CANARY },
    ...{ ErrorId: CANARY, Message: CANARY, req_pk: [CANARY], esaw_token: CANARY },
    ...{ FileId: [CANARY], EnvelopeId: [CANARY], certIdOtp: CANARY, deviceCode: CANARY },
    ...{ id: [CANARY], issuance_service_id: [CANARY], verification_service_id: [CANARY] },
    ...{ api_token: CANARY, token: [CANARY], request_pk: CANARY, state: [CANARY], Id: CANARY },
    ...{ documents: CANARY, Results: [{ Id: 1, Address: CANARY }] },
    results: [{ evidenceId: 1, recipientName: CANARY }],
    responseStatus: {
      ...{ errorCode: CANARY, message: CANARY, stackTrace: CANARY },
      errors: [{ errorCode: CANARY, fieldName: CANARY, message: CANARY, other: CANARY }],
    },
  });

test.concurrent.each(operations.map((called) => [called.name, called] as const))(
  "%s leaks nothing",
  async (_, called) => {
    // Those of a certificate say which field is wrong, and that access is denied.
    const codes = called.provider === "disposable-certificate" ? [242, 11002, CANARY] : [CANARY];
    for (const code of codes) {
      const broken = await brokenCalls(answerWith(code), (url) => canaryCall(called, url));
      expect(broken.length).toBeGreaterThan(12);
      expect(broken.filter(({ shown: seen }) => seen.length > 0)).toEqual([]);
    }
  },
);

test.each([
  ["evi-post", parsePost],
  ["evi-notice", parseNotice],
])("a callback of %s that cannot be read leaks nothing", async (_, parse) => {
  const bodies = [
    CANARY,
    [CANARY],
    { Identifier: CANARY, Kind: CANARY, Date: CANARY, [CANARY]: 1 },
  ];
  for (const body of bodies)
    expect(shown(await post.errorOf(Promise.resolve().then(() => parse(body))))).toEqual([]);
});

/** They may be any JSON but an error alone. */
const auditData = "video-identification getAuditData";
/** What their answers hold is a secret, or a person's. */
const hidden = operations.filter(
  ({ provider, name }) =>
    provider === "credential-wallet" ||
    [
      ...["one-shot-signature sign", "one-shot-signature listTokens"],
      ...["one-shot-signature createToken", "envelope-signature esawoneshot"],
      ...["envelope-signature sendEnvelope", "video-identification genAPIToken"],
      ...["video-identification getAsyncRequestInfo", "video-identification conferenceData"],
      auditData,
    ].includes(name),
);
test.each(hidden.map(({ name, call }) => [name, call] as const))(
  "a broken answer of %s shows nothing of what it holds",
  async (name, call) => {
    const secrets = { api_token: "s1", token: ["s2"], EnvelopeId: [] };
    const broken = { error: "partly", code: 1, ...(name !== auditData && secrets) };
    const error = await errorAt(
      answering(broken, 200, { "content-type": "application/json" }),
      call,
    );
    expect(["unknownOutcome", "protocol"]).toContain(error.kind);
    expect(error.detail).toBeUndefined();
  },
);
